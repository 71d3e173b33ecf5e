"""The session of a new user in the docs, on fewer papers: its commands run, its outputs come."""

import re
import sys

import httpx2
import pytest

from tests.documented import ROOT, blocks, make_clone, shape, start

PAGE = ROOT / "docs" / "session.md"
ADDRESS = re.compile(r"http://\S+/")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return make_clone(tmp_path_factory.mktemp("clone"))


@pytest.mark.fairseq
@pytest.mark.recipe
def test_a_new_user_gets_from_a_grobid_folder_to_gensim_and_to_the_page(clone, rfc_archive):
    commands, made, code, near, serve, serving = (text for _, _, text in blocks(PAGE))
    assert "rfc_as_tei.py papers\n" in commands
    commands = commands.replace("rfc_as_tei.py papers\n", f"rfc_as_tei.py papers {rfc_archive}\n")
    for command, expected in (
        (("bash", "-ec", commands), made),
        ((sys.executable, "-c", code), near),
    ):
        process = start(clone, *command)
        output, _ = process.communicate(timeout=900)
        assert process.returncode == 0, output
        printed = set(map(shape, output.splitlines()))
        assert set(map(shape, expected.splitlines())) <= printed, output
    process = start(clone, "bash", "-c", f"exec {serve.strip()} --port 0")
    try:
        first = process.stdout.readline()
        assert shape(ADDRESS.sub("ADDRESS", first)) == shape(ADDRESS.sub("ADDRESS", serving))
        with httpx2.Client(base_url=ADDRESS.search(first)[0], timeout=300) as client:
            assert "<textarea" in client.get("/").text
            answer = client.post("/api/recommend", json={"text": "Path MTU discovery [CITATION]."})
            assert answer.json()
    finally:
        process.terminate()
        process.communicate(timeout=300)
