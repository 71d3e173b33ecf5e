"""Reader of JATS, the XML of PubMed Central and of publishers: a folder of files, one paper each.

Read are ``front``, ``body``, appendices and ``ref-list`` of the article itself; articles inside of
it, such as its reviews, are not. Citations are ``<xref ref-type="bibr" rid="B3">``.
"""

from collections.abc import Iterator

from lxml import etree

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.scholarly_xml.files import local_name
from mpbert.corpus.formats.scholarly_xml.papers import Head, XmlReader, year_of
from mpbert.corpus.formats.scholarly_xml.references import Entry, Work
from mpbert.corpus.formats.scholarly_xml.text import Block, Markup, blocks_of, plain_text
from mpbert.corpus.published import Publication, page_range
from mpbert.corpus.raw.identifiers import Identifiers

_HREF = "{http://www.w3.org/1999/xlink}href"
_NAMES = ("{*}name", "{*}string-name", "{*}collab")
_NO_NAMES = ("contrib-group", "contrib-id", "xref", "aff", "fn", "email")  # within a name
_CITATIONS = ("element-citation", "mixed-citation", "nlm-citation", "citation")
_SILENT = ("title", "label", "tex-math", "annotation", "inline-graphic", "object-id")
_MARKS = ("fn", "table-fn", "aff", "corresp", "author-notes")  # of footnotes, as superscripts
_ABSTRACTS = (None, "main", "structured")  # others are teasers, highlights, summaries for laymen
# dates that say when a copy was made, not when the paper appeared
_DATES_OF_COPIES = ("pmc-release", "nihms-submitted", "preprint", "retracted", "corrected")


def _targets_of(element: etree._Element) -> tuple[str, ...] | None:
    if local_name(element) != "xref" or element.get("ref-type") != "bibr":
        return None
    return tuple(element.get("rid", "").split())


def _is_silent(element: etree._Element) -> bool:
    if local_name(element) == "xref":
        return element.get("ref-type") in _MARKS
    return local_name(element) in _SILENT


@READERS.register
class JatsReader(XmlReader):
    """Reads JATS and the NLM formats before it, plain or packed, namespaces or not."""

    name = "jats"
    suffixes = (".nxml", ".xml")
    root_tag = "article"
    head_tag = "front"
    markup = Markup(
        blocks=frozenset(
            "p sec list list-item def-list def-item disp-quote boxed-text verse-group abstract "
            "statement app".split()
        ),
        dropped=frozenset(
            "fig fig-group table-wrap table-wrap-group array disp-formula disp-formula-group fn "
            "supplementary-material media graphic code preformat chem-struct-wrap ref-list".split()
        ),
        sentences=frozenset(),
        is_silent=_is_silent,
        targets_of=_targets_of,
    )

    def read_paper_head(self, head: etree._Element) -> Head:
        """Return what ``front`` says."""
        meta = head.find("{*}article-meta")
        meta = etree.Element("article-meta") if meta is None else meta
        title = plain_text(meta.find("{*}title-group/{*}article-title"), self.markup)
        ids = {
            (element.get("pub-id-type") or "").lower(): (element.text or "").strip()
            for element in meta.iterfind("{*}article-id")
        }
        return Head(
            title=title,
            year=_first_year(meta),
            authors=tuple(filter(None, map(_name, _contributors(meta)))),
            venue=plain_text(head.find(".//{*}journal-title"), self.markup),
            identifiers=_identifiers(ids, title),
            published=_published(head, meta),
        )

    def iter_references(self, root: etree._Element) -> Iterator[Entry]:
        """Yield the entries of all lists of references; one ``ref`` may hold several citations."""
        for ref in root.iterfind("{*}back//{*}ref"):
            works = []
            for child in ref:
                if local_name(child) == "citation-alternatives":  # one citation, marked up twice
                    child = next(child.iterchildren(tag=etree.Element), child)
                if local_name(child) in _CITATIONS:
                    works.append(self._work(child))
            yield Entry(ref.get("id", ""), tuple(works))

    def _work(self, citation: etree._Element) -> Work:
        ids: dict[str, str] = {}
        for element in citation.iter("{*}pub-id", "{*}ext-link", "{*}uri"):
            link = element.get(_HREF) or element.text or ""
            if kind := element.get("pub-id-type"):
                ids.setdefault(kind.lower(), (element.text or "").strip())
            elif "doi.org/" in link:
                ids.setdefault("doi", link)
            elif "arxiv.org/" in link:
                ids.setdefault("arxiv", link)
        tags = ("article-title", "part-title", "chapter-title", "data-title", "source")
        titles = (plain_text(citation.find(f".//{{*}}{tag}"), self.markup) for tag in tags)
        return Work(
            identifiers=_identifiers(ids, next(filter(None, titles), "")),
            authors=tuple(filter(None, map(_name, _persons(citation)))),
            year=year_of(iter([citation.findtext(".//{*}year")])),
            own_id=citation.get("id", ""),
        )

    def iter_sections(self, root: etree._Element) -> Iterator[tuple[str, list[Block]]]:
        """Yield the abstract, the sections of the body with those inside of them, appendices."""
        abstracts = root.iterfind("{*}front/{*}article-meta/{*}abstract")
        plain = next((a for a in abstracts if a.get("abstract-type") in _ABSTRACTS), None)
        yield "", [] if plain is None else blocks_of(plain, self.markup, self.counts)
        for path in ("{*}body", "{*}back/{*}app-group/{*}app", "{*}back/{*}app"):
            for part in root.iterfind(path):
                yield from self.sections_in(part, "sec")

    def heading_of(self, section: etree._Element) -> str:
        """Return the title of a section."""
        return plain_text(section.find("{*}title"), self.markup)


