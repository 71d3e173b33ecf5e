"""Reader of unarXive 2022: Saier et al. (JCDL 2023), arXiv papers from their LaTeX sources.

Citations stand in the text as ``{{cite:KEY}}``, formulas as ``{{formula:ID}}``. References are
resolved by the ids matched to them, by arXiv ids and links in them, and by the title they print.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.shards import ShardReader
from mpbert.corpus.raw.spans import mark_paragraph, sections_of
from mpbert.corpus.raw.values import names_of, required_id, text_of, year_of, year_of_id
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+):([^{}]*)\}\}")
_AUTHORS = re.compile(r",\s+and\s+|\s+and\s+|,\s+")
_QUOTED = re.compile(r"[\"“”]+|''|``")
_PART = re.compile(r"[.,:?!]\s+")
_MOST_PARTS = 6  # of a reference that may make up a title with commas in it


@READERS.register
class UnarXiveReader(ShardReader):
    """Reads the unpacked archive: folders of ``arXiv_src_YYMM_NNN.jsonl``."""

    name = "unarxive"
    default_splits = YearSplits(valid_year=2020, test_year=2021)
    suffixes = (".jsonl",)
    expected = "an object with paper_id, metadata, abstract, body_text and bib_entries"

    def learn(self, record: dict[str, Any]) -> bool:
        """Make the identifiers of a paper known."""
        about = record.get("metadata") or {}
        paper_id = required_id(record["paper_id"])
        known = Identifiers(
            doi=text_of(about.get("doi")),
            arxiv=text_of(about.get("id")) or paper_id,
            title=text_of(about.get("title")),
        )
        return self.linker.add(paper_id, known)

    def paper(self, record: dict[str, Any]) -> RawPaper:
        """Return the paper of a record."""
        about = record.get("metadata") or {}
        paper_id = required_id(record["paper_id"])
        found = {
            key: self.linker.resolve(self._identifiers(entry or {}), self.counts)
            for key, entry in (record.get("bib_entries") or {}).items()
        }
        abstract = record.get("abstract") or about.get("abstract") or ""
        if isinstance(abstract, dict):
            abstract = abstract.get("text") or ""
        sentences = tuple(self._marked(abstract, found))
        sections = sections_of(
            (text_of(paragraph.get("section")), self._marked(paragraph.get("text") or "", found))
            for paragraph in record.get("body_text") or ()
        )
        title = text_of(about.get("title"))
        return RawPaper(
            paper_id=paper_id,
            title=title,
            year=year_of_id(paper_id) or _first_year(about),
            abstract=self.abstract_or_title(sentences, bool(sections), title),
            sections=sections,
            authors=names_of(_AUTHORS.split(text_of(about.get("authors")))),
            venue=text_of(about.get("journal-ref")),
            references=tuple(dict.fromkeys(filter(None, found.values()))),
        )

    def _identifiers(self, entry: Mapping[str, Any]) -> Identifiers:
        ids = entry.get("ids") or {}
        contained = [
            item.get("id") if isinstance(item, dict) else item
            for item in entry.get("contained_arXiv_ids") or ()
        ]
        links = [
            text_of(item.get("url") if isinstance(item, dict) else item)
            for item in entry.get("contained_links") or ()
        ]
        raw = text_of(entry.get("bib_entry_raw"))
        return Identifiers(
            doi=text_of(ids.get("doi")) or next((link for link in links if "doi.org" in link), ""),
            arxiv=text_of(ids.get("arxiv_id"))
            or next((text_of(i) for i in contained if i), "")
            or next((link for link in links if "arxiv.org" in link.lower()), ""),
            pubmed=str(ids.get("pubmed_id") or ""),
            pmc=str(ids.get("pmc_id") or ""),
            title=next((t for t in _titles(raw) if self.linker.knows_title(t)), raw),
        )

    def _marked(self, text: str, found: Mapping[str, str | None]) -> list[RawSentence]:
        """Return marked sentences; of formulas, figures and tables the kind stands in the text."""
        pieces, spans, length, last = [], [], 0, 0
        for match in _PLACEHOLDER.finditer(text):
            kind, key = match.groups()
            pieces.append(text[last : match.start()])
            length += len(pieces[-1])
            last = match.end()
            if kind == "cite":
                self.counts["citation_spans_without_a_reference"] += key not in found
                cited_id = found.get(key)
                cited_ids = (cited_id,) if cited_id else ()
                spans.append((length, length + len(match.group()), cited_ids))
                pieces.append(match.group())
            else:
                self.counts[f"placeholders_of_a_{kind}"] += 1
                pieces.append(kind)
            length += len(pieces[-1])
        return mark_paragraph("".join([*pieces, text[last:]]), spans, self.counts)


def _titles(reference: str) -> Iterator[str]:
    """Yield what may be the title in a reference: quoted parts first, then runs of parts."""
    quoted = _QUOTED.split(reference)
    yield from quoted[1::2]
    parts = list(_PART.finditer(reference))
    borders = [0, *(match.end() for match in parts), len(reference)]
    for first in range(len(borders) - 1):
        for last in range(first + 1, min(first + _MOST_PARTS, len(borders) - 1) + 1):
            yield reference[borders[first] : borders[last]]


def _first_year(about: Mapping[str, Any]) -> int | None:
    versions = about.get("versions") or ()
    created = versions[0].get("created") if versions else None
    return year_of(created) or year_of(about.get("update_date"))
