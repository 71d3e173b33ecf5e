import logging
import math

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from mpbert.commands import rerank
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, CorpusError, EncoderError, RunError
from mpbert.foundation.ragged_rows import Ragged
from mpbert.foundation.seeding import named_rng
from mpbert.methods.cross_encoder.model import mark_types, special_tokens
from mpbert.methods.cross_encoder.reranker import CrossEncoder
from mpbert.methods.cross_encoder.standardised import blended, standardised
from mpbert.methods.cross_encoder.texts import PairLayout, PairTexts, longest_first
from mpbert.methods.cross_encoder.trainer import (
    ListObjective,
    cross_entropy_loss,
    listwise_loss,
    margin_loss,
    training_lists,
    with_some_negatives,
)
from mpbert.methods.rankings import Ranking, with_rest
from tests.methods.conftest import fitted_reranker

NONE = -np.inf
SMALL = ["model=random:1x32", "vocab_size=400", "query_tokens=24", "paper_tokens=24", "batch=16"]


def fitted(store, lists, *settings, checkpoint=None):
    queries, ranking = lists("train")
    settings = *SMALL, *settings
    return fitted_reranker(
        "cross_encoder", store, queries, [ranking], *settings, checkpoint=checkpoint
    )


@pytest.fixture(scope="module")
def as_is(store, lists):
    return fitted(store, lists, "epochs=0")


@pytest.fixture(scope="module")
def trained(store, lists):
    return fitted(
        store, lists, "epochs=3", "loss=listwise", "learning_rate=0.001", "query=context"
    )  # fmt: skip


def pair_of(rows):
    return np.repeat(np.arange(len(rows)), rows.lengths)


def weights(reranker):
    named = reranker._scorer.encoder.model.named_parameters()
    return {key: value.detach().clone() for key, value in named}


class TestLosses:
    """By pencil: σ(0) = 1/2, σ(ln 3) = 3/4."""

    def test_cross_entropy_is_equation_1_of_the_navigation_paper(self):
        scores = torch.tensor([math.log(3), 0.0, math.log(3)])
        found = cross_entropy_loss(scores, torch.tensor([True, False, False]))
        expected = -(math.log(3 / 4) + math.log(1 / 2) + math.log(1 / 4)) / 3
        assert found.item() == pytest.approx(expected)

    def test_the_margin_loss_is_equation_3_of_the_hatten_paper(self):
        scores = torch.tensor([[math.log(3), 0.0, math.log(3)], [0.0, 0.0, -torch.inf]])
        cited = torch.tensor([[True, False, False], [False, True, False]])
        # 1/2 - 3/4 + .1 < 0;  3/4 - 3/4 + .1;  1/2 - 1/2 + .1; the end of a list is no paper
        assert margin_loss(scores, cited, 0.1).item() == pytest.approx((0 + 0.1 + 0.1) / 3)
        assert margin_loss(scores, cited, 0.5).item() == pytest.approx((0.25 + 0.5 + 0.5) / 3)

    def test_the_listwise_loss_is_its_formula_and_its_gradient_is_a_number(self):
        scores = torch.tensor([[math.log(3), 0.0, 0.0], [0.0, 0.0, -torch.inf]])
        scores.requires_grad_()
        cited = torch.tensor([[True, True, False], [True, False, False]])
        found = listwise_loss(scores, cited)
        first = -(math.log(3 / 5) + math.log(1 / 5)) / 2
        assert found.item() == pytest.approx((first + math.log(2)) / 2)
        found.backward()
        assert torch.isfinite(scores.grad).all()


