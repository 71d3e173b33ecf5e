"""Every stored format has a version; each is read, or refused with the command to make it anew."""

import json
import re

import numpy as np
import pytest

from mpbert.cli import COMMANDS, main
from mpbert.foundation.checksums import SEAL
from mpbert.foundation.errors import MpbertError
from mpbert.foundation.manifest import FORMATS, MANIFEST, read_manifest


def readers(place):
    """Return what opens each directory of the fixtures, as a library does."""
    from mpbert.corpus.binary import BinaryCorpus
    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import read_run
    from mpbert.methods.hyperdoc2vec.embedder import HyperDoc2Vec
    from mpbert.model.directory import load_two_tower
    from mpbert.pretrained.sentence_vectors import SentenceVectors
    from mpbert.recommending.directory import read_index
    from mpbert.vectors.store import VectorStore

    return {
        "corpus": lambda: sum(1 for _ in CorpusStore(place / "corpus").papers()),
        "binary": lambda: len(BinaryCorpus(place / "binary").token_counts()),
        "pretrained": lambda: load_two_tower(place / "pretrained"),
        "encoder": lambda: load_two_tower(place / "encoder"),
        "vectors": lambda: VectorStore.load(place / "vectors", "papers"),
        "hyperdoc2vec": lambda: HyperDoc2Vec.load(place / "hyperdoc2vec"),
        "runs": lambda: read_run(place / "runs" / "test.run"),
        "index": lambda: read_index(place / "index"),
        "index_2": lambda: read_index(place / "index_2"),
        "index_3": lambda: read_index(place / "index_3"),
        "index_4": lambda: read_index(place / "index_4"),
        "index_5": lambda: read_index(place / "index_5"),
        "index_6": lambda: read_index(place / "index_6"),
        "library": lambda: read_index(place / "library"),
        "library_2": lambda: read_index(place / "library_2"),
        "sentences": lambda: SentenceVectors(place / "sentences").dim,
    }


FIRST = ["corpus", "binary", "pretrained", "encoder", "vectors", "hyperdoc2vec", "runs", "index"]
INDEXES = [f"index_{number}" for number in range(2, 7)]
LIBRARIES = ["library", "library_2"]
KINDS = [*FIRST, *INDEXES, *LIBRARIES, "sentences"]
WORDS = {
    "corpus": ["binarize", "corpus", "out"],
    "binary": ["embed", "binary", "encoder", "out"],
    "pretrained": ["embed", "binary", "pretrained", "out"],
    "encoder": ["build-index", "corpus", "encoder", "vectors", "out"],
    "vectors": ["export-vectors", "vectors", "out"],
    "hyperdoc2vec": ["add-papers", "hyperdoc2vec", "corpus", "out"],
    "runs": ["misses", "corpus", "runs/test.run"],
    "index": ["remove", "index", "P03"],
    **{name: ["remove", name, "P03"] for name in (*INDEXES, *LIBRARIES)},
    "sentences": ["check", "sentences"],
}


@pytest.mark.parametrize("kind", [*FIRST, "sentences"])
def test_what_this_minor_version_wrote_is_read(kind, formats):
    assert readers(formats)[kind]()
    manifest = read_manifest(formats / kind)
    assert manifest["format"] == FORMATS[manifest["command"]]


def test_where_papers_appeared_is_known_since_the_sixth_format_of_an_index(formats):
    from mpbert.recommending.recommender import Recommender

    older, newer = (Recommender(formats / name) for name in ("library", "library_2"))
    assert older.keys == older.paper_ids and set(older.dois) == {None}
    assert older.bibtex("P03").startswith("@misc{P03,\n")
    assert "10.5555/post.1" in newer.dois
    assert newer.bibtex("queue2001routing").startswith("@article{queue2001routing,\n")


