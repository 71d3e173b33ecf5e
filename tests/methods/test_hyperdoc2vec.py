import dataclasses
import tarfile
from pathlib import Path

import numba
import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors

from mpbert.commands import add_papers, build_corpus, export_vectors
from mpbert.commands import fit as fit_command
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words
from mpbert.foundation.errors import CorpusError, VectorsError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.seeding import named_rng
from mpbert.methods.hyperdoc2vec.embedder import HyperDoc2Vec
from mpbert.methods.hyperdoc2vec.together import num_threads
from mpbert.vectors.store import VectorStore

QUICK = {"dim": 16, "epochs": 3, "citation_epochs": 5, "sample": 1e-3}
SETTINGS = [f"{name}={value}" for name, value in QUICK.items()]


def fit(store, **settings):
    fitted = HyperDoc2Vec(**{**QUICK, **settings})
    fitted.fit(store, named_rng(1, "test"))
    return fitted


def arrays(fitted):
    return fitted.word_in, fitted.word_out, fitted.document_in, fitted.document_out


@pytest.mark.parametrize("settings", [{}, {"noise": "citations", "scoring": "both"}])
def test_one_thread_and_two_give_the_same_bits(store, settings, use_threads):
    results = []
    for threads in (1, 2):
        use_threads(threads)
        results.append(arrays(fit(store, **settings)))
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)
        assert np.isfinite(one).all()
        assert one.any()


def test_training_leaves_openmp_its_threads(store, use_threads):
    """Starting those of numba would change them, for what torch computes afterwards."""
    use_threads(2)
    before = torch.get_num_threads()
    fit(store)
    assert torch.get_num_threads() == before
    with pytest.raises(ValueError, match="not initialized"):
        numba.threading_layer()