class TestTexts:
    def test_the_longer_text_loses_tokens_by_pencil(self):
        first, second = np.array([3, 9, 9, 2, 4]), np.array([4, 3, 9, 9, 4])
        kept = longest_first(first, second, 8)
        assert kept[0].tolist() == [3, 5, 4, 2, 4]
        assert kept[1].tolist() == [4, 3, 4, 6, 4]

    def test_a_row_is_what_the_tokenizer_makes_of_two_texts(self, as_is, store, lists):
        queries, _ = lists("test")
        tokenizer = as_is._scorer.encoder.tokenizer
        texts = as_is._texts.queries(queries, "context")
        numbers, rows = np.arange(40), np.arange(40) % store.num_papers
        pairs = as_is._texts.pairs(texts, numbers, queries.citing_rows[:40], rows)
        both = zip(store.local_texts(queries)[:40], store.abstract_texts(rows), strict=True)
        for i, words in enumerate(both):
            parts = [tokenizer(text, add_special_tokens=False)["input_ids"][:24] for text in words]
            start, end = tokenizer.cls_token_id, tokenizer.sep_token_id
            expected = [start, *parts[0], end, *parts[1], end]
            assert pairs.rows.take(np.array([i])).items.tolist() == expected
            types = [0] * (len(parts[0]) + 2) + [1] * (len(parts[1]) + 1)
            assert pairs.types.take(np.array([i])).items.tolist() == types

    def test_special_tokens_are_those_of_the_tokenizer(self):
        words = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1, "a": 2, "?": 3}, unk_token="?"))
        words.pre_tokenizer = pre_tokenizers.Whitespace()
        plain = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?")
        with pytest.raises(EncoderError, match="puts no special token between two texts"):
            special_tokens(plain)
        words.post_processor = TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
            special_tokens=[("<s>", 0), ("</s>", 1)],
        )  # fmt: skip
        roberta = PreTrainedTokenizerFast(
            tokenizer_object=words, cls_token="<s>", sep_token="</s>", unk_token="?"
        )
        assert [part.tolist() for part in special_tokens(roberta)] == [[0], [1, 1], [1]]

    def test_of_context_and_abstract_the_context_stays_whole(self, as_is, store, lists):
        queries, _ = lists("test")
        layout = as_is._scorer.layout(150, 24)
        texts = PairTexts(store, as_is._scorer.encoder.tokenize, layout, citing=0, seed=1)
        both = texts.queries(queries, "context+abstract")
        alone = texts.queries(queries, "context")
        assert both.lengths.max() <= 150
        whole = np.flatnonzero(alone.lengths < 150)
        assert len(whole) > 5
        for number in whole:
            tail = alone.take(np.array([number])).items
            found = both.take(np.array([number])).items
            assert found[-len(tail) :].tolist() == tail.tolist()
            own = texts.queries(queries, "abstract").lengths[number]
            assert len(found) == min(150, own + 1 + len(tail))

    def test_citing_sentences_are_of_training_papers_other_than_the_querys(self, as_is, store):
        layout = as_is._scorer.layout(24, 24)
        texts = PairTexts(store, as_is._scorer.encoder.tokenize, layout, citing=2, seed=1)
        training = store.contexts("train")
        each = np.repeat(np.arange(len(training)), np.diff(training.cited_offsets))
        own, rows = training.citing_rows[each], training.cited_rows
        chosen, counts = texts.citing_contexts(rows, own, sample=3)
        pair = np.repeat(np.arange(len(rows)), counts)
        assert (training.citing_rows[chosen] != own[pair]).all()
        assert (training.years[chosen] <= store.years[own[pair]]).all()
        cites = [rows[p] in training.cited(c) for p, c in zip(pair, chosen, strict=True)]
        assert all(cites) and counts.max() == 2
        years = store.years
        others = [
            min(2, int(((rows == row) & (own != o) & (years[own] <= years[o])).sum()))
            for row, o in zip(rows[:200], own[:200], strict=True)
        ]
        assert counts[:200].tolist() == others
        again, _ = texts.citing_contexts(rows[::-1], own[::-1], sample=3)
        assert sorted(again) == sorted(chosen)  # a sample does not depend on the batch
        assert not np.array_equal(texts.citing_contexts(rows, own, sample=4)[0], chosen)
        queries = texts.queries(training, "context")
        pairs = texts.pairs(queries, each, own, rows)
        assert (np.bincount(pair_of(pairs.types)[pairs.types.items == 1]) <= 25).all()

    @pytest.mark.parametrize("citing", [9, 40])
    def test_any_number_of_citing_sentences_has_half_of_the_tokens_at_most(
        self, citing, as_is, store
    ):
        layout = as_is._scorer.layout(24, 24)
        tokenizer = as_is._scorer.encoder.tokenizer
        texts = PairTexts(store, as_is._scorer.encoder.tokenize, layout, citing, seed=1)
        known = np.bincount(store.contexts("train").cited_rows, minlength=store.num_papers)
        row, newest = np.array([known.argmax()]), np.array([store.years.argmax()])
        _, counts = texts.citing_contexts(row, newest, sample=3)
        assert counts[0] > 6  # a separator and one token each: more than half of 24
        queries = texts.queries(store.contexts("train"), "context")
        pair = texts.pairs(queries, np.array([0]), newest, row)
        tokens = pair.rows.items[pair.types.items == 1][:-1]  # without the end of the row
        paper = tokenizer(store.abstract_texts(row)[0], add_special_tokens=False)["input_ids"]
        assert len(tokens) == 24
        assert tokens[:12].tolist() == paper[:12]
        assert tokens[12] == tokenizer.sep_token_id

    def test_tokens_of_both_texts_are_marked_by_pencil(self):
        one = Ragged.of_lengths(np.array([7, 8, 7, 9], np.int32), np.array([3, 1]))
        two = Ragged.of_lengths(np.array([7, 4, 8], np.int32), np.array([2, 1]))
        ends = np.array([1]), np.array([2]), np.array([2])
        pairs = PairLayout(*ends, None, 9, 9, 99, marked=True).rows(one, two)
        assert pairs.rows.items.tolist() == [1, 7, 8, 7, 2, 7, 4, 2, 1, 9, 2, 8, 2]
        assert pairs.types.items.tolist() == [0, 2, 0, 2, 0, 3, 1, 1, 0, 0, 0, 1, 1]


