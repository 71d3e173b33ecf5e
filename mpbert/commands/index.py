"""``index``: a library in any format -> an index at once, or one that was trained on it."""

import os
import shlex
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.formats.base import READERS
from mpbert.experiments.options import BEST, TRAINED
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.engine_choice import engine_of, engine_option, path_for
from mpbert.foundation.engines import Engine
from mpbert.foundation.errors import ConfigError, CorpusError, OutputError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import (
    MANIFEST,
    check_inputs,
    is_finished,
    output_directory,
    read_manifest,
)
from mpbert.foundation.parts import parts_of
from mpbert.foundation.processes import ended_by_sigterm

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.read_papers import ReadPapers
    from mpbert.recommending.tables import IndexTables

_WORDS = Path("words")


@dataclass(frozen=True)
class Config:
    """Build an index of a library at once: no citations, no years, no training needed."""

    library: Path = positional("library", "papers: a file or a folder in any format that is read")
    output: Path = positional("output", "index to write, a new directory")
    reader: Optional[str] = option(
        None, "format of the library; without it, told from the files", choices=READERS.names()
    )
    encoder: Path = option(
        _WORDS, "words: BM25 alone; or an encoder, its folder or its name on the Hugging Face hub"
    )
    train: Optional[str] = option(
        None,
        f"first train an encoder on the citations of the library, {BEST} where none is named; a "
        "killed run goes on",
        nargs="?",
        const=BEST,
        choices=tuple(TRAINED),
    )
    grobid: Optional[str] = option(
        None, "address of a GROBID server to read the PDF files; without it, mpbert reads them"
    )
    readings: int = option(
        3, "readings of a text, random samples of its sentences, by an encoder of mpbert"
    )
    seed: int = option(1, "seed of the readings")
    engine: str = engine_option()

    def __post_init__(self) -> None:
        check_least(self, readings=1)
        if self.train and self.encoder != _WORDS:
            raise ConfigError(
                f"--train {self.train} --encoder {self.encoder}: found both; expected one, the "
                f"index has the encoder that is trained"
            )


def run(config: Config) -> None:
    """Write the index; print its sizes, and what was kept and dropped.

    :raises CorpusError: the library is broken or holds no paper, or its format cannot be told.
    :raises ConfigError: the index would lie in the library.
    :raises EncoderError: there is no such encoder.
    :raises Terminated: SIGTERM came between two steps of a training.
    """
    from mpbert.recommending.directory import ENCODER, data_folder, data_of, write_data
    from mpbert.recommending.library import reader_name
    from mpbert.recommending.library_tables import library_tables
    from mpbert.recommending.paper_blocks import PaperBlocks

    counts: Counter[str] = Counter()
    reader = reader_name(config.library, config.reader, counts)
    if config.output.resolve().is_relative_to(config.library.resolve()):
        raise ConfigError(
            f"{config.output}: lies in the library {config.library}, which it would change; "
            f"expected a directory outside, choose another output"
        )
    if config.train:
        with ended_by_sigterm("stopped; run this again, and it goes on"):
            return _train(config, reader)
    folder = _encoder_folder(config.encoder)
    inputs = [config.library, *_encoder_files(folder)]
    if _is_there(config, inputs):
        return
    check_inputs(inputs)
    with output_directory(config.output, "index", config, inputs) as out:
        work = PaperBlocks(folder, config.readings, config.seed)
        with engine_of(config.engine, os.cpu_count() or 1) as engine:
            papers = _papers(config, reader, inputs, counts, engine)
            blocks = parts_of(config.output, "blocks", "index", config, inputs)
            tables, words = library_tables(papers, work, counts, engine, blocks)
        _copy_encoder(folder, out.path / ENCODER)
        data = data_folder(out.path, 1)
        data.mkdir()
        dropped = {name: n for name, n in sorted(counts.items()) if n}
        out.counts |= {"generation": 1, **dropped}
        made = data_of(tables, config.readings, config.seed, fuses=False, words=words)
        written, out.checksums = write_data(data, made)
        out.counts |= {"reader": reader, **written}
    _report(config, reader, tables, out.counts)


def _is_there(config: Config, inputs: list[Path]) -> bool:
    """Return whether this index is there, and say so.

    :raises OutputError: another one is; the line says how that takes the papers of this library.
    """
    try:
        is_there = is_finished(config.output, "index", config, inputs)
    except OutputError as error:
        add = shlex.join(["mpbert", "add", str(config.output), str(config.library), "--update"])
        is_index = (config.output / MANIFEST).is_file()
        raise OutputError(f"{error}; to bring it up to date: {add}" * is_index or error) from error
    if is_there:
        print(f"{config.output} exists, reused")
    return is_there


