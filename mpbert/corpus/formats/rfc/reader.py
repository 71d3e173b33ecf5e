"""Reader of RFCs: an archive of ``rfcN.txt`` with the RFC Editor's metadata ``rfcN.json``."""

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.formats.rfc.layout import RfcSection, split_sections
from mpbert.corpus.formats.rfc.markers import mark, without_mentions
from mpbert.corpus.formats.rfc.prose import iter_paragraphs, join_lines
from mpbert.corpus.formats.rfc.references import RfcReferences
from mpbert.corpus.raw.files import LARGEST, too_large, unreadable
from mpbert.corpus.raw.values import decode, names_of, reading, text_of
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits
from mpbert.corpus.text import split_sentences
from mpbert.foundation.errors import CorpusError

_MEMBER = re.compile(r"(?:.*/)?rfc(\d+)\.(json|txt)")
_REFERENCES = re.compile(
    r"(?i)^(?:(?:non-)?(?:normative|informative|informational) )?references?(?: for .*)?$"
    r"|^bibliography"
)
_BOILERPLATE = re.compile(
    r"(?i)^(?:status of this memo|copyright|full copyright|table of contents|contents$|"
    r"(?:authors?|editors?|chairs?)['’]?s?['’]? +(?:address|contact|information)|authors?$|"
    r"contact information|intellectual property|disclaimer of|ipr |rights |iesg note|"
    r"acknowledge?ment: funding)"
)
_METADATA = "metadata with title, authors, abstract and see_also"
_LONGEST_HEADER = 1 << 20
_SERIES = re.compile(r"(STD|BCP|FYI)0*(\d{1,9})")
_ABSTRACT = re.compile(r"(?i)^abstract$")
_STATUS_NOTE = re.compile(r"\s*\[(?:STANDARDS[- ]TRACK|JOURNAL|PUBNIT)\]\s*$")
_LEGAL = re.compile(
    r"Funding for the RFC Editor function|Copyright \([cC©]\)|Copyright The Internet Society|"
    r"All rights reserved|Redistribution and use in source|THIS SOFTWARE IS PROVIDED|"
    r"Redistributions (?:of|in) |Simplified BSD License"
)


@READERS.register
class RfcReader(Reader):
    """Reads a tar archive of RFCs; in-text citations are resolved by each RFC's own references."""

    name = "rfc"
    default_splits = YearSplits(valid_year=2016, test_year=2017)

    def __init__(self) -> None:
        super().__init__()
        self._series: dict[tuple[str, int], tuple[str, ...]] = {}

    def prepare(self, path: Path) -> None:
        """Learn from the metadata which RFCs make up STD and BCP numbers."""
        series: dict[tuple[str, int], list[str]] = {}
        for number, _, content in _members(path, ("json",)):
            with reading(f"{path}: rfc{number}.json", _METADATA):
                for name in decode(content)["see_also"] or ():
                    match = _SERIES.fullmatch(name)
                    if match:
                        series.setdefault((match[1], int(match[2])), []).append(f"RFC{number}")
        self._series = {key: tuple(sorted(ids)) for key, ids in series.items()}

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (number, metadata, text), the latter two as bytes."""
        waiting: dict[int, dict[str, bytes]] = {}
        for number, kind, content in _members(path, ("json", "txt")):
            record = waiting.setdefault(number, {})
            record[kind] = content
            if len(record) == 2:
                del waiting[number]
                yield number, record["json"], record["txt"]
        if waiting:
            number, record = min(waiting.items())
            lacking = "txt" if "json" in record else "json"
            raise CorpusError(
                f"{path}: found no rfc{number}.{lacking}; expected a .txt and a .json of each RFC, "
                f"add it or remove the other"
            )

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of one RFC."""
        number, metadata, content = record
        with reading(f"RFC {number}", f"{_METADATA} and a text in UTF-8"):
            return self._paper(number, decode(metadata), content.decode("utf-8"))

    def _paper(self, number: int, info: dict[str, Any], text: str) -> RawPaper:
        sections = split_sections(text, self.counts)
        references = RfcReferences(
            number,
            [line for s in sections if _REFERENCES.match(s.heading) for line in s.lines],
            self._series,
        )
        if not references.tags:
            self.counts["rfcs_without_references_section"] += 1
        year = re.search(r"\d{4}", text_of(info.get("pub_date")))
        return RawPaper(
            paper_id=f"RFC{number}",
            title=without_mentions(text_of(info["title"]), references),
            year=int(year.group()) if year else None,
            authors=names_of(info["authors"]),
            venue=text_of(info.get("source")),
            abstract=tuple(self._abstract(text_of(info["abstract"]), sections, references)),
            sections=tuple(self._body(sections, references)),
            references=references.paper_ids,
        )

    def _abstract(
        self, abstract: str, sections: list[RfcSection], references: RfcReferences
    ) -> Iterator[RawSentence]:
        if abstract.strip():
            paragraphs = re.split(r"\n\s*\n", _STATUS_NOTE.sub("", abstract.replace("\r", "")))
        else:
            self.counts["abstracts_taken_from_the_text"] += 1
            own = [line for s in sections if _ABSTRACT.match(s.heading) for line in s.lines]
            paragraphs = list(iter_paragraphs(own, Counter()))
        for paragraph in paragraphs:
            yield from _marked(join_lines(paragraph.split("\n")), references)

    def _body(self, sections: list[RfcSection], references: RfcReferences) -> Iterator[RawSection]:
        for section in sections[1:]:
            if _ABSTRACT.match(section.heading) or _REFERENCES.match(section.heading):
                continue
            if _BOILERPLATE.match(section.heading):
                self.counts["boilerplate_lines_dropped"] += len(section.lines)
                continue
            sentences = [
                sentence
                for paragraph in iter_paragraphs(section.lines, self.counts)
                if not self._is_legal(paragraph)
                for sentence in _marked(paragraph, references)
            ]
            if sentences:
                yield RawSection(without_mentions(section.heading, references), tuple(sentences))

    def _is_legal(self, paragraph: str) -> bool:
        found = bool(_LEGAL.search(paragraph))
        self.counts["legal_paragraphs_dropped"] += found
        return found


def _marked(paragraph: str, references: RfcReferences) -> Iterator[RawSentence]:
    for sentence in split_sentences(paragraph):
        yield mark(sentence, references)


class _Member(tarfile.TarInfo):
    """A header of an archive; those of long names are read as a whole, so they must be short."""

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> Self:
        """Return the header in these 512 bytes."""
        found = super().frombuf(buf, encoding, errors)
        if not found.isreg() and found.size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"found a header of {found.size:,} bytes")
        return found


def _members(path: Path, kinds: tuple[str, ...]) -> Iterator[tuple[int, str, bytes]]:
    """Yield (RFC number, ``json`` or ``txt``, content) of a tar archive, read as a stream."""
    try:
        with tarfile.open(path, "r|*", tarinfo=_Member) as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()  # it would keep all
                match = _MEMBER.fullmatch(member.name)
                if match and match[2] in kinds and member.isfile():
                    content = archive.extractfile(member).read(LARGEST + 1)
                    if len(content) > LARGEST:
                        raise too_large(f"{path}: {member.name}", "file", LARGEST)
                    yield int(match[1]), match[2], content
    except (*unreadable(), tarfile.TarError) as error:
        reason = " ".join(str(error).split())
        raise CorpusError(
            f"{path}: unreadable ({reason}); expected a tar archive of rfcN.txt and rfcN.json"
        ) from error