class TestLists:
    def test_only_training_papers_are_learnt_from(self, store, lists):
        queries, _ = lists("train")
        rng = np.random.default_rng(1)
        rows = np.stack([rng.permutation(store.num_papers)[:40] for _ in range(len(queries))])
        found = training_lists(store, queries, Ranking(rows, -rows.astype(float)), 12)
        for q in range(0, len(queries), 9):
            expected = [row for row in rows[q] if store.paper_splits[row] == "train"][:12]
            assert found.rows[q].tolist() == expected
            assert found.cited[q].tolist() == [row in queries.cited(q) for row in expected]

    def test_negatives_are_drawn_and_cited_papers_stay(self):
        rows = np.array([[5, 6, 7, 8], [1, 2, -1, -1]])
        cited = np.array([[False, True, False, True], [False, False, False, False]])
        drawn = set()
        for seed in range(20):
            found, marks = with_some_negatives(rows, cited, 1, np.random.default_rng(seed))
            assert set(found[0][marks[0]]) == {6, 8}
            assert found[0].min() >= 5 and found.shape == (2, 3)
            assert found[1, 0] in (1, 2) and (found[1, 1:] == -1).all()
            drawn |= set(found[0][~marks[0]])
        assert drawn == {5, 7}

    def test_lists_without_any_cited_paper_cannot_teach(self, store, lists):
        queries, _ = lists("train")
        own = Ranking(queries.citing_rows[:, None].astype(int), np.ones((len(queries), 1)))
        reranker = from_settings(CrossEncoder, SMALL, "cross_encoder")
        with pytest.raises(RunError, match=r"none of the papers that training queries cite.*=20"):
            reranker.fit(store, queries, [own], named_rng(1, "test"))


