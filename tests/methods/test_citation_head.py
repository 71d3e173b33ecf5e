import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from mpbert.experiments.row_files import parse_row
from mpbert.foundation.errors import ConfigError, CorpusError, MpbertError
from mpbert.foundation.seeding import named_rng
from mpbert.methods import head_training
from mpbert.methods.checkpoint import Checkpoint
from mpbert.methods.citation_head import CitationHead, citation_loss
from mpbert.methods.citing_sums import CitingSums
from mpbert.methods.citing_vectors import CitingVectors
from mpbert.methods.embedding import make_embedder
from mpbert.methods.fine_tuning import FineTuningSchedule
from mpbert.methods.head_training import HeadLearning
from mpbert.methods.torch_training import array_of
from mpbert.methods.training import train
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

SCHEDULE = FineTuningSchedule(4, 256, 3e-3)


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
    return HeadLearning(head, store, papers, CitingSums(store, contexts), schedule, 1)


def test_the_loss_is_that_of_the_formula():
    cosines = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.5, 0.0, 3.0, 1.0]]) / 20
    is_known = torch.tensor([[True, True, False, False], [False, False, True, True]])
    cited = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])  # paper 3 of the second is later
    first = [np.log(1 + (1 + np.exp(-1)) / np.exp(score)) for score in (2, 1)]
    second = np.log(1 + (np.exp(0.5) + 1) / np.exp(3))
    expected = (np.mean(first) + second) / 2
    assert citation_loss(cosines, cited, is_known).item() == pytest.approx(expected, rel=1e-6)


def test_a_query_that_knows_all_papers_has_no_loss():
    known = torch.ones(1, 2, dtype=torch.bool)
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = citation_loss(scores, (torch.tensor([0]), torch.tensor([1])), known)
    loss.backward()
    assert loss.item() == 0 and torch.isfinite(scores.grad).all()


def test_sums_hold_no_context_of_the_manuscripts_of_a_batch(store, parts, monkeypatch):
    monkeypatch.setattr("mpbert.methods.citing_sums._PAIRS", 100)
    _, contexts = parts
    training = store.contexts("train")
    without = np.unique(training.citing_rows)[[0, 3, -1]]
    papers = np.flatnonzero(np.arange(store.num_papers) % 3)
    found = CitingSums(store, contexts).without(without, papers)
    expected = np.zeros((store.num_papers, 24))
    for context in range(len(training)):
        if training.citing_rows[context] not in without:
            expected[training.cited(context)] += contexts[context].numpy()
    np.testing.assert_allclose(found, expected[papers], atol=1e-4)
    # what cancels is 0, not rounding
    np.testing.assert_array_equal(found.any(dim=1), expected[papers].any(axis=1))


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
    monkeypatch.setattr(head_training, "_MOST_PAPERS", 50)
    learner = learning(store, parts)
    cited = learner._local.cited[:30]
    rows = learner._candidates(cited, np.random.default_rng(1))
    assert set(cited) <= set(rows) and 50 <= len(rows) <= 80
    [loss] = learner.step(0)
    assert np.isfinite(loss)


def test_the_maps_find_what_validation_contexts_and_training_manuscripts_cite(store, parts):
    papers, contexts = parts
    sums = CitingSums(store, contexts)
    valid, whole = store.contexts("valid"), store.manuscripts("train")
    first = torch.from_numpy(valid.cited_rows[valid.cited_offsets[:-1]].astype(np.int64))
    asked, manuscripts = papers.roll(1, dims=1)[first], papers[torch.tensor(valid.citing_rows)]
    of_whole = papers[torch.tensor(whole.citing_rows)]
    known = [whole.cited(i) for i in range(len(whole))]

    @torch.no_grad()
    def measured(head):
        queries = head.of_contexts(asked, manuscripts)
        # without citing contexts: the maps of context and paper alone tell
        local = queries @ head.of_papers(papers, sums.of_all * 0).T
        cosines = head.of_manuscripts(of_whole) @ head.of_papers(papers, sums.of_all).T
        cosines -= cosines.mean(dim=1, keepdim=True)
        found = np.mean([cosines[i, rows].mean() for i, rows in enumerate(known)])
        return (local.argmax(dim=1) == first).float().mean().item(), found

    before = measured(head := CitationHead(24, reads_manuscript=True))
    schedule = FineTuningSchedule(30, 128, 1e-2)
    assert train(HeadLearning(head, store, papers, sums, schedule, 1)) == 30 * 8
    after = measured(head)
    assert after[0] > before[0] + 0.3
    assert after[1] > before[1] + 0.1
    assert all(
        not torch.equal(p, q)
        for p, q in zip(
            head.parameters(), CitationHead(24, reads_manuscript=True).parameters(), strict=True
        )
    )


def test_in_a_corpus_of_less_than_a_batch_sums_are_learnt_too(store, parts):
    papers, contexts = parts
    head = CitationHead(24, reads_manuscript=True)
    schedule = FineTuningSchedule(1, 10_000, 1e-2)
    updates = train(HeadLearning(head, store, papers, CitingSums(store, contexts), schedule, 1))
    assert updates == 8 and not torch.equal(head.citing, torch.eye(24))


def test_a_killed_training_ends_in_the_same_bits(store, parts, goes_on):
    papers, contexts = parts

    def trained(place):
        head = CitationHead(24, reads_manuscript=True)
        sums, kept = CitingSums(store, contexts), Checkpoint(place, "head", "x")
        train(HeadLearning(head, store, papers, sums, SCHEDULE, 1), kept)
        return head

    whole, again = goes_on(trained)
    assert all(map(torch.equal, whole.parameters(), again.parameters()))


