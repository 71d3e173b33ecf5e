"""``build-index``: corpus store, encoder and vectors -> an index that recommends by itself."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError, VectorsError
from mpbert.foundation.manifest import is_reused, output_directory
from mpbert.retrieval.options import known_option

if TYPE_CHECKING:  # what --help need not wait for
    import numpy as np

    from mpbert.corpus.store import CorpusStore
    from mpbert.recommending.answering import AnsweringIndex
    from mpbert.recommending.columns import ColumnTable
    from mpbert.recommending.directory import IndexData
    from mpbert.recommending.matching import PapersByToken
    from mpbert.recommending.tables import IndexTables


@dataclass(frozen=True)
class Config:
    """Build an index of all papers for recommend and serve; it holds a copy of the encoder."""

    corpus: Path = positional("corpus", "corpus store: papers and training citations")
    encoder: Path = positional("encoder", "encoder directory")
    vectors: Path = positional("vectors", "vectors directory that embed made with this encoder")
    output: Path = positional("output", "index to write, a new directory")
    dim: Optional[int] = option(
        None, "use the first dimensions of each vector, see nested_dims of finetune"
    )
    readings: int = option(
        3, "readings of a text, random samples of its sentences, whose vectors are averaged"
    )
    seed: int = option(1, "seed of the readings")
    known: list[str] = known_option()
    known_vectors: Optional[Path] = option(
        None, "what the index holds after learning: vectors by embed with the same --known"
    )
    known_encoder: Optional[Path] = option(
        None,
        "encoder of --known-vectors, trained with the same --known; without it, the first one",
    )

    def __post_init__(self) -> None:
        check_least(self, readings=1)
        if self.known_encoder and not self.known_vectors:
            raise ConfigError(
                f"--known-encoder {self.known_encoder}: found no --known-vectors; expected those "
                f"that this encoder made"
            )
        if "train" not in self.known:
            raise ConfigError(f"--known {' '.join(self.known)}; expected train, and other splits")


def run(config: Config) -> None:
    """Write the index; print its sizes, the weights that it learnt, and what trees bring.

    :raises VectorsError: the vectors are not of this corpus, or not of this encoder.
    """
    from mpbert.corpus.store import CorpusStore
    from mpbert.recommending.directory import ENCODER, data_folder, write_data
    from mpbert.recommending.encoders import copy_encoder
    from mpbert.recommending.learning import QUERIES
    from mpbert.recommending.store_tables import bodies_of, contexts_of, papers_of
    from mpbert.recommending.tables import IndexTables

    inputs = inputs_of(config)
    if is_reused(config.output, "build-index", config, inputs):
        return
    store = CorpusStore(config.corpus)
    store.map_sentences()
    vectors = _read_vectors(config, config.vectors, config.encoder, store, ["train"])
    known, later = None, config.known_encoder or config.encoder
    if config.known_vectors:
        known = _read_vectors(config, config.known_vectors, later, store, config.known)
        if (width := known[0].shape[1]) != vectors[0].shape[1]:
            raise VectorsError(
                f"{config.known_vectors}: found vectors of {width} dimensions; expected "
                f"{vectors[0].shape[1]}, as {config.vectors} has: train --known-encoder with the "
                f"configuration of the first"
            )
    with output_directory(config.output, "build-index", config, inputs) as out:
        copy_encoder(config.encoder, out.path / ENCODER)
        folder = data_folder(out.path, 1)
        folder.mkdir()
        tables = IndexTables(papers_of(store), contexts_of(store), *vectors, bodies_of(store))
        data, remarks = _learnt(config, store, tables, out.path / ENCODER)
        if set(config.known) > {"train"}:
            data = _with_known(data, contexts_of(store, config.known), known)
        if config.known_encoder:
            _put_encoder(later, out.path / ENCODER)
        counts, out.checksums = write_data(folder, data)
        out.counts |= {"generation": 1, **counts}
    print(
        f"{config.output}: {out.counts['papers']:,} papers, "
        f"{out.counts['citing_sentences']:,} sentences that cite them"
    )
    if not remarks:
        print("no weights: the corpus has too few validation contexts to learn from")
        return
    for task, remark in remarks.items():
        print("for places:" if task == "local" else "for whole papers:")
        learnt = data.places if task == "local" else data.wholes
        if learnt is not None:
            print(f"weights learnt from {learnt.fusion.queries:,} {QUERIES[task]}:")
            for name, weight in learnt.fusion.weights.items():
                print(f"  {name} {weight:g}")
        print(remark)


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    known = filter(None, (config.known_vectors, config.known_encoder))
    return [config.corpus, config.encoder, config.vectors, *known]


def _read_vectors(
    config: Config, directory: Path, encoder: Path, store: "CorpusStore", known: Sequence[str]
) -> "tuple[np.ndarray, PapersByToken | None]":
    """Return (N, D) vectors of length 1, and weights of exact matches, if there are any.

    :param encoder: that made them.
    :param known: splits with whose contexts papers were read.
    :raises VectorsError: they are not of this corpus, not of this encoder, or of other contexts.
    """
    from mpbert.recommending.matching import PapersByToken
    from mpbert.vectors.matches import read_weights
    from mpbert.vectors.normal import normalized
    from mpbert.vectors.store import VectorStore, check_ids, check_known_of

    vectors = VectorStore.load(directory, "papers")
    check_ids(vectors, store.paper_ids, f"{directory}")
    check_known_of(directory, known)
    matches = read_weights(directory, "papers", len(vectors))
    _check_encoder(encoder, directory, vectors.dim, 0 if matches is None else matches.vocab_size)
    held = None if matches is None else PapersByToken.of(matches)
    return normalized(vectors.first(config.dim).vectors), held


def _learnt(
    config: Config, store: "CorpusStore", tables: "IndexTables", encoder: Path
) -> "tuple[IndexData, dict[str, str]]":
    """Return what the index holds, with what it learnt, and a remark on each task.

    There are no remarks where the corpus has too little to learn from.
    """
    from mpbert.recommending.directory import data_of
    from mpbert.recommending.learning import can_learn, examples_of, learn, queries_to_learn_from

    if not can_learn(store):
        return data_of(tables, config.readings, config.seed, False), {}
    queries = queries_to_learn_from(store, "local")
    data, recommender = _asked(config, tables, encoder)
    examples, of_levels = examples_of(recommender, store, queries), ""
    if without := _without_levels(tables, encoder):
        from mpbert.recommending.level_choice import levels_help

        bag_data, bag = _asked(config, without, encoder)
        of_bag = examples_of(bag, store, queries)
        helps, of_levels = levels_help(queries, examples[0], of_bag[0])
        if not helps:
            data, recommender, examples = bag_data, bag, of_bag
            _cut_levels(encoder)
    places, of_places = learn(recommender, store, "local", examples)
    of_places = "\n".join(filter(None, (of_places, of_levels)))
    if places is None:
        return data, {"local": of_places}
    wholes, of_wholes = learn(recommender, store, "global")
    if wholes is None:
        of_wholes += "; the weights for places rank, without trees"
    remarks = {"local": of_places, "global": of_wholes}
    return replace(data, places=places, wholes=wholes), remarks


def _asked(
    config: Config, tables: "IndexTables", encoder: Path
) -> "tuple[IndexData, AnsweringIndex]":
    """Return an index that has learnt nothing, and what asks it."""
    from mpbert.recommending.answering import AnsweringIndex
    from mpbert.recommending.directory import data_of
    from mpbert.recommending.reading import EncoderReader

    data = data_of(tables, config.readings, config.seed, True)
    reader = EncoderReader(encoder, config.readings, config.seed, tables.vectors.shape[1])
    return data, AnsweringIndex(data, reader)


def _without_levels(tables: "IndexTables", encoder: Path) -> "IndexTables | None":
    """Return the same with the bag's part of the vectors; None where levels add no part."""
    from mpbert.model.description import read_description
    from mpbert.vectors.normal import normalized

    dim = read_description(encoder).model.dim
    if dim >= tables.vectors.shape[1]:
        return None
    return replace(tables, vectors=normalized(tables.vectors[:, :dim]))


