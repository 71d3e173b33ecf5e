"""Tests of the index directory, and of papers as BibTeX."""

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mpbert.cli import main
from mpbert.foundation.errors import EncoderError, IndexFormatError
from mpbert.foundation.manifest import read_manifest
from mpbert.recommending import directory
from mpbert.recommending.bibtex import bibtex_entry, escape
from mpbert.recommending.citation_keys import bibtex_key
from mpbert.recommending.directory import ARRAYS
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.records import IndexedPaper
from mpbert.vectors.store import VectorStore


@pytest.fixture
def index(rfc_index, tmp_path):
    return shutil.copytree(rfc_index, tmp_path / "index")


@pytest.fixture
def unchecked(monkeypatch):
    """Checksums are not compared: the files were written wrongly, and their checksums with them."""
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-40])


def edit_manifest(index, **counts):
    manifest = read_manifest(index)  # without the checksum of itself
    manifest["counts"].update(counts)
    (index / "manifest.json").write_text(json.dumps(manifest))


def with_vectors(index, change):
    path = index / "data.1" / "vectors.npy"
    np.save(path, change(np.load(path)))


def with_nan(vectors):
    vectors[5, 3] = np.nan
    return vectors


DAMAGES = {
    "no manifest": (lambda i: (i / "manifest.json").unlink(), "no readable manifest.json"),
    "generation": (
        lambda i: edit_manifest(i, generation="x"),
        "found generation, readings and seed",
    ),
    "no data": (lambda i: shutil.rmtree(i / "data.1"), "missing or damaged"),
    "vectors cut": (lambda i: cut_short(i / "data.1" / "vectors.npy"), "vectors.npy: missing or"),
    "vectors NaN": (lambda i: with_vectors(i, with_nan), "holds NaN or infinity"),
    "vectors fewer": (lambda i: with_vectors(i, lambda v: v[1:]), "for 120 ids; expected one row"),
    "dim": (lambda i: with_vectors(i, lambda v: np.hstack([v, v])), "of 16 .*, those of"),
    "papers cut": (
        lambda i: cut_short(i / "data.1" / "papers.title.letters.npy"),
        "papers.title.letters.npy: missing or",
    ),
    "papers empty": (
        lambda i: (i / "data.1" / "papers.year.npy").write_bytes(b""),
        "papers.year.npy: missing or",
    ),
    "swapped": (
        lambda i: shutil.copy(
            i / "data.1" / "contexts.text.offsets.npy", i / "data.1" / "papers.title.offsets.npy"
        ),
        r"papers.title.offsets.npy: missing or damaged \(found offsets up to",
    ),
    "years of other papers": (
        lambda i: shutil.copy(
            i / "data.1" / "contexts.position.npy", i / "data.1" / "papers.year.npy"
        ),
        "found columns of papers of different lengths",
    ),
    "published cut": (
        lambda i: np.save(
            i / "data.1" / "papers.published.offsets.npy", np.r_[np.zeros(120, int), 840]
        ),
        "papers.published.offsets.npy does not fit; expected 7 values",
    ),
    "pickle": (
        lambda i: np.save(i / "data.1" / "idf.npy", np.array([{}]), allow_pickle=True),
        "idf.npy: missing or damaged",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_refused_in_one_line(index, damage, unchecked):
    spoil, message = DAMAGES[damage]
    spoil(index)
    with pytest.raises(IndexFormatError, match=message) as caught:
        Recommender(index)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_cut_short_is_noticed(index, name, unchecked):
    cut_short(index / "data.1" / f"{name}.npy")
    with pytest.raises(IndexFormatError, match="missing or damaged"):
        Recommender(index)


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "idf"])
def test_every_array_that_does_not_fit_is_noticed(index, name, unchecked):
    path = index / "data.1" / f"{name}.npy"
    np.save(path, np.load(path)[:-1])
    with pytest.raises(IndexFormatError, match="does not fit its neighbours"):
        Recommender(index)


def test_other_directories_are_no_index(rfc_corpus, tmp_path):
    with pytest.raises(IndexFormatError, match="found an output of mpbert build-corpus; expected"):
        Recommender(rfc_corpus)
    with pytest.raises(IndexFormatError, match="make one with mpbert build-index"):
        Recommender(tmp_path / "nothing")


def test_a_damaged_encoder_is_refused(index, unchecked):
    cut_short(index / "encoder" / "model.safetensors")
    with pytest.raises(EncoderError, match=r"model\.safetensors: unreadable"):
        Recommender(index)


def test_an_index_needs_nothing_outside_of_it(index, rfc_index):
    names = {path.suffix for path in index.rglob("*") if path.is_file()}
    assert names == {".npy", ".json", ".safetensors", ".yaml", ".txt"}
    manifest = json.loads((index / "manifest.json").read_text())
    assert str(rfc_index.parents[1]) not in json.dumps(manifest)
    assert manifest["counts"]["papers"] == 120 and len(manifest["files"]) >= len(ARRAYS) + 6


