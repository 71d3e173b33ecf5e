"""Reader of the ACL Anthology as TechKnAcQ JSON: a paper per line or per file, text from PDF files.

Each paper lists the papers of the Anthology that it cites; the places are found in its text by
names and years, by number or by label, and every other citation is marked too, so as to be cut.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mpbert.citations.bibliography import Bibliography, split_bibliography
from mpbert.citations.finder import CitationFinder
from mpbert.citations.records import RawSentence
from mpbert.citations.references import Reference
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.raw.disk_index import DiskIndex
from mpbert.corpus.raw.extracted_text import debris, is_abstract_heading, join_sentences, page_junk
from mpbert.corpus.raw.files import read_records, read_whole, walk, without_packing
from mpbert.corpus.raw.values import names_of, reading, required_id, text_of
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits
from mpbert.corpus.text import LONGEST_TEXT

_INFO = re.compile(rb'^\{"info":\s*')
_PAPER = "an object with info (id, title, authors, year), references and sections"
_MAX_ABSTRACT = 15  # sentences; a longer one is the introduction without its heading


@READERS.register
class AclReader(Reader):
    """Reads ``papers.jsonl``, plain or packed, or a folder of ``ID.json`` as of TechKnAcQ."""

    name = "acl"
    default_splits = YearSplits(valid_year=2012, test_year=2013)

    def __init__(self) -> None:
        super().__init__()
        self._papers = DiskIndex()  # authors, year and title by id

    def prepare(self, path: Path) -> None:
        """Learn authors, year and title of every paper, by which it is cited."""
        decoder = json.JSONDecoder()
        for place, data in self.read_records(path):
            start = _INFO.match(data)
            with reading(place, _PAPER):
                if start:  # the sections, most of the line, need not be decoded yet
                    info, _ = decoder.raw_decode(data.decode("utf-8"), start.end())
                else:
                    info = json.loads(data)["info"]
                if info["year"] != "":
                    paper_id = required_id(info.get("id", _id_of(place)))
                    authors, year = names_of(info["authors"]), int(info["year"])
                    self._papers.add(paper_id, (authors, year, text_of(info["title"])))
        self._papers.seal()

    def read_records(self, path: Path) -> Iterator[tuple[str, bytes]]:
        """Yield where a record stands, and the undecoded record."""
        if not path.is_dir():
            yield from read_records(path)
            return
        for file in walk(path, (".json",)):
            yield str(file), read_whole(file)

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a record, all citations in its text marked."""
        place, data = record
        with reading(place, _PAPER):
            paper = json.loads(data)
            info = {"id": _id_of(place), **paper["info"]}
            if info["year"] == "":
                self.counts["papers_without_year"] += 1
                return None
            info["id"] = required_id(info["id"])
            info["year"] = int(info["year"])
            raw = paper["sections"] or []
            sections = [(s.get("heading") or "", list(s["text"])) for s in raw]
            return self._paper(info, paper["references"], sections)

    def _paper(
        self, info: dict[str, Any], cited_ids: Sequence[str], raw: list[tuple[str, list[str]]]
    ) -> RawPaper | None:
        text = split_bibliography(raw)
        if text.bibliography:
            self.counts["papers_with_a_printed_list_of_references"] += 1
            self.counts["sentences_of_lists_of_references"] += len(text.bibliography)
        sections = [(heading, self._clean(sentences)) for heading, sentences in text.sections]
        cited = (self._reference(i) for i in dict.fromkeys(cited_ids) if i != info["id"])
        references = [reference for reference in cited if reference]
        finder = CitationFinder(references, info["year"], Bibliography(text.bibliography))
        marked = finder.mark([sentence for _, sentences in sections for sentence in sentences])
        self.counts.update(finder.counts)
        place = 0
        abstract: tuple[RawSentence, ...] = ()
        body: list[RawSection] = []
        for index, (heading, sentences) in enumerate(sections):
            these = tuple(marked[place : place + len(sentences)])
            place += len(sentences)
            if not abstract and not body and is_abstract_heading(heading, index):
                abstract, these = these[:_MAX_ABSTRACT], these[_MAX_ABSTRACT:]
                heading = ""
                self.counts["abstracts_cut_off"] += bool(these)
            if these:
                body.append(RawSection(finder.without_citations(heading), these))
        self.counts["papers_without_abstract"] += not abstract
        return RawPaper(
            paper_id=info["id"],
            title=text_of(info["title"]),
            year=info["year"],
            abstract=abstract,
            sections=tuple(body),
            authors=names_of(info["authors"]),
            venue=text_of(info.get("book")),
            references=tuple(cited_ids),
        )

    def _reference(self, paper_id: str) -> Reference | None:
        if not isinstance(paper_id, str) or not (found := self._papers.get(paper_id)):
            return None
        authors, year, title = found[-1]  # of repeated papers the last
        return Reference(paper_id, tuple(authors), year, title)

    def _clean(self, sentences: list[str]) -> list[str]:
        # page numbers and headers go first: they stand between the halves of sentences
        short = [sentence for sentence in sentences if len(sentence) <= LONGEST_TEXT]
        if len(short) < len(sentences):
            self.counts["sentences_dropped_as_too_long"] += len(sentences) - len(short)
        whole = join_sentences(self._without_junk(short, page_junk))
        return self._without_junk(whole, debris)

    def _without_junk(
        self, sentences: list[str], kind_of: Callable[[str], str | None]
    ) -> list[str]:
        kept = []
        for sentence in sentences:
            if kind := kind_of(sentence):
                self.counts[f"sentences_dropped_as_{kind}"] += 1
            else:
                kept.append(sentence)
        return kept


def _id_of(place: str) -> str:
    return without_packing(Path(place)).name.removesuffix(".json")
