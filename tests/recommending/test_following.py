"""An index that follows its library holds what a new index of that library would hold."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.foundation.errors import ConfigError, CorpusError, IndexFormatError
from mpbert.recommending.directory import read_index
from mpbert.recommending.following import updating
from mpbert.recommending.following.looks import look_at_library
from mpbert.recommending.following.noted import note
from mpbert.recommending.following.updating import Followed, update

FIXTURES = Path(__file__).parents[1] / "fixtures"
WORDS = "mail queue router letter packet host name relay zebra post stripe sort road bridge".split()


def entry(number, words, kind="article", **fields):
    fields = {"title": f"Of {words}", "author": f"Doe{number}, Jo", "year": 2000 + number} | fields
    inner = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{key{number},\n{inner}}}\n"


def held(index):
    """What an index holds of each paper: its id, its record and where it appeared."""
    papers = read_index(index).tables.papers
    names = ("paper_id", "digest", "published", "abstract")
    return sorted(
        map(tuple, zip(*(map(str, papers[name].tolist()) for name in names), strict=True))
    )


@pytest.fixture
def followed(tmp_path, monkeypatch):
    """Function of a library: what follows it, whose index is made and read for the first time."""

    def begin(library):
        assert main(["index", str(library), str(tmp_path / "index")]) == 0
        made = Followed(Path(library), tmp_path / "index")
        assert update(made).added == 0
        return made

    return begin


def assert_as_new(followed, tmp_path):
    fresh = tmp_path / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    assert main(["index", str(followed.library), str(fresh)]) == 0
    assert held(followed.index) == held(fresh)


def test_edits_of_a_bib_come_into_the_index_and_nothing_else_is_parsed(
    followed, tmp_path, monkeypatch
):
    rng = random.Random(1)
    bib = tmp_path / "library.bib"

    def made(number):
        return entry(
            number, " ".join(rng.sample(WORDS, 5)), abstract=" ".join(rng.sample(WORDS, 9))
        )

    entries = {number: made(number) for number in range(30)}
    bib.write_text("\n".join(entries.values()))
    library = followed(bib)
    for turn in range(8):
        for number in rng.sample(sorted(entries), 2):
            del entries[number]
        changed = rng.choice(sorted(entries))
        entries[changed] = made(changed)
        entries[100 + turn] = made(100 + turn)
        order = rng.sample(sorted(entries), len(entries))
        bib.write_text("% a comment\n" * turn + "\n".join(entries[number] for number in order))
        done = update(library)
        assert (done.added, done.replaced, done.removed) == (1, 1, 2)
        assert update(library) is None
    assert_as_new(library, tmp_path)


def test_only_entries_that_differ_are_parsed(followed, tmp_path, monkeypatch):
    from mpbert.corpus.formats.bibtex import BibtexReader

    parsed = []
    parse = BibtexReader.parse
    bib = tmp_path / "library.bib"
    bib.write_text("\n".join(entry(number, WORDS[number]) for number in range(9)))
    library = followed(bib)
    monkeypatch.setattr(
        BibtexReader, "parse", lambda self, record: parsed.append(record[1]) or parse(self, record)
    )
    bib.write_text(bib.read_text().replace("Of zebra", "Of zebras"))
    assert update(library).replaced == 1
    assert parsed == ["key8"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@string{p = {Post}}\n", "@string{p = {Posts of old}}\n"),
        (entry(7, "parents", "proceedings", booktitle="Old"),) * 1
        + (entry(7, "parents", "proceedings", booktitle="New"),),
    ],
)
def test_what_an_entry_refers_to_changes_it(followed, tmp_path, before, after):
    bib = tmp_path / "library.bib"
    child = "@inproceedings{child,\n title = {A child}, crossref = {key7}, note = p,\n}\n"
    other = "@article{other,\n title = {Of other mail},\n journal = p,\n}\n"
    bib.write_text(before + child + other)
    library = followed(bib)
    bib.write_text(after + child + other)
    update(library)
    assert_as_new(library, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        entry(1, "mail").strip() + " " + entry(2, "queues"),  # in one line
        "@article{,\n title = {Of a nameless queue}, doi = {10.1/1},\n}\n" + entry(2, "queues"),
        entry(1, "mail", abstract="Signs:\n@article{sign, stand within.") + entry(2, "queues"),
        entry(1, "mail") + entry(1, "mail of others") + entry(2, "queues"),
    ],
)
def test_entries_that_are_not_told_by_their_beginnings(followed, tmp_path, text):
    bib = tmp_path / "library.bib"
    bib.write_text(text + entry(3, "letters"))
    library = followed(bib)
    bib.write_text(text.replace("queue", "bridge").replace("mail", "roads") + entry(3, "letters"))
    update(library)
    assert_as_new(library, tmp_path)


def test_a_half_written_bib_adds_nothing_and_removes_nothing(followed, tmp_path):
    bib = tmp_path / "library.bib"
    whole = "\n".join(entry(number, WORDS[number]) for number in range(9))
    bib.write_text(whole)
    library = followed(bib)
    before = held(library.index)
    for end in (whole.index("Of host"), whole.index("key4,"), whole.index("key0") + 6):
        bib.write_text(whole[:end])
        assert update(library).broken == 1
        assert held(library.index) == before
    bib.write_text("")
    with pytest.raises(ConfigError, match="all 9 papers would be removed"):
        update(library)
    bib.unlink()
    with pytest.raises(CorpusError, match="no such file"):
        update(library)
    assert held(library.index) == before
    bib.write_text(whole.replace("zebra", "zebras"))
    done = update(library)
    assert (done.added, done.replaced, done.removed, done.broken) == (0, 1, 0, 0)
    bib.write_text(entry(1, WORDS[1]))
    assert update(library).removed == 8


def test_a_key_that_is_renamed_is_another_and_the_last_paper_may_be(followed, tmp_path):
    bib = tmp_path / "library.bib"
    bib.write_text(entry(1, "mail and zebras"))
    library = followed(bib)
    bib.write_text(entry(1, "mail and zebras").replace("key1", "zebra"))
    done = update(library)
    assert (done.papers, done.added, done.removed) == (1, 1, 1)
    assert_as_new(library, tmp_path)


def test_a_copy_comes_back_where_what_it_was_merged_with_goes(followed, tmp_path):
    bib = tmp_path / "library.bib"
    copies = entry(1, "letters that zebras sort", doi="10.1/1"), entry(2, "mail")
    other = copies[0].replace("key1", "copy")
    bib.write_text("".join(copies) + other)
    library = followed(bib)
    assert len(held(library.index)) == 2
    bib.write_text(copies[1] + other)
    update(library)
    assert_as_new(library, tmp_path)
    bib.write_text(copies[1] + other.replace("10.1/1", "10.1/2").replace("sort", "lose"))
    update(library)
    assert_as_new(library, tmp_path)
    bib.write_text(copies[1] + copies[1].replace("key2", "copy"))  # is a copy of another now
    update(library)
    assert_as_new(library, tmp_path)


def test_papers_from_elsewhere_stay(followed, tmp_path):
    bib, other = tmp_path / "library.bib", tmp_path / "other.bib"
    bib.write_text(entry(1, "mail") + entry(2, "queues"))
    other.write_text(entry(3, "zebras"))
    library = followed(bib)
    assert main(["add", str(library.index), str(other)]) == 0
    bib.write_text(entry(1, "mail"))
    assert (update(library).papers, update(library)) == (2, None)
    assert [each[0] for each in held(library.index)] == ["key1", "key3"]
    assert update(Followed(other, library.index)).others == ["key1"]  # another library: as new
    assert len(held(library.index)) == 2


def test_a_folder_of_pdf_files_is_read_file_by_file(followed, tmp_path, monkeypatch, caplog):
    from mpbert.corpus.formats.pdf.reader import PdfReader

    papers = sorted((FIXTURES / "pdf").rglob("*.pdf"))
    good = [path for path in papers if "odd" not in path.parts]
    folder = tmp_path / "papers"
    folder.mkdir()
    shutil.copy(good[0], folder / "first.pdf")
    (folder / "half.pdf").write_bytes(good[1].read_bytes()[:2000])
    library = followed(folder)
    opened = []
    read = PdfReader.paper_of
    monkeypatch.setattr(
        PdfReader, "paper_of", lambda *names: opened.append(names[1].name) or read(*names)
    )
    assert update(library) is None
    shutil.copy(good[1], folder / "half.pdf")
    assert update(library).added == 1
    assert opened == ["half.pdf"]
    (folder / "first.pdf").write_bytes(b"%PDF-1.4 it is being copied again")
    assert update(library) is not None
    assert len(held(library.index)) == 2
    (folder / "first.pdf").unlink()
    assert update(library).removed == 1
    assert_as_new(library, tmp_path)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("csl/library.json", "Queue", "Line"),
        ("ris/library.ris", "Queue", "Line"),
        ("formats/papers.jsonl", "title", "title"),
    ],
)
def test_other_formats_are_followed(followed, tmp_path, name, old, new):
    library = tmp_path / Path(name).name
    text = (FIXTURES / name).read_text(encoding="utf-8")
    library.write_text(text, encoding="utf-8")
    made = followed(library)
    assert update(made) is None
    library.write_text(text.replace(old, new), encoding="utf-8")
    assert (update(made) is None) == (old == new)
    assert_as_new(made, tmp_path)


def test_looks_tell_of_what_sqlite_has_not_yet_moved_into_its_file(tmp_path):
    (tmp_path / "zotero.sqlite").write_bytes(b"database")
    (tmp_path / "storage").mkdir()
    before = look_at_library(tmp_path)
    assert look_at_library(tmp_path / "zotero.sqlite") == before
    (tmp_path / "storage" / "a.pdf").write_bytes(b"opened")
    assert look_at_library(tmp_path) == before
    (tmp_path / "zotero.sqlite-wal").write_bytes(b"more")
    assert look_at_library(tmp_path) != before


def test_zotero_is_followed_with_its_tags_and_collections_while_it_writes(followed, tmp_path):
    library = Path(shutil.copytree(FIXTURES / "zotero", tmp_path / "Zotero"))
    made = followed(library)
    assert update(made) is None
    with closing(sqlite3.connect(library / "zotero.sqlite", isolation_level=None)) as zotero:
        zotero.execute("PRAGMA journal_mode = WAL")
        before = look_at_library(library)
        zotero.execute("UPDATE itemDataValues SET value = 'Glue' WHERE value LIKE 'Stamp%'")
        zotero.execute("INSERT INTO tags VALUES (3, 'glue')")
        zotero.execute("INSERT INTO itemTags VALUES (3, 3, 0)")
        zotero.execute("DELETE FROM itemTags WHERE itemID = 1")
        zotero.execute("DELETE FROM collectionItems WHERE itemID = 2")
        zotero.execute("INSERT INTO deletedItems VALUES (4, '2024-01-01')")
        assert look_at_library(library) != before
        done = update(made)
        assert (done.added, done.replaced, done.removed) == (0, 3, 1)
        assert update(made) is None
        assert_as_new(made, tmp_path)


def test_what_was_noted_of_an_index_is_not_forgotten_while_it_is_away(
    followed, tmp_path, monkeypatch
):
    bib = tmp_path / "library.bib"
    bib.write_text(entry(1, "mail queue") + entry(2, "zebra post"))
    library, away = followed(bib), tmp_path / "away"
    bib.write_text(entry(1, "mail queue"))
    library.index.rename(away)
    snapshot_of = updating.snapshot_of

    def back(*asked):  # in the midst of an update
        if away.exists():
            away.rename(library.index)
        return snapshot_of(*asked)

    monkeypatch.setattr(updating, "snapshot_of", back)
    with pytest.raises(IndexFormatError, match="no readable manifest"):
        update(library)
    away.rename(library.index)
    assert update(library).removed == 1


def test_what_is_noted_has_one_order(tmp_path):
    written = []
    for names in ("abc", "cab"):
        note(tmp_path, tmp_path, {name: name.encode() for name in names})
        written.append((tmp_path / "followed.json").read_bytes())
    assert written[0] == written[1]
