from functools import cache

import numpy as np
import pytest

from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.methods import training
from mpbert.methods.citeomatic.field_bags import (
    body_counts,
    paper_fields,
    training_vocabulary,
    word_counts,
)
from mpbert.methods.citeomatic.nnselect_training import nearest
from mpbert.methods.embedding import make_embedder
from mpbert.methods.training_citations import training_citations
from tests.methods.conftest import fitted_embedder, recall

QUICK = ["dim=32", "triplets=6000", "neighbours=10"]


def fitted(store, *settings):
    return fitted_embedder("nnselect", store, *QUICK, *settings)


def recall_at_10(embedder, store, task):
    return recall(embedder, store, "valid", task, 10)


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


def test_more_fields_and_the_negatives_of_the_batch_find_more(store):
    settings = "epochs=2", "queries=both"
    alone = recall_at_10(fitted(store, *settings), store, "local")
    more = "fields=abstract+body+citing", "loss=batch", "temperature=0.1"
    assert recall_at_10(fitted(store, *settings, *more), store, "local") > alone + 0.02


@pytest.fixture(scope="module")
def learner(store):
    """The learner of a NNSelect that reads citing sentences, of local and global queries."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train", lambda learner, *_: found.append(learner) or 0)
        fitted(store, "epochs=1", "queries=both", "fields=abstract+citing", "word_dropout=0.0001")
    return found[0]


@pytest.fixture(scope="module")
def batch(learner):
    return learner.sample(200, np.random.default_rng(1))


def test_a_cited_paper_is_read_without_the_sentences_of_the_manuscript(store, learner, batch):
    texts, manuscripts, places = learner.texts_of(batch)
    assert np.array_equal(texts[places], [batch.queries, batch.positives, batch.negatives])
    own = np.concatenate([each.manuscripts for each in learner._examples])
    own = own[batch.queries - store.num_papers]
    assert np.array_equal(manuscripts[places], [np.full(200, -1), own, np.full(200, -1)])
    learner._settings.word_dropout = 0.0
    bags = learner.bags_of(texts, manuscripts, np.random.default_rng(1))
    vocabulary = training_vocabulary(store, learner._settings.vocab_size)[0]
    training_contexts = store.contexts("train")
    citing: dict[int, list[int]] = {}
    for i in range(len(training_contexts)):
        for row in training_contexts.cited(i):
            citing.setdefault(row, []).append(i)

    @cache
    def counts_of(context: int) -> np.ndarray:
        row = store.sentence_offsets[training_contexts.citing_rows[context]]
        sentence = store.sentence_texts(np.array([row + training_contexts.positions[context]]))
        return word_counts(sentence, vocabulary).toarray()[0]

    taken_off = 0
    for number in range(200):
        place = places[1][number]
        text = 3 * len(texts) + place  # the fourth field
        of_text = slice(*bags.offsets[text : text + 2])
        found = np.zeros(len(vocabulary))
        found[bags.words[bags.places[of_text]]] = bags.counts[of_text]
        expected, whole = np.zeros((2, len(vocabulary)))
        for i in citing[batch.positives[number]]:
            whole += counts_of(i)
            expected += counts_of(i) * (training_contexts.citing_rows[i] != own[number])
        assert np.array_equal(found, expected)
        taken_off += (whole != expected).any()
    assert taken_off > 100


def test_an_epoch_has_no_update_without_a_triplet(learner, batch, monkeypatch):
    monkeypatch.setattr(learner, "sample", lambda num, rng: batch.take(np.arange(2)))
    assert learner.plan.updates_per_step > 2
    losses = list(learner.step(0))
    assert len(losses) == 2 and np.isfinite(losses).all()
    monkeypatch.setattr(learner, "sample", lambda num, rng: batch.take(np.arange(0)))
    with pytest.raises(CorpusError, match="found no triplet to learn from"):
        next(learner.step(0))


def test_no_paper_that_holds_a_sentence_of_a_manuscript_is_its_negative(store, learner, batch):
    texts, _, places = learner.texts_of(batch)
    papers = np.unique(places[1:])
    known = learner.is_known(batch.queries, texts[papers])
    own = np.concatenate([each.manuscripts for each in learner._examples])
    own = own[batch.queries - store.num_papers]
    cites = training_citations(store).toarray() > 0
    expected = cites[own][:, texts[papers]] | (own[:, None] == texts[papers])
    assert np.array_equal(known, expected)
    held = learner._citing.of_manuscripts(
        *(each.ravel() for each in np.broadcast_arrays(own[:, None], texts[papers]))
    )
    holds = (np.diff(held.indptr) > 0).reshape(known.shape)
    assert holds.any() and not (holds & ~known).any()


def test_bodies_are_what_whole_papers_hold_beside_title_and_abstract(store):
    vocabulary, _ = training_vocabulary(store, 500)
    papers = paper_fields(store, vocabulary)
    bodies = body_counts(store, vocabulary, papers).toarray()
    for row in (0, 7, 50):
        sentences = np.arange(
            store.sentence_offsets[row] + store.num_abstract[row], store.sentence_offsets[row + 1]
        )
        expected = word_counts([" ".join(store.sentence_texts(sentences))], vocabulary).toarray()
        assert np.array_equal(bodies[row], expected[0]) and bodies[row].any()


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
