"""The readers of XML: files as GROBID and PubMed Central write them, and files made to harm."""

import gzip
import json
import lzma
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from mpbert.citations.records import RawSentence
from mpbert.cli import main
from mpbert.corpus.clean import clean_paper
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.manifest import read_manifest

FIXTURES = Path(__file__).parents[2] / "fixtures"
BROKEN = {"tei": "cut_off.tei.xml", "jats": "not_found.xml"}
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>T</title>
</titleStmt><publicationStmt><date when="2001"/></publicationStmt></fileDesc></teiHeader>
<text><body><p>Text {}.</p></body></text></TEI>"""
JATS = """<article><front><article-meta><title-group><article-title>T</article-title></title-group>
<pub-date><year>2001</year></pub-date></article-meta></front><body><p>Text {}.</p></body>
</article>"""
BOMB = "<!DOCTYPE x [<!ENTITY a 'ha'>{}]>".format(
    "".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
)


def shown(sentence: RawSentence) -> str:
    text = sentence.text
    for marker in reversed(sentence.markers):
        printed = text[marker.start : marker.end]
        new = f"⟦{printed}|{' '.join(marker.cited_ids)}⟧"
        text = text[: marker.start] + new + text[marker.end :]
    return text


def read_all(name: str, path: Path) -> dict:
    reader, counts = READERS[name](), Counter()
    papers = {}
    for paper in reader.read(path):
        clean_paper(paper, counts)
        papers[paper.paper_id] = {
            "title": paper.title,
            "year": paper.year,
            "authors": list(paper.authors),
            "venue": paper.venue,
            "references": list(paper.references),
            "abstract": [shown(sentence) for sentence in paper.abstract],
            "sections": [[s.heading, [shown(t) for t in s.sentences]] for s in paper.sections],
        }
    return {"papers": papers, "counts": dict(sorted((reader.counts + counts).items()))}


@pytest.mark.parametrize("name", ["tei", "jats"])
def test_the_fixtures_are_read_as_expected(name, request):
    found = read_all(name, FIXTURES / name)
    path = FIXTURES / name / "expected.json"
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8"))


def pack_zst(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


@pytest.mark.parametrize("name", ["tei", "jats"])
@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", pack_zst)]
)
def test_packed_files_are_read_alike(tmp_path, name, suffix, pack):
    expected = read_all(name, FIXTURES / name)
    shutil.copytree(FIXTURES / name, tmp_path / name)
    for file in (tmp_path / name).rglob("*"):
        if file.suffix in (".xml", ".nxml"):
            file.with_name(file.name + suffix).write_bytes(pack(file.read_bytes()))
            file.unlink()
    assert read_all(name, tmp_path / name) == expected


@pytest.mark.parametrize("name", ["tei", "jats"])
def test_a_corpus_is_built_and_what_was_left_out_is_counted(tmp_path, name):
    raw, store = str(FIXTURES / name), tmp_path / "store"
    assert main(["build-corpus", raw, str(store), f"--reader={name}"]) == 0
    corpus = CorpusStore(store)
    expected = json.loads((FIXTURES / name / "expected.json").read_text(encoding="utf-8"))
    dated = {i: p for i, p in expected["papers"].items() if p["year"] is not None}
    assert corpus.paper_ids == sorted(dated)
    assert all(len(corpus.contexts(split)) for split in ("train", "valid", "test"))
    counts = read_manifest(store)["counts"]
    assert expected["counts"].items() <= counts.items()
    assert counts["files_left_out_as_broken"] == 1


@pytest.mark.parametrize("name", ["tei", "jats"])
def test_a_broken_file_is_named(name, caplog):
    read_all(name, FIXTURES / name)
    (record,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert f"left out: {FIXTURES / name / BROKEN[name]}" in record.getMessage()


@pytest.mark.parametrize(("name", "text"), [("tei", TEI), ("jats", JATS)])
@pytest.mark.parametrize(
    ("declaration", "used", "problem"),
    [
        (BOMB, "&i;", "declares the entity 'a'; expected none"),
        (BOMB, "<b x='&i;'/>", "declares the entity 'a'; expected none"),
        ("<!DOCTYPE x [<!ENTITY e SYSTEM 'file://@'>]>", "&e;", "declares the entity 'e'"),
        ("<!DOCTYPE x [<!ENTITY e SYSTEM 'http://127.0.0.1:9/e'>]>", "&e;", "the entity 'e'"),
        ("<!DOCTYPE x [<!ENTITY % p SYSTEM 'file://@'> %p;]>", "", "declares the entity 'p'"),
        ("", "<b>" * 300 + "</b>" * 300, "broken XML (Excessive depth"),
        ("", "<b>", "broken XML (Opening and ending tag mismatch"),
        ("", "&nbsp;", "broken XML (Entity 'nbsp' not defined"),
    ],
)
def test_a_harmful_or_broken_file_is_refused_with_one_line(
    tmp_path, caplog, name, text, declaration, used, problem
):
    (tmp_path / "secret.txt").write_text("s3cret")
    path = tmp_path / "bad.xml"
    path.write_text(declaration.replace("@", f"{tmp_path}/secret.txt") + text.format(used))
    reader = READERS[name]()
    try:
        assert list(reader.read(path)) == []  # the head is good
    except CorpusError as error:
        assert problem in str(error) and "no other of 1 files" in str(error)
    assert reader.counts["files_left_out_as_broken"] == 1
    (message,) = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert message.startswith(f"left out: {path}:") and problem in message
    assert "\n" not in message and "s3cret" not in message


def test_the_command_line_names_a_bomb_and_ends_with_one_line(tmp_path, capsys):
    path = tmp_path / "bomb.xml"
    path.write_text(BOMB + JATS.format("&i;"))
    assert main(["build-corpus", str(path), str(tmp_path / "out"), "--reader=jats"]) == 2
    left_out, line = capsys.readouterr().err.splitlines()
    assert left_out.startswith(f"left out: {path}")
    assert line.startswith(f"mpbert build-corpus: {path}: declares the entity 'a'; expected none")


def test_a_document_type_is_not_loaded(tmp_path):
    (tmp_path / "x.dtd").write_text("<!ENTITY e 'loaded'>")
    path = tmp_path / "paper.xml"
    path.write_text(f"<!DOCTYPE article SYSTEM '{tmp_path}/x.dtd'>" + JATS.format("&e; &beta;"))
    (paper,) = READERS["jats"]().read(path)
    assert [s.text for s in paper.sections[0].sentences] == ["Text &e; β."]


def test_two_files_of_one_name_are_one_paper(tmp_path):
    (tmp_path / "a.xml").write_text(JATS.format("one"))
    (tmp_path / "a.nxml").write_text(JATS.format("two"))
    reader = READERS["jats"]()
    assert [paper.paper_id for paper in reader.read(tmp_path)] == ["a"]
    assert reader.counts["files_with_the_name_of_another"] == 1


def test_a_year_in_brackets_without_names_before_it_may_be_marked_up(tmp_path):
    (tmp_path / "a.xml").write_text(
        JATS.format("").replace("Text .", "(<xref ref-type='bibr'>1998</xref>) was lost.")
    )
    (paper,) = READERS["jats"]().read(tmp_path)
    assert [shown(s) for s in paper.sections[0].sentences] == ["⟦(1998)|⟧ was lost."]


def test_an_id_that_a_file_repeats_means_what_bears_it_first(tmp_path):
    entry = "<biblStruct xml:id='b0'><monogr><title>{}</title></monogr></biblStruct>"
    entries = "".join(map(entry.format, ("The routing of letters", "The sorting of letters")))
    citing = "<p xml:id='b0'>See <ref type='bibr' target='#b0'>[9]</ref>.</p>"
    text = TEI.format("").replace("<p>Text .</p>", citing)
    text = text.replace("</text>", f"<back><listBibl>{entries}</listBibl></back></text>")
    (tmp_path / "a.xml").write_text(text)
    for name in ("routing", "sorting"):
        titled = TEI.format("").replace(">T<", f">The {name} of letters<")
        (tmp_path / f"{name}.xml").write_text(titled)
    papers = {paper.paper_id: paper for paper in READERS["tei"]().read(tmp_path)}
    assert shown(papers["a"].sections[0].sentences[0]) == "See ⟦[9]|routing⟧."


@pytest.mark.parametrize(("name", "text"), [("tei", TEI), ("jats", JATS)])
def test_a_paper_without_a_title_is_kept_and_counted(tmp_path, name, text):
    (tmp_path / "a.xml").write_text(text.format("").replace(">T<", "><"))
    reader = READERS[name]()
    assert [(p.paper_id, p.title, p.year) for p in reader.read(tmp_path)] == [("a", "", 2001)]
    assert reader.counts["papers_without_title"] == 1


@pytest.mark.parametrize(
    ("reader", "text", "section"),
    [
        ("jats", JATS, "<sec><title>{}</title>{}</sec>"),
        ("tei", TEI, "<div><head>{}</head>{}</div>"),
    ],
)
def test_what_follows_an_inner_section_has_no_heading(reader, text, section, tmp_path):
    inner = section.format("In", "<p>It is in.</p>")
    outer = section.format("Out", f"<p>It is out.</p>{inner}<p>It is behind.</p>")
    (tmp_path / "paper.xml").write_text(text.format(f".</p>{outer}<p>It ends"))
    (paper,) = READERS[reader]().read(tmp_path / "paper.xml")
    found = [(s.heading, s.sentences[0].text) for s in paper.sections]
    expected = [("Out", "It is out."), ("In", "It is in."), ("", "It is behind."), ("", "It ends.")]
    assert found[1:] == expected


def test_a_group_is_one_author_without_its_members(tmp_path):
    members = (
        "<contrib-group><contrib><name><surname>Roe</surname></name></contrib></contrib-group>"
    )
    group = f"<collab>Group of <i>Post</i><!-- c -->{members}<xref>1</xref></collab>"
    groups = f'<contrib-group><contrib contrib-type="author">{group}</contrib></contrib-group>'
    title = "<title-group><article-title>On it</article-title></title-group>"
    meta = f"{title}{groups}<abstract><p>It is.</p></abstract>"
    head = f"<front><article-meta>{meta}</article-meta></front>"
    (tmp_path / "a.nxml").write_text(f"<article>{head}</article>")
    (paper,) = READERS["jats"]().read(tmp_path / "a.nxml")
    assert paper.authors == ("Group of Post",)
