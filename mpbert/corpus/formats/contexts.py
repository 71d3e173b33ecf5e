"""Reader of ``contexts.json`` and ``papers.json``: ACL-200, FullTextPeerRead, RefSeer and arXiv.

The form of DualLCR (Medić and Šnajder, SDP 2020) and HAtten (Gu et al., ECIR 2022). A context is a
window of some 400 characters in which ``TARGETCIT`` is the citation of one paper and ``OTHERCIT``
any other. Windows of one place, which differ in the target alone, are one context with several
cited papers. Each window becomes three pieces, so that the citing piece and its neighbours, the
local context of the corpus store, are the window: sentences, or halves of one where it is alone.

``train.json``, ``val.json`` and ``test.json`` beside them are the splits for ``--split given``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.raw.disk_index import DiskIndex
from mpbert.corpus.raw.files import find_file
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.json_stream import iter_members
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.spans import Span, borders_of, mark_piece, plain
from mpbert.corpus.raw.values import names_of, reading, required_id, text_of, year_of, year_of_id
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits

_MARK = r"(?:TARGETCIT|OTHERCIT)"
_GROUP = re.compile(rf"{_MARK}(?:[\s,;&]*(?:and\s+)?{_MARK})*")
_SPLIT_FILES = (("test", "test.json"), ("valid", "val.json"), ("train", "train.json"))
_BESIDE = 40  # characters on either side by which two windows are known to show one place
_SPACE = re.compile(r"\s+")
_PAPER = "a paper: an object with title and abstract"
_CONTEXT = "a context: an object with masked_text, citing_id and refid"


@READERS.register
class ContextsReader(Reader):
    """Reads a folder with ``papers.json`` and ``contexts.json``.

    The year of a paper is in ``year``, or else in its id, of the ACL Anthology or of arXiv.
    """

    name = "contexts"
    default_splits = YearSplits(valid_year=2014, test_year=2015)

    def __init__(self) -> None:
        super().__init__()
        self._linker = Linker()
        self._contexts = DiskIndex()

    def prepare(self, path: Path) -> None:
        """Put all contexts on disk by citing paper."""
        splits = _splits(path)
        file = find_file(path, "papers.json")
        for paper_id, _ in iter_members(file):
            with reading(f"{file}: paper {paper_id!r}", _PAPER):
                self._linker.add(required_id(paper_id), Identifiers())
        file = find_file(path, "contexts.json")
        for context_id, context in iter_members(file):
            with reading(f"{file}: context {context_id!r}", _CONTEXT):
                split = splits.get(context_id)
                if splits and split is None:
                    self.counts["contexts_in_no_split"] += 1
                    continue
                row = (text_of(context["masked_text"]), required_id(context["refid"]), split)
                self._contexts.add(required_id(context["citing_id"]), row)
        self._contexts.seal()

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, paper id, fields)."""
        file = find_file(path, "papers.json")
        seen: set[str] = set()
        for paper_id, fields in iter_members(file):
            if paper_id in seen:
                self.counts["papers_with_the_id_of_an_earlier_one"] += 1
                continue
            seen.add(paper_id)
            yield f"{file}: paper {paper_id!r}", paper_id, fields
        self.counts["citing_papers_without_a_record"] += sum(
            citing_id not in seen for citing_id in self._contexts.keys()
        )

    def parse(self, record: object) -> RawPaper:
        """Return a paper with its contexts as its body."""
        place, paper_id, fields = record
        with reading(place, _PAPER):
            return self._paper(paper_id, fields)

    def _paper(self, paper_id: str, fields: dict[str, Any]) -> RawPaper:
        title = text_of(fields.get("title"))
        rows = self._contexts.get(paper_id)
        split = next((s for s, _ in _SPLIT_FILES if any(row[2] == s for row in rows)), None)
        own = [(text, cited) for text, cited, of_split in rows if of_split == split]
        self.counts["contexts_of_another_split_of_their_paper"] += len(rows) - len(own)
        body = tuple(self._body(own))
        abstract = plain(text_of(fields.get("abstract")), self.counts)
        if not abstract and not body:
            self.counts["papers_known_by_their_title_alone"] += 1
            abstract = plain(title, self.counts)
        return RawPaper(
            paper_id=paper_id,
            title=title,
            year=year_of(fields.get("year")) or year_of_id(paper_id),
            abstract=abstract,
            sections=(RawSection("", body),) if body else (),
            authors=names_of(fields.get("authors")),
            venue=text_of(fields.get("venue")),
            references=tuple(dict.fromkeys(cited for _, cited in own)),
            split=split,
        )

    def _body(self, contexts: list[tuple[str, str]]) -> Iterator[RawSentence]:
        places: dict[tuple[str, str], tuple[str, re.Match[str], list[str]]] = {}
        for text, printed in contexts:
            cited = self._linker.resolve(Identifiers(corpus_id=printed), self.counts)
            group = next((g for g in _GROUP.finditer(text) if "TARGETCIT" in g.group()), None)
            if group is None:
                self.counts["contexts_without_their_target"] += 1
                continue
            known = places.setdefault(_place(text, group), (text, group, []))
            self.counts["contexts_of_one_place_joined"] += bool(known[2])
            known[2].extend([cited] if cited else [])
        for text, group, cited_ids in places.values():
            yield from self._pieces(text, group, tuple(dict.fromkeys(cited_ids)))

    def _pieces(
        self, text: str, group: re.Match[str], cited_ids: tuple[str, ...]
    ) -> Iterator[RawSentence]:
        spans: list[Span] = [
            (g.start(), g.end(), cited_ids if g.start() == group.start() else ())
            for g in _GROUP.finditer(text)
        ]
        borders = borders_of(text, spans)
        start, end = next((a, b) for a, b in borders if a <= group.start() < b)
        if not _has_words(text[:start]):
            start = _between_words(text, start, group.start())
        if not _has_words(text[end:]):
            end = _between_words(text, group.end(), end)
        pieces = [(0, start), (start, end), (end, len(text))]
        shown = [(a, b) for a, b in pieces if _has_words(text[a:b])]
        self.counts["contexts_at_an_end_of_their_window"] += len(shown) < len(pieces)
        for a, b in shown:
            yield mark_piece(text, a, b, spans)


def _splits(path: Path) -> dict[str, str]:
    """Return the split of each context id; empty where the folder says nothing of splits."""
    splits: dict[str, str] = {}
    for split, name in _SPLIT_FILES:
        file = find_file(path, name, is_needed=False)
        if file is not None:
            for number, item in iter_members(file):
                with reading(f"{file}: element {number}", "an object with context_id"):
                    splits.setdefault(required_id(item["context_id"]), split)
    return splits


def _place(text: str, group: re.Match[str]) -> tuple[str, str]:
    before = _GROUP.sub("", text[max(0, group.start() - _BESIDE) : group.start()])
    after = _GROUP.sub("", text[group.end() : group.end() + _BESIDE])
    return _SPACE.sub(" ", before), _SPACE.sub(" ", after)


def _has_words(text: str) -> bool:
    return any(map(str.isalpha, _GROUP.sub("", text)))


def _between_words(text: str, start: int, end: int) -> int:
    """Return the white space in the middle of a part of a text, or an end of the part if none."""
    middle = (start + end) // 2
    shown = _GROUP.sub(lambda group: " " * len(group.group()), text[start:end])
    letters = [place for place, character in enumerate(shown, start) if character.isalpha()]
    places = [match.start() for match in _SPACE.finditer(text, start, end)]
    inner = [place for place in places if letters and letters[0] < place <= letters[-1]]
    return min(inner or [start, end], key=lambda p: abs(p - middle))