def _published(head: etree._Element, meta: etree._Element) -> Publication:
    """Return the issue that the article is in."""

    def text(place: etree._Element, path: str) -> str:
        return " ".join((place.findtext(path) or "").split())

    first = text(meta, "{*}fpage") or text(meta, "{*}elocation-id")
    return Publication(
        kind="article",
        volume=text(meta, "{*}volume"),
        number=text(meta, "{*}issue"),
        pages=page_range(first, text(meta, "{*}lpage")),
        publisher=text(head, ".//{*}publisher-name"),
    )


def _first_year(meta: etree._Element) -> int | None:
    """Return the year in which a paper first appeared, on paper or on the web."""
    years = []
    for date in meta.iterfind("{*}pub-date"):
        kinds = (date.get("pub-type"), date.get("date-type"))
        if not any(kind in _DATES_OF_COPIES for kind in kinds):
            printed = [date.findtext("{*}year"), date.get("iso-8601-date")]
            years.append(year_of(iter([*printed, date.findtext("{*}string-date")])))
    return min((year for year in years if year is not None), default=None)


def _contributors(meta: etree._Element) -> list[etree._Element]:
    """Return the names of the authors, each in one script."""
    names = []
    for contributor in meta.iterfind("{*}contrib-group/{*}contrib"):
        if contributor.get("contrib-type", "author") == "author":
            names += list(contributor.iter(*_NAMES))[:1]
    return names


def _persons(citation: etree._Element) -> list[etree._Element]:
    """Return the names of the authors of a cited work, without those of its editors."""
    groups = citation.findall("{*}person-group")
    groups = [g for g in groups if g.get("person-group-type", "author") == "author"] or [citation]
    return [name for group in groups for name in group.iterchildren(*_NAMES)]


def _name(name: etree._Element) -> str:
    parts = (name.findtext(f"{{*}}{tag}", "") for tag in ("given-names", "surname", "suffix"))
    return " ".join(" ".join(parts).split()) or " ".join(_own_text(name).split())


def _own_text(name: etree._Element) -> str:
    """Return the text of a name, without the members of a group and what marks affiliations."""
    parts = [name.text or ""]
    for child in name.iterchildren():
        if isinstance(child.tag, str) and local_name(child) not in _NO_NAMES:
            parts.append(_own_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _identifiers(ids: dict[str, str], title: str) -> Identifiers:
    return Identifiers(
        doi=ids.get("doi"),
        arxiv=ids.get("arxiv"),
        pubmed=ids.get("pmid"),
        pmc=ids.get("pmcid") or ids.get("pmc"),
        title=title,
    )