def test_an_older_index_gets_what_it_lacks_by_an_update(formats, monkeypatch, tmp_path, capsys):
    from mpbert.recommending.recommender import Recommender

    lines = (formats / "papers.jsonl").read_text().splitlines()
    (tmp_path / "papers.jsonl").write_text(
        json.dumps({**json.loads(lines[3]), "doi": "10.5555/P03"}) + "\n"
    )
    words = "add", str(formats / "library"), str(tmp_path / "papers.jsonl")
    assert main(list(words)) == 0 and "1 given were there already" in capsys.readouterr().out
    assert main([*words, "--update"]) == 0 and "1 replaced" in capsys.readouterr().out
    recommender = Recommender(formats / "library")
    assert recommender.paper("P03").doi == "10.5555/P03" and recommender.keys[3] == "P03"
    assert recommender.paper("P04").doi is None


def test_an_index_holds_matches_since_its_second_format_and_weights_since_its_third(
    formats, monkeypatch
):
    from mpbert.recommending.recommender import Recommender

    monkeypatch.chdir(formats)
    of_matches = dict.fromkeys(("index_2", "index_3", "index_4"), (33, 140))
    for number, (name, shape) in enumerate(of_matches.items(), start=2):
        before = read_manifest(formats / name)
        assert before["format"] == before["counts"]["index_format"] == number
        assert main(["add", name, "more.jsonl"]) == 0
        assert read_manifest(formats / name)["counts"]["index_format"] == 6
        matches = readers(formats)[name]().tables.matches
        assert (None if matches is None else (len(matches), matches.vocab_size)) == shape
        assert (readers(formats)[name]().places is not None) == (number >= 3)
        assert len(Recommender(formats / name).recommend("The router drops a key.")) == 10


def test_matches_are_the_same_paper_after_paper_and_token_after_token(formats):
    from mpbert.recommending.recommender import Recommender

    older, newer = (formats / name for name in ("index_3", "index_4"))
    assert (older / "data.1" / "papers.matches.npz").exists()
    assert not (newer / "data.1" / "papers.matches.npz").exists()
    old, new = (readers(formats)[path.name]().tables.matches for path in (older, newer))
    assert (old.matrix() != new.matrix()).nnz == 0 and old.matrix().nnz > 100
    for name in ("offsets", "papers", "weights"):
        assert np.array_equal(getattr(old.postings, name), getattr(new.postings, name))
    indexes = map(Recommender, (older, newer))
    answers = [index.recommend("The router drops a key.") for index in indexes]
    assert answers[0] == answers[1]


def test_vectors_of_sentences_are_read_with_the_corpus_that_they_are_of(formats):
    from mpbert.pretrained.sentence_vectors import SentenceVectors

    found = SentenceVectors(formats / "sentences")
    found.check_corpus(formats / "corpus")
    assert found.gather(np.arange(3)).shape == (3, found.dim) == (3, 8)


def test_there_is_a_directory_of_each_format(formats):
    made = {read_manifest(formats / kind)["command"] for kind in KINDS}
    # as fit, as retrieve; nothing reads it; as pretrain and finetune
    others = {"add-papers", "rerank", "answer", "report", "export-encoder"}
    assert made | others == set(FORMATS)
    assert set(FORMATS) <= set(COMMANDS)


@pytest.mark.parametrize("version", [0, 7, None])
@pytest.mark.parametrize("kind", KINDS)
def test_another_format_is_refused_with_the_command_that_makes_it_anew(
    kind, version, formats, monkeypatch, capsys
):
    path = formats / kind / MANIFEST
    manifest = json.loads(path.read_text())
    manifest.pop(SEAL, None)  # of what is changed here
    path.write_text(json.dumps({**manifest, "format": version, "mpbert": "9.1.0"}))
    if kind != "runs":  # a file that any program may have written
        with pytest.raises(MpbertError, match=f"found format {version} of mpbert"):
            readers(formats)[kind]()
    monkeypatch.chdir(formats)
    assert main(WORDS[kind]) == 2
    found = capsys.readouterr().err.splitlines()
    assert len(found) == 1
    command = re.search(r"written by version 9.1.0.* make it again with mpbert (\S+)$", found[0])
    assert command[1] == manifest["command"]


@pytest.mark.parametrize("kind", ["pretrained", "encoder"])
def test_an_encoder_without_a_manifest_says_its_format_itself(kind, formats):
    (formats / kind / MANIFEST).unlink()
    path = formats / kind / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 3}))
    with pytest.raises(MpbertError, match=r"config.json: .*format 3.*export-encoder, format 2"):
        readers(formats)[kind]()
