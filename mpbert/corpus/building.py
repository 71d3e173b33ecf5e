"""A raw corpus becomes a corpus store: read, cleaned, linked, split and written in one step."""

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.build_config import BuildConfig
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.formats.mixed import library_reader
from mpbert.corpus.links import link_papers
from mpbert.corpus.raw.linkage import linkage_report
from mpbert.corpus.spill import StoredPapers, sort_papers
from mpbert.corpus.splits import (
    TEST_SHARE,
    check_splits,
    split_as_given,
    split_at_random,
    split_by_year,
)
from mpbert.corpus.tables import write_tables
from mpbert.foundation.engine_choice import engine_of
from mpbert.foundation.engines import Engine
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import is_finished, output_directory
from mpbert.foundation.parts import PartFiles, parts_of
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng

# how names of counts begin that say what became of citations in the text
_IN_TEXT = ("citation", "citing_sentences", "contexts_", "in_text_citations_", "markers_")


@dataclass(frozen=True)
class BuiltCorpus:
    """What building a corpus store came to.

    :param is_new: False where the store was there before; the other fields are empty then.
    :param written: how many papers, sentences, contexts and citations there are, and of what kind.
    :param in_text: what became of the citations in the text.
    :param linkage: lines that say how references were resolved to papers.
    """

    is_new: bool
    written: dict[str, int] = field(default_factory=dict)
    in_text: dict[str, int] = field(default_factory=dict)
    linkage: list[str] = field(default_factory=list)


def build_store(config: BuildConfig) -> BuiltCorpus:
    """Build the store of a raw corpus, unless it is there.

    :raises CorpusError: the raw corpus is broken, or a split would be empty.
    :raises ConfigError: the store would lie in the raw corpus.
    :raises OutputError: the store exists and was built otherwise, or cannot be written.
    """
    if not config.input.exists():
        raise CorpusError(f"{config.input}: no such file; expected a raw corpus")
    if config.output.resolve().is_relative_to(config.input.resolve()):
        raise ConfigError(  # it would be read with the papers by the next start
            f"{config.output}: lies in the raw corpus {config.input}, which it would change; "
            f"expected a directory outside, choose another output"
        )
    if is_finished(config.output, "build-corpus", config, [config.input]):
        return BuiltCorpus(is_new=False)
    reader = READERS[config.reader]()
    if config.grobid:
        reader = library_reader(config.input, config.reader, config.grobid)
    counts: Counter[str] = Counter()
    inputs = [config.input]
    with (
        output_directory(config.output, "build-corpus", config, inputs) as out,
        engine_of(config.engine, os.cpu_count() or 1) as engine,
    ):
        parts = parts_of(config.output, "papers", "build-corpus", config, inputs)
        try:
            written = _write(config, reader, out.path, counts, engine, parts)
        except CorpusError:
            parts.discard()  # what is mended is another corpus
            raise
        dropped = {name: n for name, n in sorted(counts.items()) if name not in written}
        out.counts.update({**written, **dropped})
    in_text = {name: n for name, n in dropped.items() if name.startswith(_IN_TEXT) and n}
    return BuiltCorpus(True, dict(written), in_text, linkage_report(counts))


def _write(
    config: BuildConfig,
    reader: Reader,
    directory: Path,
    counts: Counter[str],
    engine: Engine,
    parts: PartFiles,
) -> Counter[str]:
    """Write all tables into a directory; return how much was written."""
    stream = iter_clean_papers(reader, config.input, engine, counts, config.split == "year", parts)
    papers = sort_papers(progress(stream, "build-corpus", "paper"), directory)
    if not len(papers):
        raise CorpusError(
            f"{config.input}: found no paper with a year and text; expected some"
            f"{_hint(config, counts)}"
        )
    links = link_papers(papers, config.unknown_cited, counts)
    if not len(links.citations):
        raise CorpusError(
            f"{config.input}: found {len(papers):,} papers, of which none cites another; expected "
            f"citations to learn from: mpbert index needs none"
        )
    splits = _split(config, reader, papers)
    needed = ("test",) if config.split == "given" else config.needed
    name, citing = "contexts", links.citing_rows
    if not len(citing):  # a corpus for the global task
        name, citing = "citations", links.citations[:, 0]
    each = np.bincount(citing, minlength=len(splits))
    check_splits(name, splits, needed, config.split, each)
    return write_tables(directory, papers, links, splits)


def _split(config: BuildConfig, reader: Reader, papers: StoredPapers) -> np.ndarray:
    if config.split == "random":
        share = TEST_SHARE if config.test_share is None else config.test_share
        splits = split_at_random(len(papers), named_rng(config.seed, "split papers"), share)
    elif config.split == "given":
        splits = split_as_given(papers.given_splits)
    else:
        years = reader.default_splits
        if config.valid_year is not None:
            years = replace(years, valid_year=config.valid_year)
        if config.test_year is not None:
            years = replace(years, test_year=config.test_year)
        splits = split_by_year(papers.years, years)
    check_splits("papers", splits, config.needed, config.split)
    return splits


def _hint(config: BuildConfig, counts: Counter[str]) -> str:
    if config.split == "year" and counts["papers_without_year"]:
        dropped = counts["papers_without_year"]
        return f": {dropped:,} have no year, which --split random and --split given do not need"
    return ""
