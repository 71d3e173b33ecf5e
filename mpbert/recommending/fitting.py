"""Whether the files of an index fit one another."""

from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.foundation.errors import IndexFormatError, MpbertError
from mpbert.vectors.store import VectorStore

if TYPE_CHECKING:
    from mpbert.recommending.directory import IndexData


def check_fits(data: "IndexData", folder: Path) -> None:
    """Check that the files fit one another, and that the vectors are numbers.

    :param folder: of the generation, for messages.
    :raises IndexFormatError: they do not.
    """
    ids = data.tables.papers["paper_id"].to_pylist()
    try:
        VectorStore(ids, data.tables.vectors, source=str(folder / "vectors.npy"))
    except MpbertError as error:
        raise IndexFormatError(str(error)) from error
    num_papers, num_contexts = len(ids), data.tables.contexts.num_rows
    words, found = len(data.vocabulary), data.lookup
    ragged = {
        "word": (found.word_offsets, words, found.word_papers, found.word_weights),
        "citing": (found.citing_offsets, num_papers, found.citing_contexts),
        "bag": (found.bag_offsets, num_contexts, found.bag_words, found.bag_weights),
        "cocited": (found.cocited_offsets, num_papers, found.cocited_papers, found.cocited_counts),
    }
    if (matches := data.tables.matches) is not None:
        held = matches.postings
        ragged["match"] = (held.offsets, matches.vocab_size, held.papers, held.weights)
    if (apart := data.fields) is not None:
        for name, part in (("abstract_word", apart.abstract), ("citing_word", apart.citing)):
            ragged[name] = (part.offsets, words, part.papers, part.weights)
    if data.contexts is not None:
        part = data.contexts.words
        ragged["context_word"] = (part.offsets, words, part.papers, part.weights)
    bodies = data.tables.bodies
    if bodies is not None and bodies.num_rows != num_papers:
        raise IndexFormatError(
            f"{folder / 'bodies.arrow'}: found {bodies.num_rows} bodies; expected one for each of "
            f"{num_papers} papers, build the index again"
        )
    for name, (offsets, rows, *values) in ragged.items():
        if len(offsets) != rows + 1 or any(len(array) != offsets[-1] for array in values):
            raise IndexFormatError(
                f"{folder}: {name}_offsets.npy does not fit its neighbours; expected {rows + 1} "
                f"offsets into arrays of equal length, build the index again"
            )
