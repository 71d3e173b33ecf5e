"""An index on disk: ``manifest.json``, ``encoder/`` and the data of one generation.

``data.G/`` holds arrays as NPY files, mapped and not loaded: the columns of the tables, see
:mod:`mpbert.recommending.index_files`, and what is looked up. With exact matches it holds the
weights of tokens, too, token after token: ``match_*.npy``. An index of a library (``mpbert index``)
may have no encoder. One that learnt to fuse (``mpbert build-index``) holds ``weights.json``, the
words of fields apart, those of known contexts, and ``trees.safetensors`` where trees rank better;
``weights.whole.json`` and ``trees.whole.safetensors`` where it learnt from whole papers; for each,
``confidence.json`` or ``confidence.whole.json`` tells how sure answers are. Both hold bodies.
``manifest.json`` says which generation G is in force; it is replaced in one step, so a change that
is killed leaves the index as it was, see :mod:`mpbert.recommending.changes`.
"""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.checksums import LARGE
from mpbert.foundation.claims import told_room, told_size
from mpbert.foundation.errors import CorpusError, MpbertError, OutputError
from mpbert.foundation.growing_arrays import blocks
from mpbert.foundation.manifest import check_inputs, claimed, replace_manifest
from mpbert.foundation.processes import done_beside
from mpbert.recommending.columns import TEXT, ColumnTable, Schema, TextColumn
from mpbert.recommending.fitting import check_fits
from mpbert.recommending.index_files import (
    map_array,
    map_offsets,
    read_table,
    save_arrays,
    write_table,
)
from mpbert.recommending.index_manifest import read_index_manifest
from mpbert.recommending.kept_letters import checksums_of_kept
from mpbert.recommending.learnt import ALL_WORDS, FEATURES, MATCHES, PLACES, VOTES, WHOLES
from mpbert.recommending.learnt_trees import Learnt, read_learnt
from mpbert.recommending.lookup import (
    ARRAYS,
    CONTEXT_ARRAYS,
    COUNT_ARRAYS,
    FIELD_ARRAYS,
    MATCH_ARRAYS,
    ContextWords,
    FieldWords,
    Lookup,
    Postings,
)
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS, IndexTables

if TYPE_CHECKING:  # what a question needs not
    from mpbert.recommending.lookup_building import CountedWords

ENCODER = "encoder"
_VOCABULARY: Schema = {"stem": TEXT}


@dataclass(frozen=True)
class IndexData:
    """What an index holds.

    :param vocabulary: (V,) stems, in the order of the arrays of ``lookup``.
    :param generation: number of the data in force.
    :param readings: number of readings of a text; their vectors are averaged, ``seed`` is theirs.
    :param fields: words of fields apart, which the features of a learnt fusion need; ``contexts``
        known contexts by their words; None: the index holds none.
    :param places: what was learnt for places, ``wholes`` for whole papers; None: nothing.
    :param is_foreign: whether the encoder learnt from other contexts than those of the index.
    """

    tables: IndexTables
    lookup: Lookup
    vocabulary: TextColumn
    generation: int
    readings: int
    seed: int
    fields: FieldWords | None = None
    contexts: ContextWords | None = None
    places: Learnt | None = None
    wholes: Learnt | None = None
    is_foreign: bool = False

    @property
    def features(self) -> list[str]:
        """Names of the features that a learnt fusion may weigh, in their order."""
        lacks = {MATCHES} if self.tables.matches is None else set()
        lacks |= {ALL_WORDS, VOTES} if self.tables.bodies is None else set()
        return [name for name in FEATURES if name not in lacks]

    def with_learnt_of(self, other: "IndexData") -> "IndexData":
        """Return the same with what another index learnt."""
        return replace(self, places=other.places, wholes=other.wholes)


def data_folder(index: Path, generation: int) -> Path:
    """Return the folder of a generation."""
    return index / f"data.{generation}"