def _papers(
    config: Config, reader: str, inputs: list[Path], counts: Counter[str], engine: Engine
) -> "ReadPapers":
    """Read the library; what was read stays beside the output until that is finished.

    :param counts: receives what is read and dropped.
    :raises CorpusError: the library is broken or holds no paper.
    """
    from mpbert.recommending.library import read_library

    parts = parts_of(config.output, "papers", "index", config, inputs)
    try:
        library = path_for(config.engine, config.library)
        papers = read_library(library, reader, engine, counts, config.grobid or "", parts)
        if not papers:
            raise CorpusError(
                f"{config.library}: found no paper with a title and text among "
                f"{counts['papers_read']} records; expected some, or another --reader than {reader}"
            )
    except CorpusError:
        parts.discard()  # what is mended is another library
        raise
    return papers


def _train(config: Config, reader: str) -> None:
    """Train on the library, and put the index that comes out in place."""
    for package in ("torch", "fairseq"):
        check_installed(package)
    from mpbert.experiments.library_training import LibraryTraining, train_on_library
    from mpbert.recommending.directory import ENCODER, data_folder, read_index
    from mpbert.recommending.library import ENOUGH

    inputs = [config.library]
    if _is_there(config, inputs):
        return
    place = config.output.with_name(f"{config.output.name}.training")
    training = LibraryTraining(
        *(config.library, reader, config.train, place),
        *(config.readings, config.seed, config.grobid or ""),
    )
    with output_directory(config.output, "index", config, inputs) as out:
        made = train_on_library(training)
        found = read_manifest(made)["counts"]
        for name in (ENCODER, data_folder(made, found["generation"]).name):
            shutil.copytree(made / name, out.path / name)
        out.counts |= found | {"reader": reader}
    shutil.rmtree(place)
    print(
        f"{config.output}: {found['papers']:,} papers read as {reader}, "
        f"{found['citing_sentences']:,} sentences that cite them; ranked by {config.train}, "
        f"trained on them, and words"
    )
    if found["citing_sentences"] < ENOUGH:
        print(f"that is few to learn from: training pays from about {ENOUGH:,} on")
    data = read_index(config.output)
    if data.places is None:
        print("fused by exact matches or reciprocal ranks: too few citing sentences to learn from")
        return
    for what, learnt in (("places", data.places), ("whole papers", data.wholes)):
        if learnt is not None:
            trees = "" if learnt.trees is None else ", then trees"
            of = "citing sentences" if what == "places" else "papers"
            print(f"weights{trees}, for {what}: learnt from {learnt.fusion.queries:,} of its {of}")
        else:
            print(f"for {what}: too few to learn from; the weights for places rank, without trees")


def _encoder_folder(encoder: Path) -> Path | None:
    """Return the folder of an encoder, fetched if need be; None for words alone."""
    if encoder == _WORDS:
        return None
    if encoder.is_dir():
        return encoder
    check_installed("transformers")
    from mpbert.pretrained.folders import folder_of

    return folder_of(str(encoder))


def _encoder_files(folder: Path | None) -> list[Path]:
    from mpbert.recommending.encoders import is_two_tower

    if folder is None:
        return []
    if is_two_tower(folder):
        return [folder]
    from mpbert.pretrained.model_files import files_of_model

    return files_of_model(folder)


def _copy_encoder(folder: Path | None, target: Path) -> None:
    """Copy the encoder that the index keeps; None: words alone."""
    from mpbert.recommending.encoders import copy_encoder, is_two_tower

    if folder is None:
        return
    if is_two_tower(folder):
        copy_encoder(folder, target)
        return
    from mpbert.model.description import SENTENCE_ENCODER
    from mpbert.pretrained.model_files import copy_model

    copy_model(folder, target / SENTENCE_ENCODER)


def _report(config: Config, reader: str, tables: "IndexTables", counts: dict[str, int]) -> None:
    from mpbert.recommending.library import ENOUGH, told_counts, told_parts

    by = "words" if config.encoder == _WORDS else f"words and {config.encoder.name}"
    records = counts["papers_read"] + counts.get("papers_with_the_id_of_an_earlier_one", 0)
    of = f" of {records:,} records" if records != counts["papers"] else ""
    print(
        f"{config.output}: {counts['papers']:,} papers{of} read as {reader}, "
        f"{counts['citing_sentences']:,} sentences that cite them; ranked by {by}"
    )
    dropped = f"all that was dropped is counted in {config.output / MANIFEST}"
    print("\n".join([*told_counts(counts), dropped]))
    print("\n".join(told_parts(tables, "" if config.encoder == _WORDS else config.encoder.name)))
    if counts["citing_sentences"] >= ENOUGH:
        print(_training(config, counts["citing_sentences"]))


def _training(config: Config, citing: int) -> str:
    """Return the line that says that training pays, with its command."""
    output = config.output.with_name(f"{config.output.name}-trained")
    words = ["mpbert", "index", config.library, output, "--train"]
    words += ["--reader", config.reader] if config.reader else []
    words += ["--grobid", config.grobid] if config.grobid else []
    command = shlex.join(map(str, words))
    return f"training will pay: {citing:,} sentences cite papers of this library: {command}"