class TestTraining:
    def validation_loss(self, reranker, store, lists):
        queries, ranking = lists("valid")
        cited = np.array(
            [np.isin(row, queries.cited(q)) for q, row in enumerate(ranking.rows[:, :10])]
        )
        found = reranker.rerank(store, queries, [ranking.first(10)])
        by_row = np.argsort(found.rows, axis=1), np.argsort(ranking.rows[:, :10], axis=1)
        scores = np.empty(cited.shape)
        np.put_along_axis(
            scores, by_row[1], np.take_along_axis(found.scores, by_row[0], axis=1), axis=1
        )
        has = cited.any(axis=1)
        return listwise_loss(torch.tensor(scores[has]), torch.tensor(cited[has])).item()

    def test_training_lowers_the_loss_on_validation(self, as_is, trained, store, lists):
        before = self.validation_loss(as_is, store, lists)
        after = self.validation_loss(trained, store, lists)
        assert before == pytest.approx(math.log(10), abs=0.1)
        assert after < before - 0.05

    @pytest.mark.parametrize(
        "settings", [["loss=margin", "negatives=4"], ["loss=cross_entropy", "citing=2"]]
    )
    def test_every_loss_falls(self, settings, store, lists, caplog):
        caplog.set_level(logging.INFO)
        fitted(store, lists, *settings, "epochs=3", "max_queries=200", "learning_rate=0.003")
        losses = [float(r.message.split()[-1]) for r in caplog.records if "loss" in r.message]
        assert len(losses) == 3 and losses[2] < losses[0]

    def test_gradients_are_the_same_recomputed_or_not(self, as_is, store, lists):
        queries, ranking = lists("train")
        found = training_lists(store, queries, ranking, 10)
        texts = as_is._texts.queries(queries, "context")
        encoder, gradients = as_is._scorer.encoder, []
        for batch_tokens in (300, 10**6):
            encoder.batch_tokens = batch_tokens
            objective = ListObjective(
                *(as_is._scorer, as_is._texts, texts, queries, found), CrossEncoder(loss="listwise")
            )
            objective.backward(found.usable("listwise")[:9], np.random.default_rng(1))
            named = encoder.model.named_parameters()
            gradients.append({k: p.grad.clone() for k, p in named if p.grad is not None})
            encoder.model.zero_grad()
        encoder.batch_tokens = 8192
        assert gradients[0].keys() == gradients[1].keys()
        assert all(
            torch.allclose(gradients[0][k], gradients[1][k], atol=1e-5) for k in gradients[0]
        )