@pytest.fixture
def build(rfc_corpus, micro_encoder, micro_vectors, tmp_path, capsys):
    def run(*flags, **paths):
        given = {"corpus": rfc_corpus, "encoder": micro_encoder, "vectors": micro_vectors, **paths}
        code = main(["build-index", *map(str, given.values()), str(tmp_path / "built"), *flags])
        return code, "".join(capsys.readouterr())

    return run


def test_the_same_inputs_give_the_same_bytes(build, rfc_index, tmp_path):
    assert build()[0] == 0
    manifests = [
        json.loads((p / "manifest.json").read_text()) for p in (tmp_path / "built", rfc_index)
    ]
    assert manifests[0] == manifests[1]
    code, error = build()
    assert code == 0 and "exists, reused" in error


def test_vectors_of_another_corpus_or_encoder_are_refused(build, micro_encoder, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    VectorStore(["a", "b"], np.eye(2, 16, dtype=np.float32)).save(few, "papers")
    code, error = build(vectors=few)
    assert code == 2 and "expected 120, one per row of the corpus" in error
    other = shutil.copytree(micro_encoder, tmp_path / "other")
    weights = load_file(other / "model.safetensors")
    save_file({name: value + 1 for name, value in weights.items()}, other / "model.safetensors")
    code, error = build(encoder=other)
    assert code == 2 and "were not made with" in error and error.count("\n") == 1
    assert not (tmp_path / "built").exists()


def test_an_index_of_the_first_numbers_asks_and_adds_with_as_many(build, rfc_index, tmp_path):
    code, error = build("--dim=17")
    assert code == 2 and "--dim 17: the vectors have 16 dimensions; expected 1 to 16" in error
    assert build("--dim=4")[0] == 0
    found, whole = Recommender(tmp_path / "built"), Recommender(rfc_index)
    first = whole.vectors[:, :4]
    expected = first / np.linalg.norm(first, axis=1, keepdims=True)
    assert np.allclose(found.vectors, expected, atol=1e-6)
    text = "The header of a packet has a field for the traffic class."
    ranked = [p.paper_id for p in found.recommend(text, ranker="dense", top=120)]
    assert ranked != [p.paper_id for p in whole.recommend(text, ranker="dense", top=120)]
    one = {"paper_id": "new", "title": "A header", "year": 2021, "abstract": ["It has a field."]}
    (tmp_path / "one.jsonl").write_text(json.dumps(one) + "\n")
    assert main(["add", str(tmp_path / "built"), str(tmp_path / "one.jsonl")]) == 0
    assert Recommender(tmp_path / "built").vectors.shape == (121, 4)


def paper(**values):
    given = {"title": "T", "authors": (), "year": 2001, "venue": "", "abstract": "", **values}
    return IndexedPaper(paper_id="x", **given)


def test_an_entry_has_the_fields_that_are_known():
    entry = bibtex_entry(
        paper(title="IPv6 & you", authors=("A. Bö, Ed.", "R and D"), venue="50% #1"), "k"
    )
    assert entry == (
        '@misc{k,\n  title = {{IPv6 {\\&} you}},\n  author = {A. B{\\"o} and {R and D}},\n'
        "  year = {2001},\n  howpublished = {50{\\%} {\\#}1},\n}"
    )
    written = bibtex_entry(paper(authors=("Rada Mihalcea and\n Dan Moldovan",)), "k")
    assert "  author = {Rada Mihalcea and Dan Moldovan},\n" in written
    assert bibtex_entry(paper(year=None), "k") == "@misc{k,\n  title = {{T}},\n}"


def test_any_text_is_escaped_with_balanced_braces():
    escaped = escape('}{ \\ $x_1^2$ ~ "q" <a> # % & 中 ﬁ é {')
    depth = 0
    for character in escaped:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"(?<!\\)[$&%#_]", escaped)


def test_keys_are_unique_also_without_regard_to_case():
    ids = ["A", "a", "+a", "++a", "+61+", "a,b", "a{b", "ab", "é", "_", "conf/acl_1:2-3.4"]
    keys = [bibtex_key(paper_id, with_case=True) for paper_id in ids]
    assert len({key.lower() for key in keys}) == len(ids)
    assert all(re.fullmatch(r"[\w+.:/-]+", key, re.ASCII) for key in keys)
    assert bibtex_key("conf/acl_1:2-3.4") == "conf/acl_1:2-3.4"


def test_keys_of_an_index_are_unique(rfc_index):
    recommender = Recommender(rfc_index)
    entries = [recommender.bibtex(paper_id) for paper_id in recommender.paper_ids]
    keys = [re.match(r"@misc\{([^,]+),", entry)[1].lower() for entry in entries]
    assert len(set(keys)) == 120


def test_ids_that_differ_by_case_alone_get_different_keys(index, tmp_path, capsys):
    path = tmp_path / "papers.jsonl"
    records = [
        {"paper_id": i, "title": "T", "year": 2000, "abstract": ["A."]} for i in ("Ab", "aB")
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert main(["add", str(index), str(path)]) == 0
    recommender = Recommender(index)
    assert recommender.bibtex("Ab").startswith("@misc{++ab,")
    assert recommender.bibtex("aB").startswith("@misc{a++b,")