def data_of(
    tables: IndexTables,
    readings: int,
    seed: int,
    fuses: bool,
    words: "CountedWords | None" = None,
) -> IndexData:
    """Return what the first generation of an index holds, before anything is learnt.

    :param fuses: whether it has what a learnt fusion needs.
    :param words: of the tables; None: they are counted here.
    :raises CorpusError: there is no word at all.
    """
    from mpbert.recommending.lookup_building import (
        CountedWords,
        build_context_words,
        build_field_words,
        build_lookup,
    )

    words = words or CountedWords.of(tables)
    if not len(words.vocabulary):
        raise CorpusError("the papers of the index hold no word; expected titles, add some")
    vocabulary = TextColumn.of(words.stems)
    data = IndexData(tables, build_lookup(words), vocabulary, 1, readings, seed)
    if not fuses:
        return data
    data = replace(data, fields=build_field_words(words))
    if tables.bodies is None:
        return data
    return replace(data, contexts=build_context_words(words))


def write_data(folder: Path, data: IndexData) -> tuple[dict[str, int], dict[Path, str]]:
    """Write everything that an index holds into a folder that exists.

    :returns: counts for the manifest, and checksums of most files.
    """
    tables, bodies = data.tables, data.tables.bodies
    written = [
        ("papers", tables.papers, PAPERS),
        ("contexts", tables.contexts, CONTEXTS),
        ("vocabulary", ColumnTable({"stem": data.vocabulary}), _VOCABULARY),
    ]
    if bodies is not None:
        written.append(("bodies", bodies, {name: BODIES[name] for name in bodies.names}))
    known = {k: v for table in written for k, v in write_table(folder, *table).items()}
    names = ARRAYS if data.lookup.word_times is None else (*ARRAYS, *COUNT_ARRAYS)
    looked_up = [(("vectors",), tables), (names, data.lookup)]
    if data.places is not None:
        looked_up.append((FIELD_ARRAYS, data.fields))
        if data.contexts is not None:
            looked_up.append((CONTEXT_ARRAYS, data.contexts))
    for names, arrays in looked_up:
        known |= save_arrays(folder, {name: getattr(arrays, name) for name in names})
    if tables.matches is not None:
        held = tables.matches.postings
        known |= save_arrays(folder, {n: getattr(held, own) for n, own in MATCH_ARRAYS.items()})
    for of, learnt in ((PLACES, data.places), (WHOLES, data.wholes)):
        if learnt is not None:
            learnt.write(folder, of)
    without = sum(int((~block.any(axis=1)).sum()) for block in blocks(tables.vectors))
    numbers = tables.papers.num_rows, tables.contexts.num_rows, len(data.vocabulary), without
    names = "papers", "citing_sentences", "stems", "papers_without_a_vector"
    return dict(zip(names, numbers, strict=True)), known


def read_index(path: Path) -> IndexData:
    """Return an index.

    :raises IndexFormatError: it is none, of another version, or a file is missing or damaged.
    :raises DamagedError: a file has other bytes than were written.
    """
    while True:  # until it is not changed meanwhile
        manifest = read_index_manifest(path)
        try:
            check_inputs([path], LARGE)  # larger ones are mapped
            data = _read_generation(path, manifest)
        except (MpbertError, OSError):
            if read_index_manifest(path) == manifest:
                raise
        else:
            if read_index_manifest(path) == manifest:
                return data


def _read_generation(path: Path, manifest: dict[str, Any]) -> IndexData:
    generation = manifest["counts"]["generation"]
    folder = data_folder(path, generation)
    papers = read_table(folder, "papers", PAPERS)
    contexts = read_table(folder, "contexts", CONTEXTS)
    vocabulary = read_table(folder, "vocabulary", _VOCABULARY)["stem"]
    bodies = None
    if manifest["command"] == "index" or any(folder.glob("bodies.*")):
        has_codes = any(folder.glob("bodies.codes.*"))  # an earlier version wrote none
        bodies = read_table(folder, "bodies", BODIES if has_codes else {"body": TEXT})
    vectors = map_array(folder / "vectors.npy", "<f4", num_axes=2)
    matches = None
    if any((folder / f"{name}.npy").exists() for name in MATCH_ARRAYS):
        held = _mapped(folder, MATCH_ARRAYS)
        matches = PapersByToken(
            Postings(**{field: held[name] for name, field in MATCH_ARRAYS.items()}), papers.num_rows
        )
    counted = all((folder / f"{name}.npy").exists() for name in COUNT_ARRAYS)
    lookup = Lookup(**_mapped(folder, (*ARRAYS, *COUNT_ARRAYS) if counted else ARRAYS))
    tables = IndexTables(papers, contexts, vectors, matches, bodies)
    made, takes_any = manifest["config"], manifest["command"] == "index"
    data = IndexData(
        *(tables, lookup, vocabulary, generation, made["readings"], made["seed"]),
        is_foreign=takes_any and not made.get("train"),  # build-index takes that of its corpus
    )
    data = _with_learnt(data, folder)
    check_fits(tables, lookup, vocabulary, data.fields, data.contexts, folder)
    return data


