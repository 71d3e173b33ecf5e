"""DualLCR: its equations, what it reads, what may be a negative, and that it learns."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file

from mpbert.foundation.errors import RunError
from mpbert.methods.dual_lcr.bibliography import AuthorsAndCitations
from mpbert.methods.dual_lcr.model import States, WordAttention, margin_loss
from mpbert.methods.dual_lcr.reranker import DualLcr
from mpbert.methods.dual_lcr.scoring import ContextPairs, KeptStates, context_vectors, read
from mpbert.methods.dual_lcr.texts import TextReader
from mpbert.methods.dual_lcr.trainer import DualExamples, DualLearner
from mpbert.methods.rankings import Ranking
from tests.methods.conftest import fitted_reranker

PAPERS = 20  # of each list


@pytest.fixture(scope="module")
def lists(store):
    """Function of a split: some queries, and lists of a paper that is cited among others."""

    def of(split, num=60):
        queries = store.contexts(split).take(np.arange(num))
        rng = np.random.default_rng(1)
        training = np.flatnonzero(store.paper_splits == "train")
        rows = np.stack([rng.permutation(training)[:PAPERS] for _ in range(num)])
        rows[:, 3] = [queries.cited(i)[0] for i in range(num)]
        for row in rows:
            row[3] = row[3] if (row == row[3]).sum() == 1 else -1
        found = np.where(rows >= 0, -np.arange(float(PAPERS)), -np.inf)
        return queries, Ranking(*map(np.ascontiguousarray, _without_gaps(rows, found)))

    return of


def _without_gaps(rows, scores):
    order = np.argsort(rows < 0, axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


def fitted(store, lists, *settings, num=60):
    queries, ranking = lists("train", num)
    return fitted_reranker("dual_lcr", store, queries, [ranking], *DualLcr.quick, *settings)


@pytest.fixture(scope="module")
def trained(store, lists):
    return fitted(store, lists)


class TestEquations:
    def test_attention_by_hand(self):
        torch.manual_seed(1)
        attention = WordAttention(4)
        query, words = torch.randn(2, 4), torch.randn(1, 3, 4)
        is_word = torch.tensor([[True, True, False]])
        found = attention(query, States(words, is_word), torch.tensor([0, 0]))
        both = torch.cat([attention.of_query.weight, attention.of_state.weight], dim=1)
        for i in range(2):
            logits = [
                attention.weights @ torch.tanh(both @ torch.cat([query[i], words[0, t]]))
                for t in range(2)
            ]
            shares = torch.stack(logits).softmax(dim=0)
            expected = shares[0] * words[0, 0] + shares[1] * words[0, 1]
            assert torch.allclose(found[i], expected, atol=1e-6)

    def test_the_score_by_hand(self, trained, store, lists):
        network, papers = trained._network, trained._texts.papers
        queries, _ = lists("test", 3)
        rows = np.array([5, 9])
        with torch.no_grad():
            vectors = context_vectors(
                network, trained._texts.queries(queries), queries.citing_rows, papers
            )
            states = read(network, papers.take(rows))
            pairs = ContextPairs(np.array([2, 0]), rows, np.array([1, 0]), queries.years[[2, 0]])
            found = pairs.scores(network, vectors, states, trained._bibliography)
            for place, (context, row) in enumerate(((2, 9), (0, 5))):
                alone = read(network, papers.take(np.array([row])))
                paper = network.of_paper(vectors[[context]], alone, torch.tensor([0]))
                semantic = F.cosine_similarity(vectors[[context]], paper)
                known = trained._bibliography.citations(np.array([row]), queries.years[[context]])
                names = network.authors(torch.from_numpy(trained._bibliography.authors[[row]]))
                read_ = torch.cat([names, torch.from_numpy(known)], dim=1)
                other = torch.sigmoid(network.outer(torch.sigmoid(network.inner(read_))))[:, 0]
                first, second = torch.sigmoid(network.shares(vectors[context])).softmax(dim=0)
                expected = first * semantic + second * other
                assert found[place].item() == pytest.approx(expected.item(), abs=1e-5)

    def test_the_loss_by_pencil(self):
        scores = torch.tensor([[0.5, 0.4, 0.1, 0.9], [0.2, 0.3, 0.0, 0.0]])
        is_negative = torch.tensor([[True, True, False], [True, False, False]])
        found = margin_loss(scores, is_negative, 0.3)
        assert found.item() == pytest.approx((0.2 + 0 + 0.4) / 3)


class TestReading:
    def test_the_mark_stands_behind_the_citing_sentence(self, store):
        words = sorted({w for t in store.titles for w in t.lower().split() if w.isalpha()})
        reader = TextReader(store, pa.array(words, pa.large_string()), 100)
        queries = store.contexts("test").take(np.arange(20))
        found = reader.queries(queries)
        for i in range(20):
            text = found.words.take(np.array([i])).items
            assert text[found.marks[i]] == len(words)
            [sentence] = store.local_texts(queries.take(np.array([i])), (0,))
            known = [w for w in sentence.lower().split() if w in words][:50]
            end = [words[place] for place in text[: found.marks[i]]]
            assert all(word in end for word in known)

    def test_a_text_without_a_known_word_is_one_unknown_word(self, store):
        reader = TextReader(store, pa.array(["qzxv"], pa.large_string()), 100)
        assert (reader.papers.lengths == 1).all() and (reader.papers.items == 2).all()
        manuscripts = reader.queries(store.manuscripts("test"))
        assert (manuscripts.words.lengths == 2).all() and (manuscripts.marks == 1).all()

    def test_citations_of_the_last_years_by_hand(self, store):
        found = AuthorsAndCitations(store, 5)
        training = store.manuscripts("train")
        years = np.repeat(training.years, np.diff(training.cited_offsets))
        last = int(training.years.max())
        for paper in np.bincount(training.cited_rows).argsort()[-3:]:
            cited = years[training.cited_rows == paper]
            for year in (int(cited.max()), last + 7):
                end = min(year - 1, last)
                each = [
                    -1 if end - back < store.years[paper] else np.log1p((cited == end - back).sum())
                    for back in range(4)
                ]
                expected = [*each, np.log1p((cited <= end).sum())]
                [row] = found.citations(np.array([paper]), np.array([year]))
                assert row == pytest.approx(expected)

    def test_authors_of_several_training_papers_are_known(self, store):
        found = AuthorsAndCitations(store, 3)
        training = np.flatnonzero(store.paper_splits == "train")
        first = [{n.strip().lower() for n in store.authors[row][:3]} for row in training]
        for row in range(store.num_papers):
            names = [name.strip().lower() for name in store.authors[row][:3]]
            is_known = [sum(name in each for each in first) > 1 for name in names]
            assert (found.authors[row, : len(names)] > 0).tolist() == is_known
            assert not found.authors[row, len(names) :].any()
        assert found.num_authors == found.authors.max() > 0

    def test_kept_states_are_those_of_the_texts(self, trained):
        rows = np.array([7, 3, 50])
        found = KeptStates(trained._network, trained._texts.papers).take(rows)
        with torch.no_grad():
            expected = read(trained._network, trained._texts.papers.take(rows))
        assert torch.equal(found.is_word, expected.is_word)
        of_words = expected.states * expected.is_word[:, :, None]
        assert torch.allclose(found.states, of_words, atol=1e-3)


class TestTraining:
    def test_no_negative_is_cited_by_the_manuscript_or_newer_or_the_manuscript(self, store, lists):
        queries, ranking = lists("train")
        examples = DualExamples.of(store, queries, ranking, 8)
        everything = np.tile(np.arange(store.num_papers), (len(queries), 1))
        found = examples.is_negative(np.arange(len(queries)), everything)
        for i, row in enumerate(queries.citing_rows):
            of_paper = np.flatnonzero(queries.citing_rows == row)
            cited = np.concatenate([queries.cited(j) for j in of_paper])
            expected = store.years <= queries.years[i]
            expected[np.append(cited, row)] = False
            assert np.array_equal(found[i], expected)
        assert not examples.is_negative(np.array([0]), np.array([[-1]])).any()

    def test_a_manuscript_of_unknown_year_may_know_all_papers(self, store, lists):
        queries, ranking = lists("train")
        queries = dataclasses.replace(queries, years=np.zeros_like(queries.years))
        examples = DualExamples.of(store, queries, ranking, 8)
        found = examples.is_negative(np.array([0]), np.arange(store.num_papers)[None])[0]
        newest = np.flatnonzero(store.years == store.years.max())
        assert found[newest].any()

    def test_it_learns_to_put_cited_papers_above_the_others(self, store, lists):
        losses = []
        step = DualLearner.step
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                DualLearner, "step", lambda *args: losses.append(list(step(*args))) or losses[-1]
            )
            fitted(store, lists, "epochs=8", "learning_rate=0.01")
        means = [np.mean(each) for each in losses]
        assert len(means) == 8 and means[-1] < 0.5 * means[0]

    def test_queries_that_cite_no_training_paper_are_refused(self, store, lists):
        queries, ranking = lists("train")
        other = int(np.flatnonzero(store.paper_splits != "train")[0])
        cited = np.full_like(queries.cited_rows, other)
        queries = dataclasses.replace(queries, cited_rows=cited)
        with pytest.raises(RunError, match="no training query cites a training paper"):
            DualExamples.of(store, queries, ranking, 8)


def test_the_weights_are_saved_with_their_words(trained, store, tmp_path):
    trained.save(tmp_path)
    words = (tmp_path / "words.txt").read_text().split()
    assert len(words) == trained.counts["words"]
    vectors = load_file(tmp_path / "model.safetensors")["words.weight"]
    assert vectors.shape == (len(words) + 2, trained.dim)
