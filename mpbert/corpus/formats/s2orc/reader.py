"""Reader of S2ORC: Lo et al. (ACL 2020), as released in 2020 and as the API has it since 2023.

What a file holds is told by its first record, not by its name: metadata or full texts of 2020
(``metadata/``, ``pdf_parses/``), or ``papers``, ``abstracts`` and ``s2orc`` or ``s2orc_v2`` of the
API. Metadata waits on disk until the full texts come by; papers without one are candidates too.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.s2orc.annotations import AnnotatedText, read_annotations
from mpbert.corpus.formats.s2orc.paragraphs import read_parse
from mpbert.corpus.raw.disk_index import DiskIndex
from mpbert.corpus.raw.files import PACKED, read_records, walk
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.shards import ShardReader
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import decode, names_of, reading, required_id, text_of, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits

_FULL_TEXT = ("pdf_parse", "body_text", "content", "body")  # any of them makes a record a full text


@READERS.register
class S2OrcReader(ShardReader):
    """Reads a folder with all shards of a release, or of a part of one."""

    name = "s2orc"
    default_splits = YearSplits(valid_year=2018, test_year=2019)
    suffixes = (".jsonl", ".json", *PACKED)  # shards of the API are packed and have no other suffix
    expected = "a line of S2ORC: metadata, pdf_parses, papers, abstracts, s2orc or s2orc_v2"

    def __init__(self) -> None:
        super().__init__()
        self._known = DiskIndex()
        self._with_text: set[str] = set()
        self._text_shards: set[Path] = set()

    def prepare(self, path: Path) -> None:
        """Put all metadata on disk and learn the identifiers of all papers."""
        for shard in walk(path, self.suffixes):
            for place, line in read_records(shard):
                with reading(place, self.expected):
                    record = decode(line)
                    if not self.learn(record):
                        self.repeated.add(place)
                    if _is_full_text(record):
                        self._text_shards.add(shard)
        self._known.seal()
        self.counts["full_texts_with_the_id_of_an_earlier_one"] += len(self.repeated)

    def learn(self, record: dict[str, Any]) -> bool:
        """Keep what a record says; return False for a second full text of a paper."""
        paper_id = _id(record)
        if _is_full_text(record):
            is_new = paper_id not in self._with_text
            self._with_text.add(paper_id)
            self.linker.add(paper_id, _identifiers(record))
            return is_new
        if set(record) <= {"corpusid", "openaccessinfo", "abstract"}:
            self._known.add(paper_id, {"abstract": text_of(record.get("abstract"))})
            return True
        text_of(record["title"])
        self._known.add(paper_id, _metadata(record))
        self.linker.add(paper_id, _identifiers(record))
        return True

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, line) of the full texts, then (id, None) of all other papers."""
        for shard in walk(path, self.suffixes):
            if shard in self._text_shards:
                yield from (each for each in read_records(shard) if each[0] not in self.repeated)
        for paper_id in sorted(self.linker.paper_ids - self._with_text):
            yield paper_id, None

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a full text or of an id.

        :raises CorpusError: the record is broken.
        """
        place, line = record
        if line is None:
            return self.paper({"paper_id": place})
        with reading(place, self.expected):
            found = decode(line)
            if _is_full_text(found):
                return self.paper(found)
            self.counts["lines_of_metadata_beside_full_texts"] += 1  # read before, by prepare
            return None

    def paper(self, record: dict[str, Any]) -> RawPaper:
        """Return the paper of a full text, or of what else is known of an id."""
        paper_id = _id(record)
        known = self._known.get(paper_id)
        about = {}
        for more in (*known, _metadata(record)):
            about.update({key: value for key, value in more.items() if value and key not in about})
        with_title = sum("title" in more for more in known)
        self.counts["papers_without_metadata"] += not with_title
        self.counts["papers_with_metadata_twice"] += with_title > 1  # the first is kept
        self.counts["papers_without_full_text"] += not _is_full_text(record)
        if "corpusid" in record:
            abstract, sections, cited = read_annotations(record, self.linker, self.counts)
        else:
            parse = record.get("pdf_parse") or record
            abstract, sections, cited = read_parse(parse, self.linker, self.counts)
        if about.get("abstract"):  # from the publisher: better than what was found in a PDF file
            abstract = plain(about["abstract"].replace(":::", "\n"), self.counts)
        title = about.get("title", "")
        return RawPaper(
            paper_id=paper_id,
            title=title,
            year=about.get("year"),
            abstract=self.abstract_or_title(abstract, bool(sections), title),
            sections=sections,
            authors=tuple(about.get("authors", ())),
            venue=about.get("venue", ""),
            references=tuple(dict.fromkeys([*cited, *about.get("references", ())])),
        )


def _is_full_text(record: dict[str, Any]) -> bool:
    return any(key in record for key in _FULL_TEXT)


def _id(record: dict[str, Any]) -> str:
    return required_id(record["corpusid"] if "corpusid" in record else record["paper_id"])


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a record says beside its text: a full text of the API says its title alone."""
    title = text_of(record.get("title"))
    if not title and "content" in record:
        title = AnnotatedText(record["content"], Counter()).first("title")
    abstract = record.get("abstract")
    journal = record.get("journal")
    journal = journal.get("name") if isinstance(journal, dict) else journal
    return {
        "title": title,
        "year": year_of(record.get("year")),
        "authors": names_of(record.get("authors")),
        "venue": text_of(record.get("venue")) or text_of(journal),
        "abstract": text_of(abstract) if isinstance(abstract, str) else "",
        "references": [required_id(i) for i in record.get("outbound_citations") or ()],
    }


def _identifiers(record: dict[str, Any]) -> Identifiers:
    """Return the identifiers in a record; the API names them in its own ways, old and new."""
    outside = record.get("externalids") or (record.get("openaccessinfo") or {}).get("externalids")
    ids = {key.lower(): value for key, value in (outside or {}).items()}

    def known(new: str, old: str) -> str:
        return str(ids.get(new) or record.get(old) or "")

    return Identifiers(
        doi=known("doi", "doi"),
        arxiv=known("arxiv", "arxiv_id"),
        pubmed=known("pubmed", "pubmed_id"),
        pmc=known("pubmedcentral", "pmc_id"),
        title=_metadata(record)["title"],
    )
