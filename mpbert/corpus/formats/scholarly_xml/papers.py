"""What the readers of XML have in common: a folder of files, one paper in each.

The heads of all files are read first, so that references can be resolved; then each file is parsed
on its own, in any process. A paper's id is the name of its file.
"""

import logging
import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from lxml import etree

from mpbert.corpus.formats.base import Reader
from mpbert.corpus.formats.scholarly_xml.citations import mark_blocks
from mpbert.corpus.formats.scholarly_xml.files import read_head, read_root
from mpbert.corpus.formats.scholarly_xml.references import Entry, ReferenceList
from mpbert.corpus.formats.scholarly_xml.text import Block, Markup
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.files import FileSet, Source, id_of_file, walk
from mpbert.corpus.raw.identifiers import Identifiers, plain_doi
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits
from mpbert.foundation.errors import CorpusError

logger = logging.getLogger(__name__)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Head:
    """What the head of a file says of its paper.

    :param year: None where it is not printed.
    :param published: where it appeared, without the DOI, which is among the identifiers.
    """

    title: str
    year: int | None
    authors: tuple[str, ...]
    venue: str
    identifiers: Identifiers
    published: Publication = Publication()


class XmlReader(Reader):
    """Reads a folder of XML files; a broken file is named, counted and left out.

    :cvar suffixes: how names of files end, the longest first; they are no part of ids.
    :cvar root_tag: tag of the root, without namespace.
    :cvar head_tag: tag of the element that :meth:`read_paper_head` needs.
    :cvar markup: how text is marked up.
    :ivar ids: of files whose papers are not called by their names.
    """

    default_splits = YearSplits(valid_year=2012, test_year=2013)
    suffixes: ClassVar[tuple[str, ...]]
    root_tag: ClassVar[str]
    head_tag: ClassVar[str]
    markup: ClassVar[Markup]

    def __init__(self) -> None:
        super().__init__()
        self.linker = Linker()
        self.ids: dict[Path, str] = {}
        self._ids: dict[Path, str] = {}

    @abstractmethod
    def read_paper_head(self, head: etree._Element) -> Head:
        """Return what the head says; ``head`` may be a copy without the rest of the file."""

    @abstractmethod
    def iter_references(self, root: etree._Element) -> Iterator[Entry]:
        """Yield the entries of the list of references."""

    @abstractmethod
    def iter_sections(self, root: etree._Element) -> Iterator[tuple[str, list[Block]]]:
        """Yield headings and paragraphs; the first of all is the abstract, which may be empty."""

    def prepare(self, path: Source) -> None:
        """Read all heads.

        :raises CorpusError: no file can be read; the first problem is named.
        """
        first_problem: CorpusError | None = None
        files = walk(path, self.suffixes)
        for file in files:
            try:
                head = self.read_paper_head(read_head(file, self.root_tag, self.head_tag))
            except CorpusError as error:
                first_problem = first_problem or error
                self._leave_out(error)
                continue
            paper_id = self.ids.get(file) or id_of_file(file, path, self.suffixes)
            if self.linker.add(paper_id, head.identifiers):
                self._ids[file] = paper_id
            else:
                self.counts["files_with_the_name_of_another"] += 1
        if first_problem is not None and not self._ids and not isinstance(path, FileSet):
            raise CorpusError(f"{first_problem} (and no other of {len(files)} files can be read)")

    def read_records(self, path: Source) -> Iterator[object]:
        """Yield the paths of the files whose head could be read, by name."""
        return iter(self._ids)

    def paper_id_of(self, record: object) -> str:
        """Return the id of the paper in a file."""
        return self._ids[record]

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a file; None, and a line in the log, where it is broken."""
        try:
            root = read_root(record, self.root_tag)
        except CorpusError as error:
            self._leave_out(error)
            return None
        head = self.read_paper_head(root.find(f".//{{*}}{self.head_tag}"))
        references = ReferenceList()
        for entry in self.iter_references(root):
            known = [self.linker.resolve(work.identifiers, self.counts) for work in entry.works]
            references.add(entry, known)
            self.counts["entries_of_references_without_a_work"] += not known
        sections = list(self.iter_sections(root))
        blocks = [block for _, blocks in sections for block in blocks]
        sentences = iter(mark_blocks(blocks, references, head.year or 0, self.counts))
        marked = [
            (heading, tuple(s for _ in blocks for s in next(sentences)))
            for heading, blocks in sections
        ]
        self.counts["papers_without_title"] += not head.title
        self.counts["papers_without_list_of_references"] += not len(references)
        return RawPaper(
            paper_id=self._ids[record],
            title=head.title,
            year=head.year,
            abstract=marked[0][1],
            sections=tuple(RawSection(heading, s) for heading, s in marked[1:] if s),
            authors=head.authors,
            venue=head.venue,
            references=references.cited_ids,
            published=replace(
                head.published, doi=plain_doi(head.identifiers.doi or ""), id_is_key=False
            ),
        )

    def _leave_out(self, error: CorpusError) -> None:
        self.counts["files_left_out_as_broken"] += 1
        logger.warning("left out: %s", error)


def year_of(texts: Iterator[str | None]) -> int | None:
    """Return the year in the first of these dates that holds one."""
    for text in texts:
        if found := _YEAR.search(text or ""):
            return int(found.group())
    return None
