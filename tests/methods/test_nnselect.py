import numpy as np
import pytest

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.seeding import named_rng
from mpbert.methods import training
from mpbert.methods.citeomatic import nnselect_training
from mpbert.methods.citeomatic.nnselect_training import nearest
from mpbert.methods.embedding import make_embedder

QUICK = ["dim=32", "triplets=6000", "neighbours=10"]


@pytest.fixture(scope="module")
def store(rfc_corpus):
    return CorpusStore(rfc_corpus)


def fitted(store, *settings, checkpoint=None):
    embedder = make_embedder("nnselect", [*QUICK, *settings])
    embedder.checkpoint = checkpoint
    embedder.fit(store, named_rng(1, "test"))
    return embedder


def recall_at_10(embedder, store, task):
    queries = store.queries("valid", task)
    scores = embedder.embed_queries(store, queries).vectors @ embedder.embed_papers(store).vectors.T
    scores[np.arange(len(queries)), queries.citing_rows] = -np.inf
    best = np.argsort(-scores, axis=1)[:, :10]
    return np.mean([np.isin(queries.cited(i), best[i]).mean() for i in range(len(queries))])


@pytest.mark.parametrize(("queries", "task"), [("global", "global"), ("both", "local")])
def test_training_finds_more_of_what_validation_papers_cite(store, queries, task):
    before = recall_at_10(fitted(store, "epochs=0"), store, task)
    after = recall_at_10(fitted(store, "epochs=2", f"queries={queries}"), store, task)
    assert after > before + 0.05


def test_vectors_have_length_1_and_contexts_read_the_abstract_where_asked(store):
    alone, both = fitted(store, "epochs=0"), fitted(store, "epochs=0", "query=context+abstract")
    contexts = store.contexts("valid")
    assert np.allclose(np.linalg.norm(alone.embed_papers(store).vectors, axis=1), 1)
    assert np.array_equal(alone.embed_papers(store).vectors, both.embed_papers(store).vectors)
    papers = alone.embed_papers(store).vectors[contexts.citing_rows]
    nearness = [
        (embedder.embed_queries(store, contexts).vectors * papers).sum(axis=1).mean()
        for embedder in (alone, both)
    ]
    assert nearness[1] > nearness[0] + 0.2


def test_a_killed_training_goes_on_and_ends_in_the_same_vectors(store, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
    settings = "epochs=3", "triplets=1000"
    whole = fitted(store, *settings)
    epochs = iter(range(3))
    sample = nnselect_training.NNSelectLearner.sample

    def sample_or_die(self, num, rng):
        if next(epochs) == 2:
            raise KeyboardInterrupt
        return sample(self, num, rng)

    with monkeypatch.context() as patch:
        patch.setattr(nnselect_training.NNSelectLearner, "sample", sample_or_die)
        with pytest.raises(KeyboardInterrupt):
            fitted(store, *settings, checkpoint=tmp_path)
    again = []
    monkeypatch.setattr(
        nnselect_training.NNSelectLearner,
        "sample",
        lambda *args: again.append(1) or sample(*args),
    )
    resumed = fitted(store, *settings, checkpoint=tmp_path)
    assert len(again) == 1
    assert np.array_equal(resumed.embed_papers(store).vectors, whole.embed_papers(store).vectors)


def test_nearest_are_the_largest_products():
    rng = np.random.default_rng(1)
    queries, papers = (rng.standard_normal((n, 8)).astype(np.float32) for n in (1500, 40))
    found = nearest(queries, papers, 5)
    expected = np.argsort(-(queries @ papers.T), axis=1)[:, :5]
    assert np.array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))
    assert nearest(queries, papers[:3], 5).shape == (1500, 3)


def test_the_model_is_saved_with_its_words(store, tmp_path):
    embedder = fitted(store, "epochs=0", "vocab_size=40")
    embedder.save(store, tmp_path)
    assert len((tmp_path / "words.txt").read_text().split()) == 40
    assert (tmp_path / "model.safetensors").stat().st_size > 40 * 32 * 4


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match=r"word_dropout=1: expected 0 to 0.99"):
        make_embedder("nnselect", ["word_dropout=1"])
    with pytest.raises(ConfigError, match=r"percentile=101: expected 0 to 100"):
        make_embedder("nnselect", ["percentile=101"])
    with pytest.raises(ConfigError, match=r"boost=both: found 'both'; expected one of code, none"):
        make_embedder("nnselect", ["boost=both"])
