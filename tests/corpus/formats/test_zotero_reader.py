"""Zotero's own library: what is read, and what a database that is in use or damaged gives."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.mixed import library_reader
from mpbert.corpus.formats.zotero.database import read_items
from mpbert.corpus.formats.zotero.reader import ZoteroReader
from mpbert.foundation.errors import CorpusError

FIXTURE = Path(__file__).parents[2] / "fixtures" / "zotero"


@pytest.fixture
def library(tmp_path):
    """A copy of the fixture."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "Zotero"))


def test_the_library_is_read_while_zotero_runs(library):
    path = library / "zotero.sqlite"
    before = {file: file.read_bytes() for file in library.rglob("*") if file.is_file()}
    with closing(sqlite3.connect(path, isolation_level=None)) as zotero:
        zotero.execute("PRAGMA locking_mode = EXCLUSIVE")
        zotero.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(sqlite3.OperationalError, match="locked"),
            closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)) as other,
        ):
            other.execute("SELECT * FROM items")
        ids = [paper.paper_id for paper in ZoteroReader().read(library)]
    assert ids == ["queueRouting2001", "boxes05", "sticky", "1999post"]
    assert before == {file: file.read_bytes() for file in library.rglob("*") if file.is_file()}


def test_what_zotero_has_not_yet_written_to_its_file_is_read(library):
    with closing(sqlite3.connect(library / "zotero.sqlite")) as zotero:
        zotero.execute("PRAGMA journal_mode = WAL")
        zotero.execute("UPDATE itemDataValues SET value = '1990' WHERE value = '1999'")
        zotero.commit()
        years = {paper.title: paper.year for paper in ZoteroReader().read(library)}
    assert years["Post against Post"] == 1990


def test_texts_notes_tags_and_collections_belong_to_their_item():
    papers = {paper.paper_id: paper for paper in ZoteroReader().read(FIXTURE)}
    (notes,) = papers["queueRouting2001"].sections
    assert notes.heading == "Notes"
    assert [s.text for s in notes.sentences] == ["The table of queues & names is what we need."]
    headings = [section.heading for section in papers["boxes05"].sections]
    assert headings == ["", "Introduction", "Method"]
    text = papers["boxes05"].sections[1].sentences[0].text
    assert text.startswith("A mailbox holds the letters of a street until somebody comes")
    items = {item.key: item for item in read_items(FIXTURE / "zotero.sqlite")}
    assert items["KEY00001"].tags == ["queues", "to read"]
    assert items["KEY00001"].collections == ["Chapter 2", "Thesis"]
    assert items["KEY00002"].collections == ["Thesis"]


def test_a_pdf_file_in_the_storage_is_read_where_zotero_has_no_text_of_it(library):
    pytest.importorskip("pypdfium2")
    reader = library_reader(library, "zotero")
    papers = {paper.paper_id: paper for paper in reader.read(library)}
    assert len(papers["queueRouting2001"].sections) > 1
    assert reader.counts["attached_files_not_found"] == 1


def test_keys_of_an_older_better_bibtex_are_found(library):
    (library / "better-bibtex.sqlite").unlink()
    with closing(sqlite3.connect(library / "better-bibtex.sqlite")) as database:
        database.execute('CREATE TABLE "better-bibtex" (name, data)')
        stored = '{"data": [{"itemID": 1, "citekey": "older2001"}]}'
        database.execute(
            "INSERT INTO \"better-bibtex\" VALUES ('better-bibtex.citekey', ?)", [stored]
        )
        database.commit()
    assert next(iter(ZoteroReader().read(library))).paper_id == "older2001"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DROP TABLE itemNotes", "found a database without itemNotes; expected that of Zotero 5"),
        (
            "ALTER TABLE itemAttachments RENAME COLUMN parentItemID TO sourceItemID",
            "found a database without parentItemID; .* open it with a current Zotero once",
        ),
        ("ALTER TABLE items RENAME COLUMN key TO k", r"cannot be read \(no such column"),
        (None, r"cannot be read \((?:database disk image is malformed|file is not a database)"),
    ],
)
def test_a_database_of_another_version_or_damaged_is_refused_in_one_line(change, message, library):
    path = library / "zotero.sqlite"
    if change:
        with closing(sqlite3.connect(path)) as database:
            database.execute(change)
    else:
        data = path.read_bytes()
        path.write_bytes(data[:2048] + bytes(len(data) - 2048))
    with pytest.raises(CorpusError, match=message) as caught:
        list(READERS["zotero"]().read(path))
    assert "\n" not in str(caught.value)


def execute(path, *commands):
    with closing(sqlite3.connect(path)) as database:
        for command, *values in commands:
            database.execute(command, values)
        database.commit()


def test_groups_are_collections_and_collections_in_the_bin_are_none(library):
    path = library / "zotero.sqlite"
    execute(
        path,
        ("CREATE TABLE groups (groupID, libraryID, name)",),
        ("CREATE TABLE deletedCollections (collectionID, dateDeleted)",),
        ("INSERT INTO groups VALUES (9, 2, 'Stamps lab')",),
        ("INSERT INTO deletedCollections VALUES (2, '2024-01-01')",),
    )
    items = {item.key: item.collections for item in read_items(path)}
    assert (items["KEY00001"], items["KEY00003"]) == (["Thesis"], ["Stamps lab"])
    papers = {paper.paper_id: paper for paper in ZoteroReader().read(library)}
    assert papers["sticky"].published.labels == ("collection:Stamps lab",)


def test_an_item_of_two_libraries_with_one_key_has_the_labels_of_both(library):
    path = library / "zotero.sqlite"
    execute(
        path,
        ("INSERT INTO items SELECT 8, itemTypeID, 1, 'KEY00008' FROM items WHERE itemID = 3",),
        ("INSERT INTO itemData SELECT 8, fieldID, valueID FROM itemData WHERE itemID = 3",),
        ("INSERT INTO collectionItems VALUES (1, 8)",),
    )
    papers = {paper.paper_id: paper for paper in ZoteroReader().read(library)}
    assert papers["sticky"].published.labels == ("collection:Thesis",)
    assert len(papers) == 4


def test_the_text_of_a_pdf_file_counts_before_that_of_a_web_page(library):
    path = library / "zotero.sqlite"
    execute(
        path,
        ("INSERT INTO items SELECT 9, itemTypeID, 1, 'KEY00009' FROM items WHERE itemID = 12",),
        ("INSERT INTO itemAttachments VALUES (9, 2, 1, 'text/html', 'storage:a.html')",),
    )
    page = library / "storage" / "KEY00009"
    page.mkdir()
    (page / ".zotero-ft-cache").write_text("A page that sells mailboxes.\n")
    papers = {paper.paper_id: paper for paper in ZoteroReader().read(library)}
    assert papers["boxes05"].sections[1].heading == "Introduction"


def test_identifiers_in_fields_of_their_own_are_read(library):
    path = library / "zotero.sqlite"
    execute(
        path,
        ("INSERT INTO fields VALUES (90, 'PMID')",),
        ("INSERT INTO itemDataValues VALUES (90, '777')",),
        ("INSERT INTO itemData VALUES (3, 90, 90)",),
    )
    found = {record.key: record for _, record in ZoteroReader().exports(path)}
    assert found["sticky"].known.pubmed == "777"