def _with_learnt(data: IndexData, folder: Path) -> IndexData:
    """Return what an index holds, with what it learnt and what that needs."""
    places, wholes = (read_learnt(folder, data.features, of) for of in (PLACES, WHOLES))
    if places is None:
        return data
    fields = FieldWords(**_mapped(folder, FIELD_ARRAYS))
    contexts = None
    if VOTES in data.features:
        contexts = ContextWords(**_mapped(folder, CONTEXT_ARRAYS))
    return replace(data, fields=fields, contexts=contexts, places=places, wholes=wholes)


def change_index(
    path: Path, change: Callable[[IndexData], tuple[IndexTables, dict[str, Any]]]
) -> dict[str, Any]:
    """Replace the data of an index in one step; killed or failing, it leaves the index as it was.

    :param change: to the tables that replace those of the index, or to these, and its counts.
    :returns: the counts of the index.
    :raises DamagedError: a file has other bytes than were written.
    :raises OutputError: the disk refuses it, or another process is changing the index.
    """
    path = path.resolve()  # one lock, whatever links lead here
    read_index_manifest(path)  # before a lock is made beside what is no index
    with claimed(path), done_beside(check_inputs, [path]) as checked:
        manifest = read_index_manifest(path)
        data = _read_generation(path, manifest)
        old, new = (data_folder(path, data.generation + i) for i in (0, 1))
        _remove_others(path)  # a change was killed
        tables, counts = change(data)
        if tables is data.tables:
            checked()
            return manifest["counts"]
        try:
            new.mkdir()
            about, known = write_data(new, _changed(data, tables))
            known |= checksums_of_kept(old, new, manifest["files"])
            counts = {"generation": data.generation + 1, **about, "latest_change": counts}
            checked()
            replace_manifest(path, counts, [ENCODER, new.name], known)
        except OSError as error:
            shutil.rmtree(new, ignore_errors=True)
            needed = f"about as much again as the {told_size(old)} of {old.name} is needed"
            raise OutputError(
                f"{path}: cannot be changed ({error.strerror or error}"
                f"{told_room(error, path, needed)}); it is as it was, free space and try again"
            ) from error
        finally:
            _remove_others(path)
    return counts


def _remove_others(path: Path) -> None:
    """Remove the generations that are not in force."""
    number = read_index_manifest(path)["counts"]["generation"]
    for folder in set(path.glob("data.*")) - {data_folder(path, number)}:
        shutil.rmtree(folder, ignore_errors=True)


def _changed(data: IndexData, tables: IndexTables) -> IndexData:
    """Return what an index holds with other tables; what it learnt stays."""
    from mpbert.recommending.word_changes import changed_lookup

    if data.places is None:
        found = changed_lookup(data.lookup, data.vocabulary, data.tables, tables)
        if found is not None:
            return replace(data, tables=tables, lookup=found[0], vocabulary=found[1])
    made = data_of(tables, data.readings, data.seed, data.places is not None)
    return made.with_learnt_of(data)


def _mapped(folder: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return arrays by their names, which tell what they hold."""
    kinds = {"weights": "<f4", "idf": "<f4", "times": "<u2"}  # others: rows, words and counts
    return {
        name: map_offsets(folder / f"{name}.npy")
        if name.endswith("offsets")
        else map_array(folder / f"{name}.npy", kinds.get(name.rpartition("_")[2], "<i4"))
        for name in names
    }