def test_there_are_as_many_threads_as_openmp_has_unless_numba_is_told_otherwise(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3,1")
    assert num_threads() == 3
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert num_threads() == 2
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert num_threads() == numba.config.NUMBA_DEFAULT_NUM_THREADS


def mean_advantage(store, fitted):
    """By how much the score of a cited paper is above the mean of all papers."""
    contexts = store.contexts("train")
    each = np.repeat(np.arange(len(contexts)), np.diff(contexts.cited_offsets))
    scores = fitted.embed_queries(store, store.contexts("train")).vectors @ fitted.document_out.T
    return (scores[each, contexts.cited_rows] - scores.mean(axis=1)[each]).mean()


def test_training_brings_contexts_near_what_they_cite(store):
    short, long = fit(store, citation_epochs=1), fit(store, citation_epochs=20)
    assert mean_advantage(store, long) > 2 * mean_advantage(store, short) > 0


def test_changes_at_once_teach_as_much_as_changes_in_order(store, use_threads):
    use_threads(2)
    in_order = fit(store, epochs=10, citation_epochs=20)
    at_once = fit(store, epochs=10, citation_epochs=20, updates="at_once")
    expected, found = (mean_advantage(store, fitted) for fitted in (in_order, at_once))
    assert found == pytest.approx(expected, rel=0.1)
    near = [
        np.argsort(-(vectors @ vectors.T)[:20, :200], axis=1)[:, 1:11]
        for vectors in (in_order.word_in, at_once.word_in)
    ]
    shared = [len(set(a) & set(b)) for a, b in zip(*near, strict=True)]
    assert np.mean(shared) > 7  # of the ten nearest words
    assert not np.array_equal(in_order.word_in, at_once.word_in)


def test_noise_of_sources_reaches_papers_that_are_never_cited_and_noise_of_citations_does_not(
    store,
):
    cited = np.unique(store.contexts("train").cited_rows)
    by_citations = fit(store, noise="citations").document_out.any(axis=1)
    assert np.array_equal(np.flatnonzero(by_citations), cited)
    sources = np.flatnonzero(store.paper_splits == "train")
    by_sources = fit(store, noise="sources").document_out.any(axis=1)
    assert np.array_equal(np.flatnonzero(by_sources), np.union1d(cited, sources))


@pytest.mark.parametrize("noise", ["sources", "citations"])
def test_no_paper_is_near_most_queries(store, noise):
    """A cited paper that is no noise is: in text order many papers cite nothing themselves."""
    fitted = fit(store, noise=noise, citation_epochs=20)
    scores = fitted.embed_queries(store, store.contexts("valid")).vectors @ fitted.document_out.T
    top = np.argsort(-scores, axis=1)[:, :10]
    cited_only = np.setdiff1d(
        store.contexts("train").cited_rows, store.contexts("train").citing_rows
    )
    assert len(cited_only) > 3
    assert np.isin(top, cited_only).mean() < 0.5


def test_a_corpus_without_citations_is_refused(store, monkeypatch):
    contexts = store.contexts("train")
    none = np.zeros(0, dtype=np.int64)
    empty = dataclasses.replace(
        contexts, query_ids=[], citing_rows=none, positions=none, cited_rows=none,
        cited_offsets=np.zeros(1, dtype=np.int64), years=none,
    )  # fmt: skip
    monkeypatch.setattr(store, "contexts", lambda split: empty)
    with pytest.raises(CorpusError, match="no paper of the training split cites another"):
        fit(store)


def test_queries_are_means_of_words_in_and_may_be_centred(store):
    fitted = fit(store)
    vector_of = dict(zip(fitted.words.to_pylist(), fitted.word_in, strict=True))
    contexts = store.contexts("valid")
    known = [w for w in words(store.local_texts(contexts)[2]) if w in vector_of]
    means = fitted.embed_queries(store, store.contexts("valid")).vectors
    assert np.allclose(means[2], np.mean([vector_of[w] for w in known], axis=0), atol=1e-6)
    fitted.query = "centred"
    moved = means - fitted.embed_queries(store, store.contexts("valid")).vectors
    assert np.allclose(moved, moved[0], atol=1e-6)
    assert np.allclose(
        fitted.embed_queries(store, store.contexts("train")).vectors.mean(axis=0), 0, atol=1e-5
    )


def test_scoring_by_both_halves_adds_the_other_dot_product(store):
    fitted = fit(store, scoring="both")
    queries, papers = (
        fitted.embed_queries(store, store.contexts("test")).vectors,
        fitted.embed_papers(store).vectors,
    )
    words_in, words_out = queries[:, :16], queries[:, 16:]
    expected = words_in @ fitted.document_out.T + words_out @ fitted.document_in.T
    assert np.allclose(queries @ papers.T, expected, atol=1e-4)
    fitted.scoring = "out"
    assert np.array_equal(fitted.embed_queries(store, store.contexts("test")).vectors, words_in)
    assert fitted.document_in[store.paper_splits == "test"].any(axis=1).all()


@pytest.fixture(scope="module")
def part_and_whole(rfc_archive, rfc_corpus, tmp_path_factory):
    """Two stores: one lacks every ninth paper, so has other rows."""
    root = tmp_path_factory.mktemp("part")
    gone = CorpusStore(rfc_corpus).paper_ids[3::9]
    with tarfile.open(rfc_archive) as archive, tarfile.open(root / "part.tar", "w") as remains:
        for member in archive:
            if Path(member.name).stem.upper() not in gone:
                remains.addfile(member, archive.extractfile(member))
    part = root / "part"
    build_corpus.run(build_corpus.Config(root / "part.tar", part, reader="rfc"))
    return part, rfc_corpus, gone


def test_added_papers_get_vectors_and_nothing_else_changes_a_bit(part_and_whole, tmp_path):
    part, whole, gone = part_and_whole
    fitted, added = tmp_path / "fitted", tmp_path / "added"
    fit_command.run(fit_command.Config(part, fitted, method="hyperdoc2vec", settings=SETTINGS))
    add_papers.run(add_papers.Config(fitted, whole, added))
    counts = read_manifest(added)["counts"]
    assert counts["papers_new"] == len(gone)
    assert counts["citations_of_new_papers"] > 0
    for name in ("words.in", "words.out"):
        assert np.array_equal(
            VectorStore.load(fitted, name).vectors, VectorStore.load(added, name).vectors
        )
    for name in ("documents.in", "documents.out"):
        old, new = VectorStore.load(fitted, name), VectorStore.load(added, name)
        assert all(np.array_equal(old[paper_id], new[paper_id]) for paper_id in old.ids)
    documents_in = VectorStore.load(added, "documents.in")
    assert all(documents_in[paper_id].any() for paper_id in gone)
    store = CorpusStore(whole)
    cited = {store.paper_ids[row] for row in store.contexts("train").cited_rows}
    documents_out = VectorStore.load(added, "documents.out")
    assert all(documents_out[paper_id].any() for paper_id in gone if paper_id in cited)
    contexts = store.contexts("train")
    each = np.repeat(np.arange(len(contexts)), np.diff(contexts.cited_offsets))
    is_new = np.isin(store.paper_ids, gone)
    queries = VectorStore.load(added, "contexts.test").vectors
    top = np.argsort(-queries @ documents_out.vectors.T, axis=1)[:, :10]
    assert is_new[top].mean() < 0.3  # a ninth of the papers
    loaded = HyperDoc2Vec.load(added)
    scores = loaded.embed_queries(store, store.contexts("train")).vectors @ documents_out.vectors.T
    of_new = is_new[contexts.cited_rows]
    advantage = scores[each, contexts.cited_rows] - scores.mean(axis=1)[each]
    assert advantage[of_new].mean() > 0.3 * advantage[~of_new].mean() > 0
    again = tmp_path / "again"
    add_papers.run(add_papers.Config(added, whole, again))  # nothing is new now
    assert read_manifest(again)["counts"]["papers_new"] == 0


def test_vectors_of_another_embedder_are_refused(rfc_corpus, tmp_path):
    fit_command.run(fit_command.Config(rfc_corpus, tmp_path / "chance", method="chance"))
    with pytest.raises(VectorsError, match=r"hyperdoc2vec.json: unreadable .*made by mpbert fit"):
        add_papers.run(add_papers.Config(tmp_path / "chance", rfc_corpus, tmp_path / "out"))


def test_a_store_of_other_papers_is_refused(store):
    fitted = fit(store, epochs=1, citation_epochs=1)
    fitted.paper_ids = [f"other {i}" for i in range(store.num_papers)]
    with pytest.raises(VectorsError, match="found none of the 120 papers of these vectors"):
        fitted.add_papers(store, named_rng(1, "test"))


@pytest.mark.parametrize("side", ["words.in", "words.out", "documents.in", "documents.out"])
def test_all_four_matrices_load_in_gensim(store, rfc_corpus, tmp_path, side):
    fitted = fit(store, epochs=1, citation_epochs=1)
    (tmp_path / "vectors").mkdir()
    fitted.save(store, tmp_path / "vectors")
    export_vectors.run(
        export_vectors.Config(tmp_path / "vectors", tmp_path / "out", side=side, corpus=rfc_corpus)
    )
    loaded = KeyedVectors.load_word2vec_format(str(tmp_path / "out" / "vectors.txt"))
    expected = VectorStore.load(tmp_path / "vectors", side)
    assert list(loaded.index_to_key) == expected.ids
    assert np.allclose(loaded.vectors, expected.vectors, rtol=1e-5)
