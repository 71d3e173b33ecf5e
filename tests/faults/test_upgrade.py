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
        "library": lambda: read_index(place / "library"),
        "library_2": lambda: read_index(place / "library_2"),
        "sentences": lambda: SentenceVectors(place / "sentences").dim,
    }


FIRST = ["corpus", "binary", "pretrained", "encoder", "vectors", "hyperdoc2vec", "runs"]
INDEXES = ["index", "index_2", "library", "library_2"]
KINDS = [*FIRST, *INDEXES, "sentences"]
WORDS = {
    "corpus": ["binarize", "corpus", "out"],
    "binary": ["embed", "binary", "encoder", "out"],
    "pretrained": ["embed", "binary", "pretrained", "out"],
    "encoder": ["build-index", "corpus", "encoder", "vectors", "out"],
    "vectors": ["export-vectors", "vectors", "out"],
    "hyperdoc2vec": ["add-papers", "hyperdoc2vec", "corpus", "out"],
    "runs": ["misses", "corpus", "runs/test.run"],
    **{name: ["remove", name, "P03"] for name in INDEXES},
    "sentences": ["check", "sentences"],
}


@pytest.mark.parametrize("kind", [*FIRST, "sentences"])
def test_what_this_minor_version_wrote_is_read(kind, formats):
    assert readers(formats)[kind]()
    manifest = read_manifest(formats / kind)
    assert manifest["format"] == FORMATS[manifest["command"]]


def test_an_index_of_tables_of_arrow_is_refused_with_the_command_that_makes_it_anew(
    formats, monkeypatch, capsys
):
    monkeypatch.chdir(formats)
    (formats / "text.txt").write_text("The router drops a packet [CITATION].")
    for words in (["recommend", "index_arrow", "text.txt"], ["add", "index_arrow", "more.jsonl"]):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "index_arrow: found format 6 of mpbert build-index" in line
        assert line.endswith(
            "reads format 7: move it away and make it again with mpbert build-index"
        )


def test_vectors_of_sentences_are_read_with_the_corpus_that_they_are_of(formats):
    from mpbert.pretrained.sentence_vectors import SentenceVectors

    found = SentenceVectors(formats / "sentences")
    found.check_corpus(formats / "corpus")
    assert found.gather(np.arange(3)).shape == (3, found.dim) == (3, 8)


def test_there_is_a_directory_of_each_format(formats):
    made = {read_manifest(formats / kind)["command"] for kind in KINDS}
    # as fit, as retrieve; nothing reads it; as pretrain and finetune
    others = {"add-papers", "rerank", "answer", "report", "export-encoder", "distil"}
    assert made | others == set(FORMATS)
    assert set(FORMATS) <= set(COMMANDS)


@pytest.mark.parametrize("version", [0, 9, None])
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
