import numpy as np
import pytest
import torch

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.seeding import named_rng
from mpbert.methods import citation_head
from mpbert.methods.citation_head import (
    CitationHead,
    CitingSums,
    _HeadLearning,
    citation_loss,
    learn_head,
)
from mpbert.methods.embedding import make_embedder
from mpbert.methods.fine_tuning import FineTuningSchedule
from mpbert.vectors.normal import normalized

SCHEDULE = FineTuningSchedule(4, 256, 3e-3)


@pytest.fixture(scope="module")
def store(rfc_corpus):
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="module")
def parts(store):
    """Random vectors: of papers, and of training contexts near what they cite."""
    rng = np.random.default_rng(1)
    papers = normalized(rng.normal(size=(store.num_papers, 24)))
    training = store.contexts("train")
    first = training.cited_rows[training.cited_offsets[:-1]]
    turned = np.roll(papers, 1, axis=1)  # a map that the head can learn
    contexts = normalized(turned[first] + 0.2 * rng.normal(size=(len(training), 24)))
    return torch.from_numpy(papers), torch.from_numpy(contexts)


def learning(store, parts, schedule=SCHEDULE):
    papers, contexts = parts
    head = CitationHead(24, reads_manuscript=True)
    return _HeadLearning(head, store, papers, CitingSums(store, contexts), schedule, 1)


def test_the_loss_is_that_of_the_formula():
    scores = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.5, 0.0, 3.0, 1.0]])
    is_known = torch.tensor([[True, True, False, False], [False, False, True, True]])
    cited = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])  # paper 3 of the second is later
    first = [np.log(1 + (1 + np.exp(-1)) / np.exp(score)) for score in (2, 1)]
    second = np.log(1 + (np.exp(0.5) + 1) / np.exp(3))
    expected = (np.mean(first) + second) / 2
    assert citation_loss(scores, cited, is_known).item() == pytest.approx(expected, rel=1e-6)


def test_a_query_that_knows_all_papers_has_no_loss():
    known = torch.ones(1, 2, dtype=torch.bool)
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = citation_loss(scores, (torch.tensor([0]), torch.tensor([1])), known)
    loss.backward()
    assert loss.item() == 0 and torch.isfinite(scores.grad).all()


def test_sums_hold_no_context_of_the_manuscripts_of_a_batch(store, parts):
    _, contexts = parts
    training = store.contexts("train")
    without = np.unique(training.citing_rows)[[0, 3, -1]]
    found = CitingSums(store, contexts).without(without)
    expected = np.zeros(found.shape, np.float64)
    for context in range(len(training)):
        if training.citing_rows[context] not in without:
            expected[training.cited(context)] += contexts[context].numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)
    left = np.unique(
        training.cited_rows[
            ~np.isin(np.repeat(training.citing_rows, np.diff(training.cited_offsets)), without)
        ]
    )
    assert set(np.flatnonzero(found.any(dim=1))) == set(left)  # what cancels is 0, not rounding


def test_later_papers_and_the_manuscript_itself_are_no_negatives(store, parts):
    learner = learning(store, parts)
    local = learner._local.take(np.arange(0, len(learner._local), 50))
    rows = learner._candidates(local.cited, np.random.default_rng(1))
    (owners, cited), is_known = learner._known(local, rows)
    for query in range(len(local)):
        manuscript = local.manuscripts[query]
        own = set(rows[cited[owners == query].numpy()].tolist())
        assert own == set(local.cited[local.offsets[query] : local.offsets[query + 1]])
        allowed = {
            row
            for row in rows
            if store.years[row] <= store.years[manuscript] and row != manuscript and row not in own
        }
        assert set(rows[~is_known[query].numpy()]) == allowed
    assert set(rows) == set(np.flatnonzero(store.paper_splits == "train"))


def test_of_many_papers_an_update_reads_the_cited_ones_and_some_others(store, parts, monkeypatch):
    monkeypatch.setattr(citation_head, "_MOST_PAPERS", 50)
    learner = learning(store, parts)
    cited = learner._local.cited[:30]
    rows = learner._candidates(cited, np.random.default_rng(1))
    assert set(cited) <= set(rows) and 50 <= len(rows) <= 80
    [loss] = learner.step(0)
    assert np.isfinite(loss)


def test_the_head_learns_a_map_that_finds_what_validation_contexts_cite(store, parts):
    papers, contexts = parts
    valid = store.contexts("valid")
    first = torch.from_numpy(valid.cited_rows[valid.cited_offsets[:-1]].astype(np.int64))
    asked, manuscripts = papers.roll(1, dims=1)[first], papers[valid.citing_rows]
    sums = CitingSums(store, contexts)
    head = CitationHead(24, reads_manuscript=True)

    def share_found(head):
        with torch.no_grad():
            # without citing contexts: the map alone tells
            found = head.of_contexts(asked, manuscripts) @ head.of_papers(papers, sums.all * 0).T
        return (found.argmax(dim=1) == first).float().mean().item()

    before = share_found(head)
    learn_head(head, store, papers, sums, FineTuningSchedule(30, 256, 1e-2), seed=1)
    assert share_found(head) > before + 0.3


def test_without_training_queries_are_sums_of_context_and_a_part_of_the_manuscript():
    head = CitationHead(3, reads_manuscript=True)
    context, manuscript = torch.tensor([[1.0, 0, 0]]), torch.tensor([[0, 1.0, 0]])
    found = head.of_contexts(context, manuscript)
    assert torch.allclose(found, torch.tensor([[1, 0.3, 0]]) / 1.09**0.5)
    alone = CitationHead(3, reads_manuscript=False)
    assert torch.equal(alone.of_contexts(context, manuscript), context)
    assert len(list(alone.parameters())) == 4


@pytest.mark.parametrize("name", ["sbert", "transformer"])
@pytest.mark.parametrize("given", ["query=context+abstract", "head_epochs=2"])
def test_a_setting_without_effect_is_refused(name, given):
    with pytest.raises(ConfigError, match="found citing_vectors=false; expected"):
        make_embedder(name, [given])


def test_a_learnt_head_is_saved(store, tmp_path):
    from safetensors.numpy import load_file

    settings = ["model=random:1x32", "vocab_size=400", "paper_tokens=10", "context_tokens=10"]
    settings += ["epochs=0", "citing_vectors=true", "head_epochs=1", "query=context+abstract"]
    embedder = make_embedder("transformer", settings)
    embedder.fit(store, named_rng(1, "test"))
    embedder.save(store, tmp_path)
    maps = load_file(tmp_path / "head.safetensors")
    assert set(maps) == {"context", "manuscript", "whole", "paper", "citing"}
    assert all(not np.array_equal(found, np.eye(32)) for found in maps.values())
