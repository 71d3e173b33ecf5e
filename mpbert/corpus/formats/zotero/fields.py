"""What the fields of an item of Zotero say of a paper: of its database, of Better BibTeX JSON."""

import re
from collections.abc import Iterator
from typing import Any

from mpbert.corpus.formats.zotero.database import Item
from mpbert.corpus.published import kind_of
from mpbert.corpus.raw.exports import Export, spoken_name
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.values import id_of, printed, text_of

NO_WORKS = ("attachment", "note", "annotation")  # types of items
_KINDS = {  # types of Zotero -> those of CSL
    **{"journalArticle": "article-journal", "magazineArticle": "article-magazine"},
    **{"newspaperArticle": "article-newspaper", "conferencePaper": "paper-conference"},
    **{"bookSection": "chapter", "encyclopediaArticle": "chapter", "dictionaryEntry": "chapter"},
    **{"computerProgram": "software", "blogPost": "post", "document": "manuscript"},
}
# fields of one meaning, the first that is there counts
TITLE = ("title", "caseName", "nameOfAct", "subject")
_VENUE = (
    *("publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName", "encyclopediaTitle"),
    *("dictionaryTitle", "blogTitle", "websiteTitle", "sessionTitle", "forumTitle", "programTitle"),
    *("university", "institution", "repository"),
)
_DATE = ("date", "issueDate", "filingDate", "dateDecided", "dateEnacted")
_NUMBER = ("issue", "number", "reportNumber")
_PUBLISHER = ("publisher", "university", "institution", "repository")
_HELPERS = ("editor", "seriesEditor", "translator", "contributor", "reviewedAuthor", "bookAuthor")


def export_of(item: Item) -> Export:
    """Return the record of an item, without its files."""

    def of(*names: str) -> str:
        return next(filter(None, (item.values.get(name, "").strip() for name in names)), "")

    return Export(
        key=item.citation_key,
        title=of(*TITLE),
        abstract=of("abstractNote"),
        year=of(*_DATE),
        authors=tuple(_authors(item)),
        venue=of(*_VENUE),
        doi=of("DOI") or _in_extra(of("extra"), "doi"),
        kind=kind_of(_KINDS.get(item.kind, item.kind)),
        volume=of("volume"),
        number=of(*_NUMBER),
        pages=of("pages"),
        publisher=of(*_PUBLISHER),
        tags=tuple(item.tags),
        collections=tuple(item.collections),
        known=Identifiers(
            arxiv=of("archiveID") or _in_extra(of("extra"), "arxiv"),
            pubmed=of("PMID") or _in_extra(of("extra"), "pmid"),
            pmc=of("PMCID") or _in_extra(of("extra"), "pmcid"),
        ),
    )


def item_of(found: dict[str, Any]) -> Item:
    """Return an item of Better BibTeX JSON, without its files and notes.

    :raises TypeError: a field is of another type.
    """
    people = [
        (
            text_of(each.get("creatorType")),
            text_of(each.get("lastName") or each.get("name")),
            text_of(each.get("firstName")),
        )
        for each in found.get("creators") or ()
    ]
    return Item(
        key=printed(found.get("itemKey") or found.get("key")),
        kind=text_of(found["itemType"]),
        values={name: printed(value) for name, value in found.items()},
        people=people,
        tags=[text_of(tag.get("tag")) for tag in found.get("tags") or ()],
        citation_key=id_of(found.get("citationKey") or found.get("citekey")),
    )


def _authors(item: Item) -> Iterator[str]:
    """Yield the names of the authors; of its editors where it has none."""
    roles = {role for role, _, _ in item.people}
    main = {"author"} & roles or roles.difference(_HELPERS) or {"editor"}
    return (spoken_name(family, given) for role, family, given in item.people if role in main)


def _in_extra(extra: str, name: str) -> str:
    """Return what stands behind a name in the field ``extra``, one a line."""
    found = re.search(rf"^\s*{name}\s*:\s*(.+)$", extra, re.IGNORECASE | re.MULTILINE)
    return found[1].strip() if found else ""
