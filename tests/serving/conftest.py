"""Recommenders to serve: one whose answers a test decides, and a real one of a small index."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from mpbert.cli import main
from mpbert.corpus.store import CorpusStore
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.records import IndexedPaper, Recommendation
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits
from mpbert.serving.listening import listen

PATIENT = Limits(seconds=120)  # a machine that runs tests may be busy


class ScriptedRecommender:
    """Three papers; ``answer`` waits until ``may_answer`` is set, and notes the questions."""

    def __init__(self) -> None:
        self.paper_ids = ["a", "b/1", "c"]
        self.keys, self.dois = ["a", "b/1", "c"], [None] * 3
        self.row_of_other_id: dict[str, int] = {}
        self.titles = ["Title a", "Title b/1", "Title c"]
        self.years = np.array([2001, 0, 2003])
        self.vectors = np.eye(3, dtype=np.float32)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.has_begun = threading.Event()
        self.questions: list[dict] = []
        self.error: Exception | None = None

    def paper(self, paper_id: str) -> IndexedPaper:
        return IndexedPaper(paper_id, f"Title {paper_id}", ("A. Author",), 2001, "", "")

    def search_titles(self, query: str, top: int) -> list[IndexedPaper]:
        return [self.paper(paper_id) for paper_id in self.paper_ids][:top]

    def __len__(self):
        return len(self.paper_ids)

    def bibtex(self, paper_id: str) -> str:
        return f"@article{{{paper_id}}}\n"

    def asked_at(self, manuscript, place, options) -> dict:
        return {"text": " ".join(manuscript.sentences), "place": place, **vars(options)}

    def asked_whole(self, sentences, options) -> dict:
        return {"sentences": sentences, **vars(options)}

    def asked(self, **question) -> dict:
        return question

    def together(self, asked: list[dict]) -> list[dict]:
        return asked

    def answer(self, question: dict) -> Recommendations:
        self.questions.append(question)
        self.has_begun.set()
        assert self.may_answer.wait(300)
        if self.error is not None:
            raise self.error
        return Recommendations([Recommendation("a", "Title a", ("A. Author",), None, 0.5)])


@pytest.fixture
def recommender() -> ScriptedRecommender:
    return ScriptedRecommender()


@pytest.fixture
def client(recommender: ScriptedRecommender) -> Iterator[TestClient]:
    """Client of an application with the usual limits."""
    with TestClient(
        create_app(recommender, Limits(seconds=60)), raise_server_exceptions=False
    ) as client:
        yield client


PAPERS = [
    # paper_id, year, title, authors, sentences with [ids] for citations
    ("attack", 2003, '<img src=x onerror="window.owned=1">', ["<b>Eve</b>"],
     ["Markup attacks pages."]),
    ("script", 2004, '<script>window.owned=1</script> & "quotes"', [],
     ["Scripts attack pages too."]),
    ("emoji", 2005, "Faces \N{GRINNING FACE} in text", ["A. One", "B. Two", "C. Three", "D. Four"],
     ["Faces are characters."]),
    ("layout", 2006, "Layout of pages", ["E. Five"], ["Pages have a layout."]),
    ("review", 2009, "A review of pages", ["F. Six"], [
        "Markup <i>attacks</i> pages of others [attack, script].",
        "Pages with scripts are attacked by markup [attack, script, layout].",
        "Faces are drawn from characters [emoji].",
    ]),
    ("second", 2010, "A second review of pages", ["G. Seven"], [
        "Markup attacks the pages of a browser [attack, script].",
    ]),
    ("later", 2012, "Later pages", [], ["Pages are attacked [attack]."]),
    ("last", 2013, "Last pages", [], ["Pages are attacked by markup [script]."]),
]  # fmt: skip


def _record(paper_id: str, year: int, title: str, authors: list[str], texts: list[str]) -> dict:
    sentences = []
    for text in texts:
        found = re.search(r" \[(.*)\]", text)
        cited = found[1].split(", ") if found else []
        marker = {"start": found.start(), "end": found.end(), "cited_ids": cited} if found else None
        sentences.append({"text": text, "markers": [marker]} if marker else text)
    sections = [{"heading": "", "sentences": sentences}]
    return {
        **{"paper_id": paper_id, "year": year, "title": title, "authors": authors},
        "sections": sections,
        "references": [],
    }


@pytest.fixture(scope="session")
def planted_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index of eight papers, some with markup in titles, authors and sentences; random vectors."""
    import torch

    from mpbert.commands import build_corpus, build_index
    from mpbert.corpus.subwords import train_tokenizer
    from mpbert.model.config import Configuration, ModelConfig, ReadingConfig
    from mpbert.model.description import EncoderDescription
    from mpbert.model.directory import save_encoder
    from mpbert.model.encoder import TwoTower
    from mpbert.vectors.store import VectorStore

    root = tmp_path_factory.mktemp("planted")
    lines = [json.dumps(_record(*paper)) for paper in PAPERS]
    (root / "papers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build_corpus.run(build_corpus.Config(root / "papers.jsonl", root / "corpus", reader="jsonl"))
    train_tokenizer(lambda: [paper[2] for paper in PAPERS], 300, 1).save(str(root / "tokens.json"))
    sizes = ModelConfig(300, 8, 16, 2, 1, 1, 1, 0.0, 0.0, 0.0)
    torch.manual_seed(1)
    (root / "encoder").mkdir()
    state, reading = TwoTower(sizes).state_dict(), ReadingConfig(sentence_tokens=20)
    description = EncoderDescription("two-tower", Configuration(sizes, reading))
    save_encoder(root / "encoder", description, state, root / "tokens.json")
    vectors = np.random.default_rng(1).standard_normal((len(PAPERS), 8)).astype(np.float32)
    (root / "vectors").mkdir()
    VectorStore(CorpusStore(root / "corpus").paper_ids, vectors).save(root / "vectors", "papers")
    config = build_index.Config(
        root / "corpus", root / "encoder", root / "vectors", root / "index", readings=1
    )
    build_index.run(config)
    return root / "index"


@pytest.fixture(scope="session")
def planted(planted_index: Path) -> Iterator[TestClient]:
    """Client of an application that answers from the planted index."""
    with TestClient(create_app(Recommender(planted_index), PATIENT)) as client:
        yield client


def ask(client: TestClient, path: str, **question: object) -> dict:
    """Return the answer to a question that is right."""
    answer = client.post(path, json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="session")
def served() -> Callable[[ASGIApp], AbstractContextManager[str]]:
    """Return a context that serves an application from a thread, at the address it gives."""

    @contextmanager
    def serve(app: ASGIApp, **settings: object) -> Iterator[str]:
        config = uvicorn.Config(
            app, lifespan="off", log_config=None, log_level="warning", **settings
        )
        server, [listener] = uvicorn.Server(config), listen("127.0.0.1", 0)
        listener.listen()
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join(300)
        assert not thread.is_alive()

    return serve


ROUTERS = {
    "paper_id": "routers",
    "title": "Routers",
    "year": 2001,
    "abstract": ["Routers drop packets."],
}
MAIL = {
    "paper_id": "mail",
    "title": "Mail",
    "year": 2002,
    "abstract": ["Hosts relay mail to zebrafish."],
}
NAMES = {
    "paper_id": "names",
    "title": "Names",
    "year": 2003,
    "abstract": ["Servers resolve names."],
}


def _write(path: Path, *papers: dict) -> str:
    path.write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    return str(path)


@pytest.fixture
def library_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Index of two papers, ranked by words."""
    papers = _write(tmp_path / "papers.jsonl", ROUTERS, NAMES)
    assert main(["index", papers, str(tmp_path / "index")]) == 0
    return tmp_path / "index"


@pytest.fixture
def mail(tmp_path: Path) -> str:
    """File of a paper that the index does not hold."""
    return _write(tmp_path / "mail.jsonl", MAIL)


@pytest.fixture(scope="session")
def address(planted_index, served):
    """Address of the small index."""
    from mpbert.recommending.recommender import Recommender

    with served(create_app(Recommender(planted_index), PATIENT)) as address:
        yield address


@pytest.fixture
def page(browser, address):
    """The page of the small index; nothing may be said in its console."""
    from tests.browsing import Page

    page = Page(browser, address, browser.downloads)
    page.look()
    page.begin()
    browser.get_log("browser")
    yield page
    assert browser.get_log("browser") == []  # no error, nothing that the policy refused
