"""Tests of ``index``: a library becomes an index at once, which recommend, serve and others use."""

import json

import numpy as np
import pytest
from starlette.testclient import TestClient

from mpbert.cli import main
from mpbert.corpus import build
from mpbert.foundation.manifest import read_manifest
from mpbert.pretrained.sentence_encoder import SentenceEncoder
from mpbert.recommending.paper_blocks import BlocksBy
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

ROUTERS = {
    "paper_id": "routers",
    "title": "Routers drop packets",
    "year": 2001,
    "abstract": ["A router drops what it cannot send.", "It says so."],
}
NAMES = {
    "paper_id": "names",
    "title": "Names of hosts",
    "year": 2002,
    "abstract": ["Servers resolve names."],
    "sections": [{"heading": "Body", "sentences": ["A zebrafish keeps the answers in a cache."]}],
}
MAIL = {"paper_id": "mail", "title": "A relay of mail", "year": 2003, "abstract": ["Mail waits."]}


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def library(tmp_path):
    return write(tmp_path / "papers.jsonl", ROUTERS, NAMES)


def ids(found):
    return [paper.paper_id for paper in found]


def test_a_library_without_citations_is_an_index_by_words(library, tmp_path, run):
    index = tmp_path / "index"
    code, out, _ = run("index", library, index)
    assert code == 0
    assert "2 papers read as jsonl, 0 sentences that cite them; ranked by words\n" in out
    assert "training will pay" not in out and "nothing was learnt from this library" in out
    assert "titles of 2 papers and abstracts of 2, counted 3 times; texts of 1; 0 citing" in out
    assert "needs about 3,000 citing sentences, this library has 0" in out
    recommender = Recommender(index)
    assert recommender.vectors.shape == (2, 0) and not (index / "encoder").exists()
    for ranker in ("both", "words"):
        # a word of the body alone
        assert ids(recommender.recommend("The zebrafish swims", ranker=ranker)) == ["names"]
    assert ids(recommender.recommend("Packets are lost")) == ["routers"]
    code, out, _ = run("index", library, index)
    assert code == 0 and "exists, reused" in out


def test_vectors_are_refused_where_there_are_none(library, tmp_path, run):
    assert run("index", library, tmp_path / "index")[0] == 0
    (tmp_path / "text.txt").write_text("Packets are lost [CITATION].")
    code, out, _ = run("recommend", tmp_path / "index", tmp_path / "text.txt")
    assert code == 0 and "routers  Routers drop packets (2001)" in out
    words = "recommend", tmp_path / "index", tmp_path / "text.txt", "--ranker", "dense"
    code, _, error = run(*words)
    assert code == 2 and error.count("\n") == 1
    assert "the index has no vectors; expected 'words' or 'both'" in error


def test_the_index_is_added_to_removed_from_and_checked(library, tmp_path, run):
    index = tmp_path / "index"
    assert run("index", library, index)[0] == 0
    before = {path.name: path.read_bytes() for path in (index / "data.1").iterdir()}
    code, out, _ = run("add", index, write(tmp_path / "new.jsonl", MAIL, NAMES))
    assert code == 0 and "3 papers, 1 of them new, 1 given were there already" in out
    found = Recommender(index).recommend("Relay mail to zebrafish")
    assert set(ids(found)) == {"mail", "names"}
    assert run("check", index)[0] == 0
    assert run("remove", index, "mail")[0] == 0
    assert {p.name: p.read_bytes() for p in (index / "data.3").iterdir()} == before


def test_the_page_and_the_map_are_served_without_vectors(library, tmp_path, run):
    assert run("index", library, tmp_path / "index")[0] == 0
    recommender = Recommender(tmp_path / "index")
    app = create_app(recommender, Limits(1 << 20, 10.0, 10))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/api/index").json()["dim"] == 0
        found = client.get("/api/map").json()
        assert found["paper_ids"] == ["names", "routers"] and len(found["x"]) == 2  # by words
        answer = client.post("/api/recommend", json={"text": "Packets are lost"}).json()
        assert [paper["paper_id"] for paper in answer["papers"]] == ["routers"]


