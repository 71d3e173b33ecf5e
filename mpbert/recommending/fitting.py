"""Whether the files of an index fit one another."""

from pathlib import Path

import numpy as np

from mpbert.foundation.errors import IndexFormatError, MpbertError
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.lookup import ContextWords, FieldWords, Lookup
from mpbert.recommending.published import NUM_PUBLISHED
from mpbert.recommending.tables import IndexTables
from mpbert.vectors.store import check_vectors


def check_fits(
    tables: IndexTables,
    lookup: Lookup,
    vocabulary: TextColumn,
    apart: FieldWords | None,
    of_contexts: ContextWords | None,
    folder: Path,
) -> None:
    """Check that the files fit one another, and that the vectors are numbers.

    :param apart: words of fields apart; ``of_contexts`` words of contexts.
    :param folder: of the generation, for messages.
    :raises IndexFormatError: they do not.
    """
    num_papers, num_contexts = tables.papers.num_rows, tables.contexts.num_rows
    try:
        check_vectors(tables.vectors, tables.papers["paper_id"], str(folder / "vectors.npy"))
    except MpbertError as error:
        raise IndexFormatError(str(error)) from error
    words, found = len(vocabulary), lookup
    ragged = {
        "word": (found.word_offsets, words, found.word_papers, found.word_weights),
        "citing": (found.citing_offsets, num_papers, found.citing_contexts),
        "bag": (found.bag_offsets, num_contexts, found.bag_words, found.bag_weights),
        "cocited": (found.cocited_offsets, num_papers, found.cocited_papers, found.cocited_counts),
    }
    if found.word_times is not None:
        ragged["word"] += (found.word_times,)
        if len(found.word_lengths) != num_papers:
            raise IndexFormatError(
                f"{folder / 'word_lengths.npy'}: found {len(found.word_lengths)} lengths; expected "
                f"one for each of {num_papers} papers, build the index again"
            )
    if (matches := tables.matches) is not None:
        held = matches.postings
        ragged["match"] = (held.offsets, matches.vocab_size, held.papers, held.weights)
    if apart is not None:
        for name, part in (("abstract_word", apart.abstract), ("citing_word", apart.citing)):
            ragged[name] = (part.offsets, words, part.papers, part.weights)
    if of_contexts is not None:
        part = of_contexts.words
        ragged["context_word"] = (part.offsets, words, part.papers, part.weights)
    if (np.diff(tables.papers["published"].offsets) < NUM_PUBLISHED).any():
        raise IndexFormatError(
            f"{folder}: papers.published.offsets.npy does not fit; expected {NUM_PUBLISHED} values "
            f"for each paper, build the index again"
        )
    bodies = tables.bodies
    if bodies is not None and bodies.num_rows != num_papers:
        raise IndexFormatError(
            f"{folder / 'bodies.body.offsets.npy'}: found {bodies.num_rows} bodies; expected one "
            f"for each of {num_papers} papers, build the index again"
        )
    for name, (offsets, rows, *values) in ragged.items():
        if len(offsets) != rows + 1 or any(len(array) != offsets[-1] for array in values):
            raise IndexFormatError(
                f"{folder}: {name}_offsets.npy does not fit its neighbours; expected {rows + 1} "
                f"offsets into arrays of equal length, build the index again"
            )
