"""Reader of what s2orc-doc2json makes of PDF, LaTeX and JATS files; CORD-19 has the same form.

One JSON object a file, or many as JSON Lines. References hold no ids of papers of the corpus: they
are resolved by DOI, arXiv id, PubMed id or title.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.s2orc.paragraphs import read_parse
from mpbert.corpus.raw.files import read_records, read_whole, walk, without_packing
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.shards import ShardReader
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import names_of, required_id, text_of, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits

_PARSES = ("pdf_parse", "latex_parse", "jats_parse", "grobid_parse")


@READERS.register
class Doc2JsonReader(ShardReader):
    """Reads a folder of ``.json`` files with one paper each, or ``.jsonl``."""

    name = "doc2json"
    default_splits = YearSplits(valid_year=2018, test_year=2019)
    expected = "an object with paper_id and either body_text or pdf_parse, latex_parse, jats_parse"

    def lines(self, path: Path) -> Iterator[tuple[str, bytes]]:
        """Yield (place, object): a ``.json`` file is one object, however many lines it has."""
        for file in walk(path, self.suffixes):
            if without_packing(file).suffix == ".jsonl":
                yield from read_records(file)
            else:
                yield str(file), read_whole(file)

    def learn(self, record: dict[str, Any]) -> bool:
        """Make the identifiers of a paper known."""
        about = _about(record)
        ids = about.get("identifiers") or {}
        known = Identifiers(
            doi=_text(ids.get("doi")),
            arxiv=_text(ids.get("arxiv_id") or ids.get("arxiv")),
            pubmed=_text(ids.get("pubmed_id") or ids.get("pmid")),
            pmc=_text(ids.get("pmc_id") or ids.get("pmcid")),
            title=text_of(about.get("title")),
        )
        return self.linker.add(required_id(record["paper_id"]), known)

    def paper(self, record: dict[str, Any]) -> RawPaper:
        """Return the paper of a record."""
        about = _about(record)
        parse = next((record[key] for key in _PARSES if record.get(key)), record)
        abstract, sections, references = read_parse(parse, self.linker, self.counts)
        if not abstract and isinstance(record.get("abstract"), str):
            abstract = plain(text_of(record["abstract"]), self.counts)
        title = text_of(about.get("title"))
        return RawPaper(
            paper_id=required_id(record["paper_id"]),
            title=title,
            year=year_of(about.get("year")),
            abstract=self.abstract_or_title(abstract, bool(sections), title),
            sections=sections,
            authors=names_of(about.get("authors")),
            venue=text_of(about.get("venue")),
            references=references,
        )


def _about(record: dict[str, Any]) -> dict[str, Any]:
    return record.get("metadata") or record


def _text(value: object) -> str:
    if isinstance(value, list):
        value = value[0] if value else None
    return "" if value is None else str(value)
