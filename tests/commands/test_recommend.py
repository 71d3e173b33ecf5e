"""Tests of ``recommend``."""

import json
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.data.binary import BinaryCorpus
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.fairseq


@pytest.fixture(scope="module")
def vectors(rfc_binary: Path, finetuned_encoder: Path, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("recommend") / "vectors"
    assert main(["embed", str(rfc_binary), str(finetuned_encoder), str(output)]) == 0
    return output


@pytest.fixture
def recommend(finetuned_encoder, vectors, rfc_corpus, capsys):
    def run(*flags: str) -> tuple[int, str, str]:
        paths = [str(p) for p in (finetuned_encoder, vectors, rfc_corpus)]
        code = main(["recommend", flags[0], *paths, *flags[1:]])
        return code, *capsys.readouterr()

    return run


def test_papers_are_ranked_for_each_place_with_titles(recommend, tmp_path, rfc_binary):
    path = tmp_path / "manuscript.txt"
    path.write_text("Names are resolved [CITATION]. Mail is sent. It is routed [CITATION].")
    code, out, _ = recommend(str(path), "--json", "--top", "3")
    assert code == 0
    places = json.loads(out)
    assert [place["sentence"] for place in places] == ["Names are resolved.", "It is routed."]
    ids = set(BinaryCorpus(rfc_binary).paper_ids)
    for place in places:
        scores = [paper["score"] for paper in place["papers"]]
        assert len(scores) == 3 and scores == sorted(scores, reverse=True)
        assert {paper["paper_id"] for paper in place["papers"]} <= ids
        assert all(paper["title"] for paper in place["papers"])


def test_text_output_is_the_same_each_time_and_shows_ranks(recommend, tmp_path):
    path = tmp_path / "manuscript.txt"
    path.write_text("Names are resolved [CITATION].")
    first, second = recommend(str(path)), recommend(str(path))
    assert first == second
    assert "place 1: Names are resolved." in first[1] and "\n  10  " in first[1]


def test_vectors_of_another_corpus_are_refused(finetuned_encoder, rfc_corpus, tmp_path, capsys):
    VectorStore(["a", "b"], np.eye(2, 16, dtype=np.float32)).save(tmp_path, "papers")
    path = tmp_path / "manuscript.txt"
    path.write_text("Names are resolved [CITATION].")
    arguments = [str(p) for p in (path, finetuned_encoder, tmp_path, rfc_corpus)]
    assert main(["recommend", *arguments]) == 2
    assert "expected 120, one per row of the corpus" in capsys.readouterr().err
