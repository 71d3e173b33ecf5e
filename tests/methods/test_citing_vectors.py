import numpy as np
import pytest
import torch

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.citing_vectors import with_citing
from mpbert.methods.embedding import make_embedder
from mpbert.methods.huggingface import objectives
from mpbert.methods.huggingface.objectives import Contrastive
from tests.methods.conftest import fitted_embedder

BERT = ("model=random:1x32", "vocab_size=600", "paper_tokens=30", "context_tokens=30", "epochs=0")


def fitted(name, store, *settings):
    return fitted_embedder(name, store, *BERT, *settings)


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_a_paper_is_the_sum_of_two_directions():
    own = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    citing = torch.tensor([[5.0, 0.0], [0.0, 7.0]])  # both cite the first paper
    found = with_citing(own, citing, np.array([2, 0]))
    half = 0.5**0.5
    assert torch.allclose(found, torch.tensor([[0.6 + half, 0.8 + half], [0.0, 1.0]]))


@pytest.mark.parametrize("name", ["sbert", "transformer"])
def test_all_training_contexts_of_a_paper_are_added_and_no_others(name, store):
    embedder = fitted(name, store, "citing_vectors=true")
    found = embedder.embed_papers(store).vectors
    contexts = store.contexts("train")
    asked = embedder.embed_queries(store, store.contexts("train")).vectors
    embedder.citing_vectors = False
    if name == "transformer":
        embedder.citing = 0
    alone = embedder.embed_papers(store).vectors
    for paper in (*range(20), *np.flatnonzero(np.isin(np.arange(593), contexts.cited_rows))[:20]):
        expected = unit(alone[paper])
        citing = [unit(asked[i]) for i in range(len(contexts)) if paper in contexts.cited(i)]
        if citing:
            expected = expected + unit(np.sum(citing, axis=0))
        np.testing.assert_allclose(found[paper], unit(expected), atol=1e-3)


def test_training_samples_contexts_of_other_manuscripts_and_learns_from_them(store, monkeypatch):
    embedder = fitted("transformer", store, "citing_vectors=true")
    texts, seen = embedder._texts, []
    original = texts.sample

    def spy(rows, num, rng, without):
        seen.append((without, original(rows, num, rng, without)))
        return seen[-1][1]

    texts.sample = spy
    objective = Contrastive(embedder._encoder, texts, store, 1, 0.05, citing_vectors=True)
    summed = []

    def kept(own, citing, counts):
        citing.retain_grad()
        summed.append(citing)
        return with_citing(own, citing, counts)

    monkeypatch.setattr(objectives, "with_citing", kept)
    objective.backward(objective.examples[:40], np.random.default_rng(1))
    (without, (contexts, counts)), *_ = seen
    assert counts.max() == 1 and len(contexts) == counts.sum() > 0
    assert not np.isin(texts.training.citing_rows[contexts], without).any()
    [citing] = summed
    assert len(citing) == len(contexts) and citing.grad.abs().max() > 0


def test_a_part_of_the_examples_is_visited(store):
    embedder = make_embedder("transformer", [*BERT, "epochs=1", "max_examples=40", "batch=20"])
    assert embedder.fit(store, named_rng(1, "test"))["updates"] == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["objective=mlm", "citing_vectors=true"], "citing_vectors=true: found objective=mlm"),
        (["epochs=1", "citing=0", "citing_vectors=true"], "citing=0: found citing_vectors=true"),
        (["max_examples=1"], "max_examples=1; expected 2 or more"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        make_embedder("transformer", [*BERT, *settings])
