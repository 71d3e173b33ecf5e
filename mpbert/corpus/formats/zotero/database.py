"""What Zotero's database says of each item. A copy is read, so Zotero may run."""

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpbert.corpus.raw.files import find_file, open_file, without_packing
from mpbert.foundation.errors import CorpusError

_TRIES = 3  # to copy the file while nobody writes it
_TABLES = (
    *("items", "itemTypes", "fields", "itemData", "itemDataValues", "creators", "itemCreators"),
    *("creatorTypes", "itemAttachments", "itemNotes", "deletedItems", "libraries", "tags"),
    *("itemTags", "collections", "collectionItems"),
)
_ITEMS = """
    SELECT itemID, items.key, typeName FROM items JOIN itemTypes USING (itemTypeID)
    JOIN libraries USING (libraryID) WHERE libraries.type != 'feed'
    AND typeName NOT IN ('attachment', 'note', 'annotation')
    AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID"""
_VALUES = """
    SELECT itemID, fieldName, value FROM itemData JOIN fields USING (fieldID)
    JOIN itemDataValues USING (valueID)"""
_PEOPLE = """
    SELECT itemID, creatorType, lastName, firstName FROM itemCreators
    JOIN creators USING (creatorID) JOIN creatorTypes USING (creatorTypeID) ORDER BY orderIndex"""
_FILES = """
    SELECT parentItemID, items.key, path FROM itemAttachments JOIN items USING (itemID)
    WHERE path IS NOT NULL AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID"""
_NOTES = """
    SELECT parentItemID, note FROM itemNotes
    WHERE itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY itemID"""
_TAGS = "SELECT itemID, name FROM itemTags JOIN tags USING (tagID) ORDER BY name"
_COLLECTIONS = """
    WITH RECURSIVE within (itemID, collectionID) AS (
        SELECT itemID, collectionID FROM collectionItems UNION
        SELECT itemID, parentCollectionID FROM within JOIN collections USING (collectionID)
        WHERE parentCollectionID IS NOT NULL)
    SELECT itemID, collectionName FROM within JOIN collections USING (collectionID)
    WHERE collectionID NOT IN (SELECT collectionID FROM deletedCollections)
    ORDER BY collectionName"""
_GROUPS = "SELECT itemID, name FROM items JOIN main.groups USING (libraryID)"
_LATER = {  # tables that some versions lack -> their columns
    "deletedCollections": "collectionID",
    "groups": "libraryID, name",
}
_KEY_IN_EXTRA = re.compile(r"^\s*(?:citation key|bibtex)\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)


@dataclass
class Item:
    """An item of a library.

    :param values: by names of fields.
    :param people: (role, family, given), in their order.
    :param files: (key of the attachment, its path as Zotero keeps it).
    :param collections: that hold it, those in which these are, and the group that it is of.
    """

    key: str
    kind: str
    values: dict[str, str] = field(default_factory=dict)
    people: list[tuple[str, str, str]] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    collections: list[str] = field(default_factory=list)
    citation_key: str = ""


def read_items(path: Path) -> list[Item]:
    """Return the items of all libraries, my own and those of groups; no feed, and nothing deleted.

    :raises CorpusError: the database is damaged, is being written, or is of another version.
    """
    with _opened(path) as database:
        kinds = "SELECT name FROM sqlite_master WHERE type = 'table'"
        there = {name for (name,) in database.execute(kinds)}
        missing = set(_TABLES) - there
        columns = {name for _, name, *_ in database.execute("PRAGMA table_info(itemAttachments)")}
        if missing or "parentItemID" not in columns:
            raise CorpusError(
                f"{path}: found a database without {min(missing, default='parentItemID')}; expected"
                f" that of Zotero 5 or later: open it with a current Zotero once"
            )
        for name in _LATER.keys() - there:
            database.execute(f"CREATE TABLE main.{name} ({_LATER[name]})")  # of the copy
        items = {number: Item(str(key), kind) for number, key, kind in database.execute(_ITEMS)}
        _fill(database, items)
    keys = _keys_of_better_bibtex(path)
    for number, item in items.items():
        found = _KEY_IN_EXTRA.search(item.values.get("extra", ""))
        own = item.values.get("citationKey") or (found[1] if found else "")
        item.citation_key = own or keys.get(number, "")
    return list(items.values())


def _fill(database: sqlite3.Connection, items: dict[int, Item]) -> None:
    """Add all that is known to the items, by their numbers."""
    for number, name, value in database.execute(_VALUES):
        if number in items:
            items[number].values[name] = str(value)
    for query, name in (
        *((_PEOPLE, "people"), (_FILES, "files"), (_NOTES, "notes"), (_TAGS, "tags")),
        *((_COLLECTIONS, "collections"), (_GROUPS, "collections")),
    ):
        for number, *found in database.execute(query):
            if number in items:
                texts = tuple("" if text is None else str(text) for text in found)
                getattr(items[number], name).append(texts if len(texts) > 1 else texts[0])


def _keys_of_better_bibtex(path: Path) -> dict[int, str]:
    """Return number of an item -> key, from the database of Better BibTeX; none without one."""
    beside = find_file(path.parent, "better-bibtex.sqlite", is_needed=False)
    if beside is None:
        return {}
    with _opened(beside) as database:
        kinds = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = {name for (name,) in database.execute(kinds)}
        if "citationkey" in names:
            found = database.execute("SELECT itemID, citationKey FROM citationkey")
            return {number: str(key or "") for number, key in found}
        if "better-bibtex" not in names:
            return {}
        stored = "SELECT data FROM \"better-bibtex\" WHERE name = 'better-bibtex.citekey'"
        rows = [row for (text,) in database.execute(stored) for row in json.loads(text)["data"]]
        return {row["itemID"]: str(row["citekey"] or "") for row in rows}


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database, with what is written but not yet in its file.

    :raises CorpusError: it cannot be read, or is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="mpbert-") as folder:
        copy = Path(folder, "database.sqlite")
        _copy(path, copy)
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.text_factory = lambda text: text.decode(errors="replace")
                database.execute("PRAGMA trusted_schema = OFF")
                yield database
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(
                f"{path}: cannot be read ({reason}); expected the database of Zotero 5 or later: "
                f"open it with Zotero, or give its copy zotero.sqlite.bak"
            ) from error


def _copy(path: Path, copy: Path) -> None:
    for _ in range(_TRIES):
        before = _state(path)
        for end in ("", "-journal", "-wal"):
            source = path.with_name(without_packing(path).name + end) if end else path
            if not end or source.is_file():
                with open_file(source) as file, copy.with_name(copy.name + end).open("wb") as made:
                    shutil.copyfileobj(file, made, 1 << 20)
        if _state(path) == before:
            return
    raise CorpusError(
        f"{path}: is being written; expected a library at rest: wait until Zotero has synchronised"
    )


def _state(path: Path) -> tuple[Any, ...]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
