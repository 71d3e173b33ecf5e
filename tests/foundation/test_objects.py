"""Outputs by URL: in a folder as ``file://``, and in an S3 server where moto is installed."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.corpus.store import CorpusStore
from mpbert.foundation import object_claims, objects
from mpbert.foundation.errors import OutputError
from mpbert.foundation.manifest import check_inputs
from mpbert.foundation.object_claims import can_put_new, put_new
from mpbert.foundation.objects import store_of
from tests.papers import record
from tests.servers import NoServerError, Server, free_ports, listens

YEARS = ["--valid-year=2006", "--test-year=2007"]


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    """Address of a bucket in an S3 server of moto."""
    pytest.importorskip(
        "moto.server", reason="the S3 server of these tests is moto, see tests/servers.txt"
    )
    (port,) = free_ports(1)
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port]
    server = Server(words, tmp_path_factory.mktemp("moto") / "log")
    patch = pytest.MonkeyPatch()
    try:
        try:
            server.wait_until_up("the S3 server of moto", lambda: listens(port))
        except NoServerError as error:
            pytest.skip(str(error))
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        made = urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")
        urllib.request.urlopen(made, timeout=60).close()
        yield "s3://bucket"
    finally:
        patch.undo()
        server.end()


@pytest.fixture(params=["file", "s3"])
def place(request, tmp_path, monkeypatch):
    """URL of an empty place, with copies in a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if request.param == "file":
        return f"file://{tmp_path}/store"
    return f"{request.getfixturevalue('s3')}/{tmp_path.name}"


def papers_at(place: str) -> str:
    store, path = store_of(place)
    if store.type_name == "local":
        store.create_dir(path)
    with store.open_output_stream(f"{path}/papers.jsonl") as file:
        file.write("".join(record(number) + "\n" for number in range(40)).encode())
    return f"{place}/papers.jsonl"


def names_in(place: str) -> dict[str, bytes]:
    from pyarrow.fs import FileSelector, FileType

    store, path = store_of(place)
    found = store.get_file_info(FileSelector(path, recursive=True))
    files = [info.path for info in found if info.type == FileType.File]
    return {p[len(path) + 1 :]: store.open_input_stream(p).read() for p in files}


def test_a_corpus_by_url_is_that_of_a_path_and_is_read_on_another_machine(
    place, tmp_path, monkeypatch
):
    papers = papers_at(place)
    (tmp_path / "papers.jsonl").write_bytes(names_in(place)["papers.jsonl"])
    assert main(["build-corpus", str(tmp_path / "papers.jsonl"), str(tmp_path / "c"), *YEARS]) == 0
    assert main(["build-corpus", papers, f"{place}/c", *YEARS]) == 0
    stored = names_in(f"{place}/c")
    here = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert stored.keys() == here.keys()
    changing = ("log.txt", "config.yaml")  # seconds; paths
    assert all(stored[name] == here[name] for name in here if name not in changing)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other machine"))
    assert main(["check", f"{place}/c"]) == 0
    words = ["binarize", f"{place}/c", f"{place}/b", "--vocab-size=300"]
    assert main(words) == 0
    before = names_in(f"{place}/b")
    assert main(words) == 0  # reused
    assert names_in(f"{place}/b") == before


def test_an_output_without_its_manifest_is_none_and_is_stored_again(place, capsys):
    build = ["build-corpus", papers_at(place), f"{place}/c", *YEARS]
    assert main(build) == 0
    before = names_in(f"{place}/c")
    store, path = store_of(f"{place}/c")
    store.delete_file(f"{path}/manifest.json")  # as if it was killed before its end
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]))
    assert main(["check", f"{place}/c"]) == 2
    assert f"{place}/c: found no file and no finished output" in capsys.readouterr().err
    assert main(build) == 0
    after = names_in(f"{place}/c")
    assert after.keys() == before.keys()
    assert after["manifest.json"] == before["manifest.json"]


def test_files_of_an_unfinished_output_join_no_other(place, capsys, tmp_path, monkeypatch):
    """A killed command has left files there; the next one stores other contents."""
    papers = papers_at(place)
    assert main(["build-corpus", papers, f"{place}/c", *YEARS]) == 0
    store, path = store_of(f"{place}/c")
    with store.open_output_stream(f"{path}/data.7.npy") as file:
        file.write(b"left behind")
    store.delete_file(f"{path}/manifest.json")
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]))
    assert main(["build-corpus", papers, f"{place}/c", "--split=random", "--seed=3"]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other machine"))
    assert main(["check", f"{place}/c"]) == 0
    (manifest,) = (tmp_path / "other machine").rglob("manifest.json")
    copied = {file.name for file in manifest.parent.iterdir()}
    named = json.loads(manifest.read_text())["files"].keys()
    assert copied == named | {"manifest.json", "config.yaml", "log.txt"}


def test_of_two_machines_that_store_at_once_one_is_refused(place, tmp_path, monkeypatch):
    """Their outputs differ; they run in processes of their own, with caches of their own."""
    papers, running = papers_at(place), []
    for machine, flags in (("a", YEARS), ("b", ["--split=random", "--seed=3"])):
        cache = {"XDG_CACHE_HOME": str(tmp_path / machine)}
        words = [sys.executable, "-m", "mpbert", "build-corpus", papers, f"{place}/c", *flags]
        running.append(subprocess.Popen(words, env=os.environ | cache, stderr=subprocess.PIPE))
    said = [process.communicate(timeout=300)[1].decode() for process in running]
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0, 2], said
    (line,) = [x for x in said[codes.index(2)].splitlines() if x.startswith("mpbert build-corpus:")]
    assert f"{place}/c: " in line
    (won,) = (tmp_path / "ab"[codes.index(0)]).rglob("manifest.json")
    stored = names_in(f"{place}/c")
    assert stored == {path.name: path.read_bytes() for path in won.parent.iterdir()}
    assert not [name for name in names_in(place) if "claim" in name]
    assert main(["check", f"{place}/c"]) == 0