class TestReranking:
    def test_scores_are_those_of_the_saved_model_pair_by_pair(
        self, trained, store, lists, tmp_path
    ):
        queries, ranking = lists("test")
        trained.save(tmp_path)
        model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
        tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
        found = trained.rerank(store, queries, [ranking])
        text = store.local_texts(queries)[7]
        for place in (0, 5, 19):
            paper = store.abstract_texts(found.rows[7, place : place + 1])[0]
            parts = [
                tokenizer(t, add_special_tokens=False)["input_ids"][:24] for t in (text, paper)
            ]
            end = [tokenizer.sep_token_id]
            first, second = [tokenizer.cls_token_id, *parts[0], *end], [*parts[1], *end]
            types = [0] * len(first) + [1] * len(second)
            with torch.no_grad():
                score = model(
                    input_ids=torch.tensor([first + second]), token_type_ids=torch.tensor([types])
                ).logits.item()
            assert found.scores[7, place] == pytest.approx(score, abs=1e-4)
        model = f"model={tmp_path / 'model'}"
        again = fitted(store, lists, model, "epochs=0", "query=context")
        loaded = again.rerank(store, queries, [ranking])
        assert np.allclose(loaded.scores, found.scores, atol=1e-5)

    def test_short_and_empty_lists(self, as_is, store, lists):
        queries, ranking = lists("test")
        rows, scores = ranking.rows.copy(), ranking.scores.copy()
        rows[0], scores[0] = -1, NONE
        rows[1, 3:], scores[1, 3:] = -1, NONE
        found = as_is.rerank(store, queries, [Ranking(rows, scores)])
        assert (found.rows[0] == -1).all() and (found.scores[0] == NONE).all()
        assert sorted(found.rows[1, :3]) == sorted(rows[1, :3])
        assert np.array_equal(found.scores == NONE, found.rows == -1)

    def test_blending_by_pencil(self):
        new = np.array([[4.0, 2.0, 0.0], [1.0, NONE, NONE]])
        old = np.array([[9.0, 8.0, 7.0], [5.0, NONE, NONE]])
        spread = math.sqrt(8 / 3)
        assert np.allclose(standardised(new)[0], [2 / spread, 0, -2 / spread])
        assert standardised(new)[1].tolist() == [0, NONE, NONE]
        assert np.allclose(blended(new, -old, 0.5)[0], 0)
        assert np.allclose(blended(new, old, 1), standardised(old))

    def test_with_the_weight_1_of_the_input_its_order_stays(self, as_is, store, lists):
        queries, ranking = lists("test")
        as_is.blend = 1.0
        found = as_is.rerank(store, queries, [ranking])
        as_is.blend = 0.0
        assert np.array_equal(found.rows, ranking.rows)

    def test_the_rest_by_pencil(self):
        first = Ranking(np.array([[3, 1], [2, -1]]), np.array([[0.5, -2.0], [7.0, NONE]]))
        whole = Ranking(np.array([[1, 3, 4, 9], [2, -1, -1, -1]]), np.zeros((2, 4)))
        found = with_rest(first, whole)
        assert found.rows.tolist() == [[3, 1, 4, 9], [2, -1, -1, -1]]
        assert found.scores.tolist() == [[0.5, -2, -3, -4], [7, NONE, NONE, NONE]]

    def test_the_command_for_whole_papers(self, rfc_corpus, bm25, tmp_path):
        run = bm25 / "global"
        config = rerank.Config(
            rfc_corpus, tmp_path / "out", [run], training=run, reranker="cross_encoder",
            settings=[*SMALL, "precision=bfloat16"], task="global",
        )  # fmt: skip
        rerank.run(config)
        assert {p.name for p in tmp_path.iterdir()} == {"out", "out.tensorboard"}
        assert (tmp_path / "out" / "model" / "model.safetensors").is_file()
        assert len(read_run(tmp_path / "out" / "test.run")) > 0

    def test_the_command_takes_a_model_as_it_is(self, rfc_corpus, bm25, store, lists, tmp_path):
        config = rerank.Config(
            rfc_corpus, tmp_path / "as-is", [bm25 / "local"], reranker="cross_encoder",
            settings=[*SMALL, "epochs=0"], splits=["test"],
        )  # fmt: skip
        rerank.run(config)
        queries, ranking = lists("test", top=40)
        found = read_run(config.output / "test.run")
        ranked = matrices_of_run(found, queries.query_ids, store.paper_ids, "run")[0]
        assert (np.sort(ranked) == np.sort(ranking.rows)).all()
        assert (ranked != ranking.rows).any()


class TestErrors:
    def test_a_blend_above_1_is_refused(self):
        with pytest.raises(ConfigError, match=r"blend=1\.5: expected 0 to 1"):
            from_settings(CrossEncoder, ["blend=1.5"], "cross_encoder")

    def test_training_lists_are_asked_for(self, rfc_corpus, tmp_path):
        with pytest.raises(ConfigError, match=r"cross_encoder needs --training"):
            rerank.Config(rfc_corpus, tmp_path / "out", [tmp_path], reranker="cross_encoder")

    def test_a_model_that_has_no_types_to_mark_is_refused(self):
        config = RobertaConfig(
            vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
            intermediate_size=8, type_vocab_size=1,
        )  # fmt: skip
        with pytest.raises(EncoderError, match=r"roberta: found 1 token types; expected 2"):
            mark_types(RobertaForSequenceClassification(config))

    def test_a_corpus_without_text_or_citing_sentences_is_refused(self, store):
        class Bare(CorpusStore):
            titles = [""] * store.num_papers
            num_abstract = np.zeros(store.num_papers, dtype=int)

        with pytest.raises(CorpusError, match="found neither titles nor abstracts"):
            CrossEncoder().check(Bare(store.path))

        class Uncited(CorpusStore):
            def contexts(self, split):
                return []

        with pytest.raises(CorpusError, match="found no training sentence that cites"):
            CrossEncoder(citing=2).check(Uncited(store.path))
        CrossEncoder(citing=2).check(store)
