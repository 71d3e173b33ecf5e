"""A file as a manuscript: what the server says of it, and of what is none."""

import asyncio
import io
import json
import zipfile
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from mpbert.foundation.errors import MpbertError
from mpbert.recommending.manuscripts import uploaded
from mpbert.serving import uploads
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

PDF = Path(__file__).parents[1] / "fixtures" / "pdf"
HEADERS = {"Content-Type": "application/pdf"}


def send(client, data, **headers):
    return client.post("/api/document", content=data, headers=HEADERS | headers)


def test_a_pdf_file_becomes_text_with_places(client):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    answer = send(client, (PDF / "queues.pdf").read_bytes())
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["title"] == "Routing Letters by the Shortest Queue"
    assert found["abstract"].startswith("We route letters by the length of queues.")
    assert "the shortest queue takes the letter [CITATION]. We measured" in found["text"]
    assert found["places"] == found["text"].count("[CITATION]") == 4
    assert "Jon Postel" not in found["text"]  # of the list of references


def archive(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, text in files.items():
            out.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (".docx", archive({"word/document.xml": "<w:body><w:p><w:r><w:t>Trees grow [@a]. Oaks "
         "[cite].</w:t></w:r></w:p></w:body>"})),
        (".odt", archive({"content.xml": "<office:body><text:p>Trees grow [@a]. Oaks [cite]."
         "</text:p></office:body>"})),
        (".ipynb", json.dumps({"cells": [{"cell_type": "markdown",
         "source": "Trees grow [@a]. Oaks [cite]."}]}).encode()),
        (".lyx", b"\\begin_body\n\\begin_layout Standard\nTrees grow\n\\begin_inset CommandInset "
         b"citation\nLatexCommand cite\nkey \"a\"\n\\end_inset\n. Oaks [cite].\n\\end_layout\n"),
        (".zip", archive({"main.tex": "\\documentclass{x}\n\\begin{document}\\input{one}"
         "\\end{document}", "one.tex": "Trees grow \\cite{a}. Oaks [cite]."})),
    ],
)  # fmt: skip
def test_a_document_becomes_text_with_places(client, kind, data):
    name = next(name for name, ending in uploads.KINDS.items() if ending == kind)
    answer = send(client, data, **{"Content-Type": name})
    assert answer.status_code == 200, answer.text
    said = {"title": "", "abstract": "", "text": "Trees grow [@a]. Oaks [CITATION].", "places": 2}
    assert answer.json() == said
    refused = send(client, b"x", **{"Content-Type": name})
    assert refused.status_code == 422 and "/" not in refused.json()["error"].split("(")[0]


def test_a_scan_is_refused_in_one_line(client):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    answer = send(client, (PDF / "odd" / "scan.pdf").read_bytes())
    line = "found 0 letters on 2 pages; expected text: a scan needs OCR first, such as ocrmypdf"
    assert answer.status_code == 422 and answer.json() == {"error": line}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("secret.pdf", "needs a password; expected a file that opens without one"),
        ("broken.pdf", "unreadable (Failed to load document"),
    ],
)
def test_what_cannot_be_read_is_one_line_without_the_name_of_a_file_here(name, line):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    with pytest.raises(MpbertError) as error:
        uploaded.plain_manuscript(PDF / "odd" / name)
    assert uploaded.told(PDF / "odd" / name, error.value).startswith(line)


@pytest.mark.parametrize(
    ("data", "headers", "code", "line"),
    [
        (b"x", {}, 422, "found no %PDF at its beginning; expected a PDF file"),
        (b"", {}, 422, "found no %PDF at its beginning; expected a PDF file"),
        (
            b"%PDF",
            {"Content-Type": "text/plain"},
            *(
                415,
                "the body is not said to be one of these; send content-type: "
                + ", ".join(uploads.KINDS),
            ),
        ),
    ],
)
def test_what_is_no_pdf_file_starts_no_process(client, data, headers, code, line, monkeypatch):
    monkeypatch.setattr(uploads.subprocess, "run", None)
    answer = send(client, data, **headers)
    assert (answer.status_code, answer.json()) == (code, {"error": line})


def test_a_missing_package_names_the_extra(client, monkeypatch):
    def lacks(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(uploads, "check_installed", lacks)
    answer = send(client, b"%PDF-1.4")
    assert answer.status_code == 422 and "pip install 'mpbert[pdf]'" in answer.json()["error"]


def test_a_reader_that_crashes_or_hangs_ends_alone(client, monkeypatch):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    monkeypatch.setattr(uploads, "_READER", "mpbert.no_such_module")
    line = "the reader of files failed on it; send the text"
    assert send(client, b"%PDF-1.4").json() == {"error": line}

    def hang(command, *, timeout, **_):
        raise uploads.subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(uploads.subprocess, "run", hang)
    line = "the file is not read after 60 s; send a part"
    assert send(client, b"%PDF-1.4").json() == {"error": line}


def test_files_have_a_limit_of_their_own(recommender):
    def answer(limits, data):
        with TestClient(create_app(recommender, limits)) as client:
            found = send(client, data)
            return found.status_code, found.json()["error"]

    assert answer(Limits(max_bytes=10), b"x" * 100)[0] == 422  # it was received
    found = answer(Limits(max_pdf_bytes=10), b"x" * 11)
    assert found == (413, "the file is larger than 10 bytes; send its text")
    found = answer(Limits(max_pdf_bytes=0), b"%PDF")
    assert found == (413, "this server reads no files; send the text")


def test_few_files_come_at_once_and_leave_room_for_questions(recommender):
    async def use():
        go_on = asyncio.Event()

        async def slow():
            yield b"x"
            await go_on.wait()

        transport = httpx2.ASGITransport(create_app(recommender, Limits(seconds=60)))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            coming = [asyncio.create_task(send(client, slow())) for _ in range(4)]
            await asyncio.sleep(0.2)
            refused = await send(client, b"%PDF")
            answered = await client.post("/api/recommend", json={"text": "t"})
            go_on.set()
            return refused, answered, await asyncio.gather(*coming)

    refused, answered, first = asyncio.run(use())
    assert refused.status_code == 503 and answered.status_code == 200
    assert [answer.status_code for answer in first] == [422] * 4


def test_the_description_says_how_a_file_is_sent(client):
    kinds = client.get("/openapi.json").json()["paths"]["/api/document"]["post"]["requestBody"]
    assert list(kinds["content"]) == list(uploads.KINDS)
    shown = client.get("/docs").text
    assert "content-type: application/pdf" in shown and "--data-binary @FILE" in shown