def _cut_levels(encoder: Path) -> None:
    """Put the encoder's bag in its place."""
    from mpbert.model.bag_alone import save_bag_alone
    from mpbert.model.description import read_description

    bag = encoder.with_name(f"{encoder.name}.bag")
    bag.mkdir()
    save_bag_alone(encoder, read_description(encoder), bag)
    shutil.rmtree(encoder)
    bag.rename(encoder)


def _with_known(
    data: "IndexData",
    contexts: "ColumnTable",
    vectors: "tuple[np.ndarray, PapersByToken | None] | None",
) -> "IndexData":
    """Return the same with other citing sentences, and vectors if given; what was learnt stays."""
    from mpbert.recommending.directory import data_of
    from mpbert.vectors.normal import normalized

    tables = replace(data.tables, contexts=contexts)
    if vectors is not None:
        width = tables.vectors.shape[1]  # less than was read, if levels did not stay
        tables = replace(tables, vectors=normalized(vectors[0][:, :width]), matches=vectors[1])
    made = data_of(tables, data.readings, data.seed, data.fields is not None)
    return made.with_learnt_of(data)


def _put_encoder(encoder: Path, place: Path) -> None:
    """Put an encoder in the place of the one that learnt, without levels if those did not stay."""
    from mpbert.model.description import read_description
    from mpbert.recommending.encoders import copy_encoder

    width = read_description(place).model.vector_dim
    shutil.rmtree(place)
    copy_encoder(encoder, place)
    if read_description(place).model.vector_dim > width:
        _cut_levels(place)


def _check_encoder(encoder: Path, directory: Path, dim: int, num_matched: int) -> None:
    """Check that the encoder is whole, and that it made the vectors of a directory.

    :param dim: of the vectors; ``num_matched`` tokens have weights beside them.
    :raises EncoderError: it is not whole.
    :raises VectorsError: it did not make the vectors, or the weights.
    """
    from mpbert.model.description import read_description
    from mpbert.model.text_encoder import open_text_encoder
    from mpbert.vectors.store import check_made_with

    description = read_description(encoder)
    sizes = description.model
    open_text_encoder(encoder, description)
    check_made_with(directory, dim, encoder, sizes.vector_dim)
    expected = sizes.vocab_size if sizes.lexical.exact_matches else 0
    if num_matched != expected:
        raise VectorsError(
            f"{directory}: found exact matches of {num_matched:,} tokens beside the vectors; "
            f"expected those of {expected:,}, as {encoder} makes; embed the corpus with "
            f"this encoder"
        )
