"""Reader of PubMed: what it saves as ``.nbib`` or ``.txt``, its XML, and the files of its baseline.

A paper's id is its PubMed id. References that PubMed gives with such an id are the citations: for
the global task. The full stop behind a title, and the brackets around a translated one, are cut.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import page_range
from mpbert.corpus.raw.exports import Export, ExportReader, printed_name, spoken_name
from mpbert.corpus.raw.files import open_file
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.tagged_lines import TagForm, Tags, first_of, tagged_records
from mpbert.corpus.raw.text_files import read_text
from mpbert.corpus.raw.values import reading
from mpbert.corpus.raw.xml_records import text_in, xml_records

_FORM = TagForm(
    line=re.compile(r"([A-Z][A-Z0-9]{1,3}) *- ?(.*)$"),
    first="PMID",
    last="",
    expected="'PMID- ' and a number",
)
_SUFFIX = re.compile(r", (.+) (Jr|Sr|I{2,3}|IV|2nd|3rd)\.?$")  # of a name, behind the given ones
_DOI = re.compile(r"(\S+) \[doi\]")
_NO_TITLE = ("Not Available", "In Process Citation")


@READERS.register
class PubmedReader(ExportReader):
    """Reads ``.nbib``, ``.txt`` or ``.xml`` of PubMed, or a folder of them."""

    name = "pubmed"
    suffixes = (".nbib", ".xml", ".txt")
    expected = "a record of PubMed with a PMID and a title"
    has_keys = False  # but numbers of PubMed

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records.

        :raises CorpusError: the file is broken.
        """
        with open_file(file) as opened:
            is_xml = opened.read(99).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
        if not is_xml:
            for place, tags in tagged_records(file, read_text(file), _FORM, self.noted):
                yield place, _of_tags(tags)
            return
        for place, record in xml_records(file, ("PubmedArticle", "PubmedBookArticle")):
            with reading(place, self.expected):
                export = _of_element(record)
            yield place, export


def _of_tags(tags: Tags) -> Export:
    names = [*(tags.get("FAU") or tags.get("AU") or tags.get("FED") or ()), *tags.get("CN", ())]
    dois = filter(None, (_DOI.match(value) for n in ("LID", "AID") for value in tags.get(n, ())))
    venue = first_of(tags, ("JT", "TA", "BTI"))
    pmid = first_of(tags, ("PMID",))
    return Export(
        key=_key(pmid),
        title=_title(first_of(tags, ("TI",)), first_of(tags, ("TT", "BTI"))),
        abstract=first_of(tags, ("AB",)),
        year=first_of(tags, ("DP", "DEP")),
        authors=tuple(printed_name(_SUFFIX.sub(r", \1, \2", name)) for name in names),
        venue=venue,
        doi=next((found[1] for found in dois), ""),
        kind=_kind(tags.get("PT", ()), bool(tags.get("JT") or tags.get("TA")), "TI" in tags),
        volume=first_of(tags, ("VI",)),
        number=first_of(tags, ("IP",)),
        pages=first_of(tags, ("PG",)),
        publisher=first_of(tags, ("PB",)),
        tags=(*tags.get("OT", ()), *(term.replace("*", "") for term in tags.get("MH", ()))),
        known=Identifiers(pubmed=pmid, pmc=first_of(tags, ("PMC",))),
    )


def _of_element(record: Element) -> Export:
    def text(*paths: str) -> str:
        return next(filter(None, (text_in(record.find(f".//{path}")) for path in paths)), "")

    is_book = record.tag == "PubmedBookArticle"
    own = "PubmedBookData" if is_book else "PubmedData"
    ids = {
        each.get("IdType"): text_in(each)
        for each in record.findall(f"{own}/ArticleIdList/ArticleId")
    }
    located = {e.get("EIdType"): text_in(e) for e in record.iter("ELocationID")}
    head = record.find("BookDocument" if is_book else "MedlineCitation")
    pmid = text_in(head.find("PMID"))
    kinds = [text_in(each) for each in record.iter("PublicationType")]
    return Export(
        key=_key(pmid),
        title=_title(text("ArticleTitle"), text("VernacularTitle", "BookTitle")),
        abstract=_abstract(head),
        year=text("JournalIssue/PubDate", "ArticleDate/Year", "PubDate"),
        authors=tuple(filter(None, map(_name, _author_list(head)))),
        venue=text("Journal/Title", "MedlineTA", "BookTitle"),
        doi=located.get("doi") or ids.get("doi", ""),
        references=tuple(
            Identifiers(corpus_id=_key(text_in(each)))
            for each in record.findall(f"{own}/ReferenceList//ArticleId")
            if each.get("IdType") == "pubmed"
        ),
        kind=_kind(kinds, not is_book, bool(text("ArticleTitle"))),
        volume=text("JournalIssue/Volume"),
        number=text("JournalIssue/Issue"),
        pages=text("MedlinePgn")
        or page_range(text("Pagination/StartPage"), text("Pagination/EndPage")),
        publisher=text("PublisherName"),
        tags=tuple(text_in(each) for n in ("Keyword", "DescriptorName") for each in head.iter(n)),
        known=Identifiers(pubmed=pmid, pmc=ids.get("pmc", "")),
    )


def _author_list(head: Element) -> list[Element]:
    """Return the authors of a paper; its editors where it has none."""
    lists = [head.find("Article/AuthorList"), *head.findall("AuthorList")]
    lists += [head.find("Book/AuthorList")]
    return next((found.findall("Author") for found in lists if found is not None), [])


def _name(author: Element) -> str:
    if group := text_in(author.find("CollectiveName")):
        return group
    given = text_in(author.find("ForeName")) or text_in(author.find("Initials"))
    return spoken_name(text_in(author.find("LastName")), given, text_in(author.find("Suffix")))


def _abstract(head: Element) -> str:
    """Return the abstract, its parts behind their headings, as ``.nbib`` has it."""
    found = head.find("Article/Abstract")
    found = head.find("Abstract") if found is None else found
    parts = [] if found is None else found.findall("AbstractText")
    labels = (f"{label}: " if (label := part.get("Label")) else "" for part in parts)
    return " ".join(label + text_in(part) for label, part in zip(labels, parts, strict=True))


def _title(title: str, other: str) -> str:
    """Return a title as it is printed in the paper; the other where there is none of its own."""
    title = title.removesuffix(".")
    if title.startswith("[") and title.endswith("]"):
        title = title[1:-1].removesuffix(".")
    return other.removesuffix(".") if not title or title in _NO_TITLE else title


def _kind(kinds: list[str], has_journal: bool, has_title: bool) -> str:
    if "Preprint" in kinds:
        return "misc"
    return "article" if has_journal else "incollection" if has_title else "book"


def _key(pmid: str) -> str:
    return f"pmid:{pmid}" if pmid else ""
