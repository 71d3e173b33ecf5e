"""What the readers of XML have in common: from a head, references and blocks to a paper."""

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from lxml import etree

from mpbert.corpus.formats.scholarly_xml.citations import mark_blocks
from mpbert.corpus.formats.scholarly_xml.files import local_name, read_head, read_root
from mpbert.corpus.formats.scholarly_xml.references import Entry, ReferenceList
from mpbert.corpus.formats.scholarly_xml.text import Block, Markup, blocks_of
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.identifiers import Identifiers, plain_doi
from mpbert.corpus.raw.paper_files import PaperFileReader
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits

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


class XmlReader(PaperFileReader):
    """Reads a folder of XML files; a broken file is named, counted and left out.

    :cvar root_tag: tag of the root, without namespace.
    :cvar head_tag: tag of the element that :meth:`read_paper_head` needs.
    :cvar markup: how text is marked up.
    """

    default_splits = YearSplits(valid_year=2012, test_year=2013)
    root_tag: ClassVar[str]
    head_tag: ClassVar[str]
    markup: ClassVar[Markup]

    @abstractmethod
    def read_paper_head(self, head: etree._Element) -> Head:
        """Return what the head says; ``head`` may be a copy without the rest of the file."""

    @abstractmethod
    def iter_references(self, root: etree._Element) -> Iterator[Entry]:
        """Yield the entries of the list of references."""

    @abstractmethod
    def iter_sections(self, root: etree._Element) -> Iterator[tuple[str, list[Block]]]:
        """Yield headings and paragraphs; the first of all is the abstract, which may be empty."""

    @abstractmethod
    def heading_of(self, section: etree._Element) -> str:
        """Return the heading of a section; empty where it has none."""

    def sections_in(self, part: etree._Element, tag: str) -> Iterator[tuple[str, list[Block]]]:
        """Yield the text of a part and of the sections in it, in order.

        :param tag: of a section inside of another.
        """
        heading, blocks = self.heading_of(part), []
        for child in part:
            if local_name(child) == tag:
                yield heading, blocks
                heading, blocks = "", []
                yield from self.sections_in(child, tag)
            else:
                blocks += blocks_of(child, self.markup, self.counts)
        yield heading, blocks

    def identifiers_of(self, file: Path) -> Identifiers:
        """Return what the head of a file says; the rest is not read."""
        return self.read_paper_head(read_head(file, self.root_tag, self.head_tag)).identifiers

    def paper_of(self, file: Path, paper_id: str) -> RawPaper:
        """Return the paper of a file, with its citations marked and resolved."""
        root = read_root(file, self.root_tag)
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
            paper_id=paper_id,
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


def year_of(texts: Iterator[str | None]) -> int | None:
    """Return the year in the first of these dates that holds one."""
    for text in texts:
        if found := _YEAR.search(text or ""):
            return int(found.group())
    return None