def test_a_pretrained_encoder_makes_means_of_sentences(library, small_encoder, tmp_path, run):
    index = tmp_path / "index"
    code, out, _ = run("index", library, index, "--encoder", small_encoder)
    assert code == 0 and "ranked by words and small-encoder" in out
    assert "and by vectors of small-encoder, which counts half as much, since it was not" in out
    recommender, encoder = Recommender(index), SentenceEncoder(small_encoder)
    texts = [ROUTERS["title"], *ROUTERS["abstract"]]
    mean = encoder.encode(texts).mean(axis=0)
    row = recommender.paper_ids.index("routers")
    np.testing.assert_allclose(recommender.vectors[row], mean / np.linalg.norm(mean), atol=1e-5)
    assert len(recommender.recommend("Packets are lost", ranker="dense")) == 2
    by_words = {p.paper_id: p.score for p in recommender.recommend("Packets are", ranker="words")}
    by_vectors = recommender.recommend("Packets are", ranker="dense")
    best = by_words["routers"], by_vectors[0].score
    expected = {
        paper.paper_id: by_words.get(paper.paper_id, 0.0) / best[0] + paper.score / best[1] / 2
        for paper in by_vectors
    }
    found = {p.paper_id: p.score for p in recommender.recommend("Packets are", ranker="both")}
    assert found == pytest.approx(expected, abs=1e-5)
    assert str(small_encoder) not in (index / "manifest.json").read_text()
    assert run("add", index, write(tmp_path / "new.jsonl", MAIL))[0] == 0
    alone = encoder.encode([MAIL["title"], *MAIL["abstract"]]).mean(axis=0)
    vectors = Recommender(index).vectors
    np.testing.assert_allclose(vectors[0], alone / np.linalg.norm(alone), atol=1e-5)
    assert run("check", index)[0] == 0


def test_an_encoder_of_mpbert_makes_the_vectors_of_add(
    library, micro_encoder, rfc_index, tmp_path, run
):
    index = tmp_path / "index"
    code, out, _ = run("index", library, index, "--encoder", micro_encoder)
    assert code == 0 and "ranked by words and encoder" in out
    found = Recommender(index)
    texts = [ROUTERS["title"], *ROUTERS["abstract"]]
    other = Recommender(rfc_index)._encoder.embed_paper("routers", texts, 3)
    np.testing.assert_allclose(found.vectors[1], other, atol=1e-6)


def test_exact_matches_of_an_encoder_are_kept(library, matching, tmp_path, run):
    index = tmp_path / "index"
    code, out, _ = run("index", library, index, "--encoder", matching.encoder)
    assert code == 0 and "and by vectors and exact matches of encoder, which counts half" in out
    recommender = Recommender(index)
    assert len(recommender.recommend("Packets are lost")) == 2
    for text, first in (("Zebrafish", "names"), ("What it cannot send", "routers")):
        for ranker in ("words", "both"):  # the encoder knows neither library nor zebrafish
            assert ids(recommender.recommend(text, ranker=ranker))[0] == first


def test_citing_sentences_are_found_and_training_is_told_of(
    rfc_archive, tmp_path, run, monkeypatch
):
    monkeypatch.setattr("mpbert.recommending.library.ENOUGH", 500)
    code, out, _ = run("index", rfc_archive, tmp_path / "index")
    assert code == 0 and "120 papers read as rfc" in out
    (line,) = [line for line in out.splitlines() if line.startswith("training will pay: ")]
    assert "training would add" not in out
    trained = tmp_path / "index-trained"
    assert line.endswith(f": mpbert index {rfc_archive} {trained} --train")
    counts = read_manifest(tmp_path / "index")["counts"]
    assert counts["reader"] == "rfc" and counts["citing_sentences"] > 500
    found = Recommender(tmp_path / "index").recommend("Mail is relayed")
    assert any(paper.why.citing for paper in found)


def test_tables_need_no_citations(tmp_path, run):
    (tmp_path / "tables").mkdir()
    table = "paper_id,title,abstract,year\na,Routers,They drop packets.,\nb,Names,,2001\n"
    (tmp_path / "tables" / "papers.csv").write_text(table)
    code, out, _ = run("index", tmp_path / "tables", tmp_path / "index")
    assert code == 0 and "2 papers read as csv" in out
    assert "kept without a year: 1\n" in out and "kept with a title alone: 1\n" in out
    assert "titles of 2 papers and abstracts of 1, counted 3 times" in out
    assert Recommender(tmp_path / "index").paper("a").year is None


