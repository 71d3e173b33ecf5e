"""Libraries of several formats: copies are one paper, attached files are read, GROBID is asked."""

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.corpus.formats.mixed import MixedReader
from mpbert.corpus.formats.pdf.grobid import Grobid
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import CommonLinker
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.recommending.recommender import Recommender

FIXTURES = Path(__file__).parents[2] / "fixtures"
TEI = (FIXTURES / "mixed" / "paper.tei.xml").read_bytes()
QUEUES = FIXTURES / "pdf" / "queues.pdf"


@pytest.fixture
def service():
    """A service of the interface of GROBID, as a function of what it answers to each PDF file."""
    servers = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, code, body):
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.answer(200 if self.path == "/api/isalive" else 404, b"true")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            boundary = re.search("boundary=(.+)", self.headers["Content-Type"])[1].encode()
            parts = body.split(b"--" + boundary)
            assert self.path == "/api/processFulltextDocument" and parts[-1] == b"--\r\n"
            (form,) = [part for part in parts if b'name="input"' in part]
            self.server.asked.append(form.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n"))
            self.answer(*self.server.answers(self.server.asked))

        def log_message(self, *_):
            pass

    def start(answers):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.answers, server.asked = answers, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server, f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def no_pause(monkeypatch):
    from mpbert.corpus.formats.pdf import grobid

    monkeypatch.setattr(grobid, "_PAUSE", 0.0)


def test_copies_in_several_formats_are_one_paper_that_others_cite():
    papers = {paper.paper_id: paper for paper in MixedReader().read(FIXTURES / "mixed")}
    assert set(papers) == {"queue2001routing", "lost", "W102", "paper"}
    queues = papers["queue2001routing"]
    # of the entry, and of the file attached to it
    assert (queues.authors, queues.venue) == (("Jonathan Queue",), "Journal of Posts")
    assert queues.abstract[0].text.startswith("We route letters") and len(queues.sections) == 3
    # of the work, and of a file of the same title
    assert papers["W102"].year == 1999 and papers["W102"].sections
    cited = [s.markers[0].cited_ids for s in papers["paper"].sections[0].sentences]
    assert cited == [("queue2001routing",), ("W102",)]


def test_a_library_in_any_mixture_becomes_an_index_and_is_added_to(tmp_path, capsys):
    index = tmp_path / "index"
    assert main(["index", str(FIXTURES / "mixed"), str(index)]) == 0
    out = capsys.readouterr().out
    assert "4 papers read as mixed, 2 sentences that cite them" in out
    assert "copies of a paper in another format, merged with it: 2\n" in out
    assert "attached files not found: 1\n" in out and "kept without a year: 1\n" in out
    assert main(["add", str(index), str(FIXTURES / "crossref")]) == 0
    out = capsys.readouterr().out
    assert ": 7 papers, 3 of them new" in out
    assert "copies of papers of the index, merged with them: 1\n" in out
    found = Recommender(index).recommend("The routing of letters")
    assert found[0].paper_id == "queue2001routing" and found[0].why.citing


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bib", "@misc{a, title = {On it}, file = {Full\\: text:FILE:application/pdf}}"),
        ("a.bib", "@misc{a, title = {On it}, file = {:FILE:PDF;x:b.html:text/html}}"),
        ("a.bib", "@misc{a, title = {On it}, file = {FILE}}"),
        ("a.ris", "TY  - JOUR\nID  - a\nTI  - On it\nL1  - FILE\nER  - \n"),
        (
            "a.json",
            '[{"id": "a", "type": "book", "title": "On it", "attachments": [{"path": "FILE"}]}]',
        ),
    ],
)
@pytest.mark.parametrize("place", ["files/12/Queue, A; B.pdf", "ABSOLUTE"])
def test_attached_files_are_read_with_their_record(name, text, place, tmp_path, capsys):
    library, file = tmp_path / "library", tmp_path / "library" / "files" / "12" / "Queue, A; B.pdf"
    file.parent.mkdir(parents=True)
    shutil.copy(QUEUES, file)
    printed = place.replace("ABSOLUTE", str(file))
    if name.endswith(".bib"):
        printed = printed.replace(";", "\\;")
    (library / name).write_text(text.replace("FILE", printed))
    for source in (library, library / name):
        index = tmp_path / f"index-{source.name}"
        assert main(["index", str(source), str(index)]) == 0
        assert "1 papers read as " in capsys.readouterr().out
        paper = Recommender(index).paper("a")
        assert paper.title == "On it" and paper.abstract.startswith("We route letters")


