"""Reader of GROBID's TEI: a folder of ``*.tei.xml``, one paper each, as made from PDF files.

GROBID numbers the entries of the list of references (``xml:id="b3"``) and points at them from the
text (``<ref type="bibr" target="#b3">``). Where it splits sentences (``<s>``) they are taken over,
but for those that it ends inside a citation.
"""

from collections.abc import Iterable, Iterator

from lxml import etree

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.scholarly_xml.files import local_name
from mpbert.corpus.formats.scholarly_xml.papers import Head, XmlReader, year_of
from mpbert.corpus.formats.scholarly_xml.references import Entry, Work
from mpbert.corpus.formats.scholarly_xml.text import Block, Markup, blocks_of
from mpbert.corpus.published import Publication, page_range
from mpbert.corpus.raw.identifiers import Identifiers

_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
# parts of the back that are text of the paper; the others thank, declare or list
_TEXT_OF_BACK = ("annex", "appendix")


def _targets_of(element: etree._Element) -> tuple[str, ...] | None:
    if local_name(element) != "ref" or element.get("type") != "bibr":
        return None
    return tuple(target.lstrip("#") for target in element.get("target", "").split())


@READERS.register
class TeiReader(XmlReader):
    """Reads GROBID's output, plain or packed; with or without sentences and coordinates."""

    name = "tei"
    suffixes = (".grobid.tei.xml", ".tei.xml", ".xml")
    root_tag = "TEI"
    head_tag = "teiHeader"
    markup = Markup(
        blocks=frozenset({"p", "item", "list", "quote", "div"}),
        dropped=frozenset({"figure", "table", "formula", "note"}),
        sentences=frozenset({"s"}),
        is_silent=lambda element: local_name(element) in ("head", "label", "graphic"),
        targets_of=_targets_of,
    )

    def read_paper_head(self, head: etree._Element) -> Head:
        """Return what the ``teiHeader`` says."""
        source = head.find("{*}fileDesc/{*}sourceDesc/{*}biblStruct")
        source = etree.Element("biblStruct") if source is None else source
        title = _text(head.find("{*}fileDesc/{*}titleStmt/{*}title")) or _title(source)
        dates = head.iterfind("{*}fileDesc/{*}publicationStmt/{*}date")
        return Head(
            title=title,
            year=_year([*dates, *source.iterfind(".//{*}imprint/{*}date")]),
            authors=_authors(source),
            venue=_text(source.find("{*}monogr/{*}title")),
            identifiers=_identifiers(source, title),
            published=_published(source),
        )

    def iter_references(self, root: etree._Element) -> Iterator[Entry]:
        """Yield the entries of ``listBibl``."""
        for entry in root.iterfind("{*}text//{*}listBibl/{*}biblStruct"):
            work = Work(
                identifiers=_identifiers(entry, _title(entry)),
                authors=_authors(entry),
                year=_year(entry.iterfind(".//{*}imprint/{*}date")),
            )
            yield Entry(entry.get(_XML_ID, ""), (work,))

    def iter_sections(self, root: etree._Element) -> Iterator[tuple[str, list[Block]]]:
        """Yield the abstract, the divisions of the body, and those of appendices."""
        abstract = root.find("{*}teiHeader/{*}profileDesc/{*}abstract")
        yield "", [] if abstract is None else blocks_of(abstract, self.markup, self.counts)
        back = root.iterfind("{*}text/{*}back/{*}div")
        appendices = [part for part in back if part.get("type") in _TEXT_OF_BACK]
        for part in (*root.findall("{*}text/{*}body")[:1], *appendices):
            yield from self.sections_in(part, "div")

    def heading_of(self, section: etree._Element) -> str:
        """Return the head of a division, whose number is an attribute."""
        return _text(section.find("{*}head"))


def _text(element: etree._Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _title(entry: etree._Element) -> str:
    """Return the title of the paper, or of the book where it is no part of one."""
    for path in ("{*}analytic/{*}title", "{*}monogr/{*}title"):
        if title := _text(entry.find(path)):
            return title
    return ""


def _published(source: etree._Element) -> Publication:
    """Return the journal's issue or the book's pages, as far as GROBID found them."""
    scopes = {s.get("unit"): s for s in source.iterfind("{*}monogr/{*}imprint/{*}biblScope")}
    pages = scopes.get("page")
    journal = source.find("{*}monogr/{*}title[@level='j']")
    meeting = source.find("{*}monogr/{*}meeting")
    range_of = ("", "") if pages is None else (pages.get("from", ""), pages.get("to", ""))
    return Publication(
        kind="article" if _text(journal) else "inproceedings" if meeting is not None else "",
        volume=_text(scopes.get("volume")),
        number=_text(scopes.get("issue")),
        pages=page_range(*range_of) or _text(pages),
        publisher=_text(source.find("{*}monogr/{*}imprint/{*}publisher")),
    )


def _authors(source: etree._Element) -> tuple[str, ...]:
    """Return the authors; those of a book stand beside its title."""
    for path in ("{*}analytic/{*}author/{*}persName", "{*}monogr/{*}author/{*}persName"):
        if names := tuple(filter(None, map(_name, source.iterfind(path)))):
            return names
    return ()


def _year(dates: Iterable[etree._Element]) -> int | None:
    return year_of(text for date in dates for text in (date.get("when"), _text(date)))


def _name(person: etree._Element) -> str:
    parts = [*person.iterfind("{*}forename"), *person.iterfind("{*}surname")]
    return " ".join(text for part in parts if (text := _text(part)))


def _identifiers(entry: etree._Element, title: str) -> Identifiers:
    known: dict[str, str] = {}
    for idno in entry.iter("{*}idno"):
        known.setdefault((idno.get("type") or "").lower(), _text(idno))
    arxiv = known.get("arxiv")
    if not arxiv:  # printed where the name of the journal would be, or as a link
        places = [_text(element) for element in entry.iter("{*}title", "{*}note")]
        places += [element.get("target", "") for element in entry.iter("{*}ptr")]
        arxiv = " ".join(text for text in places if "arxiv" in text.lower())
    return Identifiers(
        doi=known.get("doi"),
        arxiv=arxiv,
        pubmed=known.get("pmid"),
        pmc=known.get("pmcid"),
        title=title,
    )