@pytest.mark.parametrize(
    ("text", "flags", "message"),
    [
        ("", (), "found no paper with a title and text among 0 records"),
        ("{}\n", (), r"papers.jsonl:1: record: found 'paper_id' is a required property"),
        ("x", ("--reader", "bibtx"), "invalid choice: 'bibtx'"),
        ("x", ("--encoder", "EMPTY"), "found no *.safetensors; expected the folder of an encoder"),
        ("x", ("--readings", "0"), "--readings 0; expected 1 or more"),
    ],
)
def test_bad_input_is_refused_in_one_line(text, flags, message, tmp_path, capsys):
    path, empty = tmp_path / "papers.jsonl", tmp_path / "empty"
    empty.mkdir()
    path.write_text(text if text != "x" else json.dumps(ROUTERS) + "\n")
    words = [str(empty) if flag == "EMPTY" else flag for flag in flags]
    try:
        code = main(["index", str(path), str(tmp_path / "index"), *words])
    except SystemExit as end:
        code = end.code
    error = capsys.readouterr().err
    assert code == 2 and message in error
    assert not (tmp_path / "index").exists()


def test_an_index_in_its_own_library_is_refused(library, tmp_path, run):
    code, _, error = run("index", tmp_path, tmp_path / "index")
    assert code == 2 and "lies in the library" in error
    code, _, error = run("index", tmp_path / "nothing", tmp_path / "index")
    assert code == 2 and "no such file; expected a file or a folder of papers" in error


def test_a_killed_run_goes_on_with_the_papers_that_it_has_read(tmp_path, run, monkeypatch):
    monkeypatch.setattr("mpbert.corpus.build._CHUNK", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    library, index = write(tmp_path / "papers.jsonl", ROUTERS, NAMES, MAIL), tmp_path / "index"
    clean, titles = build.clean_paper, []

    def cleaned(paper, *others):
        titles.append(paper.title)
        if len(titles) == 3:
            raise KeyboardInterrupt
        return clean(paper, *others)

    monkeypatch.setattr(build, "clean_paper", cleaned)
    assert run("index", library, index)[0] == 130
    assert not index.exists() and (tmp_path / ".index.mpbert-parts").is_dir()
    assert run("index", library, index)[0] == 0
    assert titles == [*(paper["title"] for paper in (ROUTERS, NAMES, MAIL)), MAIL["title"]]
    assert {path.name for path in tmp_path.iterdir()} == {"papers.jsonl", "index"}
    assert run("index", library, tmp_path / "at once")[0] == 0
    files = [
        {file.name: file.read_bytes() for file in (tmp_path / name / "data.1").iterdir()}
        for name in ("index", "at once")
    ]
    assert files[0] == files[1]


def test_a_killed_run_goes_on_with_the_blocks_that_it_has_made(tmp_path, run, monkeypatch):
    monkeypatch.setattr("mpbert.recommending.library_tables._BLOCK", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    library, index = write(tmp_path / "papers.jsonl", ROUTERS, NAMES, MAIL), tmp_path / "index"
    make, firsts = BlocksBy.__call__, []

    def made(work, block):
        firsts.append(block.first)
        if len(firsts) == 3:
            raise KeyboardInterrupt
        return make(work, block)

    monkeypatch.setattr(BlocksBy, "__call__", made)
    assert run("index", library, index)[0] == 130 and not index.exists()
    assert run("index", library, index)[0] == 0 and firsts == [0, 1, 2, 2]
    assert run("index", library, tmp_path / "at once")[0] == 0
    files = [
        {file.name: file.read_bytes() for file in (tmp_path / name / "data.1").iterdir()}
        for name in ("index", "at once")
    ]
    assert files[0] == files[1]


def test_a_library_that_is_refused_keeps_no_papers(tmp_path, run):
    library = write(tmp_path / "papers.jsonl", ROUTERS)
    library.write_text(library.read_text() + "{\n")
    assert run("index", library, tmp_path / "index")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["papers.jsonl"]