def test_files_go_to_grobid_and_those_it_refuses_are_read_here(service, tmp_path, caplog, no_pause):
    def answers(asked):
        return (200, TEI) if asked[-1] == QUEUES.read_bytes() else (500, b"[GENERAL] failed")

    server, url = service(answers)
    library = tmp_path / "library"
    library.mkdir()
    for name in ("queues", "names"):
        shutil.copy(FIXTURES / "pdf" / f"{name}.pdf", library / f"{name}.pdf")
    assert main(["index", str(library), str(tmp_path / "index"), "--grobid", url]) == 0
    assert len(server.asked) == 2
    found = Recommender(tmp_path / "index")
    assert [found.paper(i).title for i in ("queues", "names")] == [
        "On posts and their tables",
        "A Table of Names",
    ]
    told = [message for message in caplog.messages if "read without GROBID" in message]
    assert len(told) == 1 and "names.pdf: GROBID answered Internal Server Error" in told[0]


def test_a_busy_service_is_asked_again(service):
    server, url = service(lambda asked: (200, TEI) if len(asked) > 2 else (503, b""))
    assert Grobid(url, pause=0.0).tei_of(QUEUES) == TEI and len(server.asked) == 3
    _, url = service(lambda asked: (503, b""))
    with pytest.raises(CorpusError, match=r"queues.pdf: GROBID answered Service Unavailable"):
        Grobid(url, pause=0.0).tei_of(QUEUES)
    _, url = service(lambda asked: (200, b""))
    with pytest.raises(CorpusError, match="answered with 0 bytes"):
        Grobid(url, pause=0.0).tei_of(QUEUES)


@pytest.mark.parametrize(
    ("library", "url", "message"),
    [
        ("pdf", "localhost:8070", "expected an address such as http://localhost:8070"),
        ("pdf", "http://127.0.0.1:9", "no service answers there"),
        ("tei", "http://127.0.0.1:9", "is read as tei, which has no PDF files"),
    ],
)
def test_a_wrong_service_is_refused_in_one_line(library, url, message, tmp_path, capsys):
    words = ["index", str(FIXTURES / library), str(tmp_path / "index"), "--grobid", url]
    assert main(words) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error and not (tmp_path / "index").exists()
    with pytest.raises(ConfigError):
        Grobid("file:///etc")


def test_papers_of_two_readers_are_one_where_one_identifier_finds_one():
    linker = CommonLinker()
    linker.begin()
    assert linker.add("a", Identifiers(doi="10.5555/A", title="On the routing of letters"))
    assert linker.add("b", Identifiers(title="On the sorting of letters"))
    assert linker.add("c", Identifiers(title="On the sorting of letters"))  # of one reader: apart
    assert not linker.add("a", Identifiers())
    linker.begin()
    assert linker.add("x", Identifiers(doi="10.5555/a", arxiv="2001.00001"))
    assert linker.add("y", Identifiers(title="On the sorting of letters"))  # ambiguous
    assert linker.add("c", Identifiers(title="Another title of it"))
    assert linker.same == {"x": "a"}
    assert linker.copies == {"a": 2, "b": 1, "c": 2, "y": 1}
    found = [
        linker.resolve(Identifiers(**known), linker.copies)
        for known in (
            {"corpus_id": "x"},
            {"arxiv": "2001.00001"},
            {"title": "On the sorting of letters"},
        )
    ]
    assert found == ["a", "a", None]


def test_a_page_of_works_and_its_lines_are_read_alike(tmp_path):
    from mpbert.corpus.formats.base import READERS

    for name, key in (("openalex", "results"), ("crossref", "items")):
        page = next(p for p in (FIXTURES / name).glob("*.json") if key in p.read_text())
        answer = json.loads(page.read_text())
        works = answer.get(key) or answer["message"][key]
        texts = {
            "list.json": json.dumps(works),
            "lines.jsonl": "\n".join(map(json.dumps, works)),
            "one_line.json": json.dumps(answer),
            "indented.json": json.dumps(answer, indent=1),
            "pages.jsonl": json.dumps(answer) + "\n" + json.dumps(answer),
        }
        expected = list(READERS[name]().read(page))
        assert expected
        for file, text in texts.items():
            (tmp_path / file).write_text("\ufeff" + text, encoding="utf-8")
            assert list(READERS[name]().read(tmp_path / file)) == expected, (name, file)


def test_of_two_files_that_a_record_has_attached_the_first_is_read(tmp_path):
    for name in ("a.pdf", "b.pdf"):
        shutil.copy(QUEUES, tmp_path / name)
    library = tmp_path / "library.bib"
    library.write_text("@misc{own, title={It}, year=2001, file={b.pdf;a.pdf}}")
    reader = MixedReader([("bibtex", library)])
    (paper,) = reader.read(library)
    assert (paper.paper_id, paper.title) == ("own", "It") and paper.sections
    assert reader.counts["files_with_the_name_of_another"] == 1