def test_queries_of_contexts_and_of_manuscripts_have_maps_of_their_own(store, parts):
    papers, contexts = (each.numpy() for each in parts)
    joined = CitingVectors(store, papers, contexts, reads_manuscript=True)
    with torch.no_grad():
        joined.head.whole.copy_(torch.eye(24).roll(1, dims=1))
        joined.head.context.copy_(torch.eye(24).roll(2, dims=1))
    local, whole = store.contexts("valid"), store.manuscripts("valid")
    read = np.random.default_rng(1).normal(size=(len(local), 24))
    found = joined.queries(whole, lambda: pytest.fail("no context is read"))
    np.testing.assert_allclose(found, np.roll(papers[whole.citing_rows], 1, axis=1), atol=1e-6)
    found = joined.queries(local, lambda: read)
    expected = np.roll(normalized(read), 2, axis=1) + 0.3 * papers[local.citing_rows]
    np.testing.assert_allclose(found, normalized(expected), atol=1e-6)


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
    with pytest.raises(
        ConfigError, match="found citing_vectors=false, with which it has no effect"
    ):
        make_embedder(name, [given])
    with pytest.raises(ConfigError, match="found head_epochs=0, with which it has"):
        make_embedder(name, ["citing_vectors=true", "head_rate=0.5"])


@pytest.mark.parametrize("name", ["sbert", "transformer"])
def test_what_is_saved_makes_the_vectors(name, store, tmp_path):
    settings = ["model=random:1x32", "vocab_size=400", "paper_tokens=10", "context_tokens=10"]
    settings += ["epochs=0", "citing_vectors=true", "head_epochs=1", "query=context+abstract"]
    embedder = make_embedder(name, settings)
    counts = embedder.fit(store, named_rng(1, "test"))
    assert counts["head_parameters"] == 5 * 32 * 32 and counts["head_updates"] > 0
    embedder.save(store, tmp_path)
    maps = load_file(tmp_path / "head.safetensors")
    start = CitationHead(32, reads_manuscript=True).state_dict()
    assert set(maps) == set(start)
    assert all(not np.array_equal(maps[each], start[each]) for each in maps)
    joined = embedder._joined
    own, sums = (normalized(array_of(each)) for each in (joined.own, joined.sums.of_all))
    expected = normalized(own @ maps["paper"] + sums @ maps["citing"])
    np.testing.assert_allclose(embedder.embed_papers(store).vectors, expected, atol=1e-5)


def test_a_corpus_without_training_contexts_is_refused(store, parts, monkeypatch):
    monkeypatch.setattr(
        head_training.CitingQueries, "of", classmethod(lambda cls, *_: cls(*[np.zeros(0)] * 4))
    )
    with pytest.raises(CorpusError, match="found no training context that cites a training paper"):
        learning(store, parts)


class TestVectorsOfAnotherMethod:
    @pytest.fixture
    def start(self, store, parts, tmp_path):
        rng = np.random.default_rng(2)
        VectorStore(store.paper_ids, parts[0].numpy()).save(tmp_path, "papers")
        for split in ("train", "valid"):
            ids = store.contexts(split).query_ids
            vectors = parts[1].numpy() if split == "train" else rng.normal(size=(len(ids), 24))
            VectorStore(ids, vectors).save(tmp_path, f"contexts.{split}")
        return tmp_path

    def test_maps_that_learn_nothing_give_sums(self, store, parts, start):
        embedder = make_embedder("linear_maps", [f"start={start}", "head_epochs=0"])
        embedder.fit(store, named_rng(1, "test"))
        sums = CitingSums(store, parts[1]).of_all.numpy()
        expected = normalized(parts[0].numpy() + normalized(sums))
        np.testing.assert_allclose(embedder.embed_papers(store).vectors, expected, atol=1e-6)
        some = store.contexts("valid").take(np.array([5, 3]))
        given = VectorStore.load(start, "contexts.valid").vectors[[5, 3]]
        found = embedder.embed_queries(store, some).vectors
        np.testing.assert_allclose(found, normalized(given), atol=1e-6)

    def test_no_vectors_or_those_of_another_corpus_are_refused(self, store, start):
        for given, message in (
            ([], "start: found none; expected start=DIR"),
            ([f"start={start / 'none'}"], r"papers\.npy: unreadable"),
        ):
            embedder = make_embedder("linear_maps", given)
            with pytest.raises(MpbertError, match=message):
                embedder.fit(store, named_rng(1, "test"))
        VectorStore([f"{each}x" for each in store.paper_ids], np.ones((store.num_papers, 3))).save(
            start, "papers"
        )
        with pytest.raises(MpbertError, match="papers: "):
            make_embedder("linear_maps", [f"start={start}"]).fit(store, named_rng(1, "test"))
        with pytest.raises(ConfigError, match="citing_vectors=false: linear_maps adds them"):
            make_embedder("linear_maps", ["citing_vectors=false", "head_epochs=0"])

    def test_a_row_says_where_it_starts(self):
        content = {"title": "Maps", "method": "linear_maps"}
        with pytest.raises(ConfigError, match="found no start; linear_maps needs a line"):
            parse_row("maps", content, "rows")
        assert parse_row("maps", {**content, "start": "hatten"}, "rows").needs == ["hatten"]