def test_the_claim_of_another_machine_is_told_and_may_be_deleted(place, capsys):
    build = ["build-corpus", papers_at(place), f"{place}/c", *YEARS]
    store, path = store_of(place)
    claim = f"{path}/.c.mpbert-claim.-other-123"  # before the names of all machines
    with store.open_output_stream(claim) as file:
        file.write(b"claimed")
    assert main(build) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert f"{place}/c: machine -other is storing it" in told and told.endswith(f"delete {claim}")
    assert not [name for name in names_in(place) if name.startswith("c/")]
    store.delete_file(claim)
    assert main(build) == 0
    assert "manifest.json" in names_in(f"{place}/c")


def test_never_do_two_machines_store_at_once(tmp_path, monkeypatch):
    from pyarrow.fs import LocalFileSystem

    monkeypatch.setattr(object_claims, "_PATIENCE", 0.2)
    monkeypatch.setattr(object_claims, "_LOOK", 0.001)
    inside, most, stored = set(), [0], []

    def store(name):
        where = LocalFileSystem(), f"{tmp_path}/c", name, "file://c"
        for _ in range(40):
            with contextlib.suppress(OutputError), object_claims.stored_alone(*where):
                inside.add(name)
                time.sleep(0.001)
                most.append(len(inside))
                stored.append(name)
                inside.remove(name)

    with ThreadPoolExecutor() as threads:
        list(threads.map(store, ["a-1", "b-1", "c-1"]))
    assert max(most) == 1 and len(stored) >= 40
    assert not list(tmp_path.iterdir())


def test_a_manifest_that_came_first_stays(s3, tmp_path, monkeypatch, capsys):
    """As if the claim of this machine was deleted, and another one stored its output meanwhile."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = f"{s3}/{tmp_path.name}"
    store, path = store_of(f"{place}/c/manifest.json")

    def put_later(*arguments):
        with store.open_output_stream(path) as file:
            file.write(b"{}")
        return put_new(*arguments)

    monkeypatch.setattr(objects, "put_new", put_later)
    assert main(["build-corpus", papers_at(place), f"{place}/c", *YEARS]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert f"{place}/c: another machine has stored another output there" in told
    assert names_in(f"{place}/c")["manifest.json"] == b"{}"


def test_of_many_that_put_an_object_one_succeeds(s3, tmp_path):
    url = f"{s3}/{tmp_path.name}"
    store, path = store_of(f"{url}/manifest.json")
    contents = [bytes([65 + number]) for number in range(8)]
    with ThreadPoolExecutor(len(contents)) as threads:
        done = list(threads.map(lambda content: put_new(store, path, url, content), contents))
    assert done.count(True) == 1
    assert names_in(url) == {"manifest.json": contents[done.index(True)]}
    assert not put_new(store, path, url, contents[0])


def test_without_the_extra_the_claim_stands_alone(s3, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = f"{s3}/{tmp_path.name}"
    assert not can_put_new(store_of(place)[0])
    assert main(["build-corpus", papers_at(place), f"{place}/c", *YEARS]) == 0
    assert "manifest.json" in names_in(f"{place}/c")


def test_a_bucket_that_is_not_there_is_told(s3):
    store, path = store_of("s3://no-such-bucket/c/manifest.json")
    with pytest.raises(OSError, match="NoSuchBucket"):
        put_new(store, path, "s3://no-such-bucket/c", b"")


def test_an_output_that_has_changed_in_the_store_is_copied_anew(place, tmp_path, monkeypatch):
    papers = papers_at(place)
    assert main(["build-corpus", papers, f"{place}/c", *YEARS]) == 0
    assert main(["check", f"{place}/c"]) == 0
    store, path = store_of(f"{place}/c")
    for name in names_in(f"{place}/c"):
        store.delete_file(f"{path}/{name}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other machine"))
    assert main(["build-corpus", papers, f"{place}/c", "--split=random", "--seed=3"]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["check", f"{place}/c"]) == 0
    copies = list((tmp_path / "cache").rglob("manifest.json"))
    assert [copy.read_bytes() for copy in copies] == [names_in(f"{place}/c")["manifest.json"]]
    check_inputs([copies[0].parent])
    assert CorpusStore(copies[0].parent).num_papers == 40


def test_a_damaged_object_is_named(place, capsys, tmp_path, monkeypatch):
    assert main(["build-corpus", papers_at(place), f"{place}/c", *YEARS]) == 0
    store, path = store_of(f"{place}/c")
    with store.open_output_stream(f"{path}/papers.parquet") as file:
        file.write(b"torn")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other machine"))
    assert main(["check", f"{place}/c"]) == 2
    assert "papers.parquet" in capsys.readouterr().err


def test_an_address_of_no_store_and_a_command_that_takes_none_are_one_line(capsys, tmp_path):
    assert main(["check", "nothing://a/b"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("mpbert check: nothing://a/b: cannot be read (")
    assert error.count("\n") == 1
    assert main(["add", f"file://{tmp_path}/index", "papers.jsonl"]) == 2
    assert "this command expects a path of this machine" in capsys.readouterr().err
