"""A cross-encoder whose lower layers read each text alone, and whose score starts as the list's."""

import numpy as np
import pytest
import torch

from mpbert.commands import rerank
from mpbert.corpus.store import CITING_FIRST
from mpbert.corpus.trec import read_run
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.cross_encoder import near_texts
from mpbert.methods.cross_encoder.reranker import CrossEncoder
from mpbert.methods.cross_encoder.standardised import standardised
from mpbert.methods.cross_encoder.trainer import ListObjective, training_lists
from tests.methods.conftest import fitted_reranker

JOINED = [
    *("model=random:2x64", "vocab_size=400", "joined=1", "loss=listwise", "query=context"),
    *("begins=sentence", "query_tokens=24", "paper_tokens=32", "citing=1", "batch=8"),
    *("learning_rate=0.01", "depth=20", "depth_train=20"),
]


def fitted(store, lists, *settings, checkpoint=None):
    queries, ranking = lists("train")
    settings = *JOINED, *settings
    return fitted_reranker(
        "cross_encoder", store, queries, [ranking], *settings, checkpoint=checkpoint
    )


@pytest.fixture(scope="module")
def as_is(store, lists):
    return fitted(store, lists, "epochs=0")


@pytest.fixture(scope="module")
def trained(store, lists):
    return fitted(store, lists, "epochs=2")


def map_at_10(queries, rows):
    found = []
    for number, row in enumerate(rows[:, :10]):
        is_cited = np.isin(row, queries.cited(number))
        precision = np.cumsum(is_cited) / np.arange(1, len(row) + 1)
        found.append((is_cited * precision).sum() / len(np.unique(queries.cited(number))))
    return np.mean(found)


def test_before_training_the_ranking_is_that_of_the_list(as_is, store, lists):
    queries, ranking = lists("test")
    found = as_is.rerank(store, queries, [ranking])
    assert np.array_equal(found.rows, ranking.rows)
    assert np.allclose(found.scores[:, :20], standardised(ranking.scores[:, :20]))


def test_training_raises_the_list(trained, store, lists):
    queries, ranking = lists("valid")
    found = trained.rerank(store, queries, [ranking])
    assert np.array_equal(np.sort(found.rows[:, :20]), np.sort(ranking.rows[:, :20]))
    assert map_at_10(queries, found.rows) > map_at_10(queries, ranking.rows) + 0.02
    assert trained._scorer.model.linear[0] > 0
    assert trained._scorer.model.out.abs().max() > 0


def test_the_layers_lower_the_loss_on_the_lists_they_learn_from(store, lists):
    queries, ranking = lists("train")
    some = training_lists(store, queries, ranking, 20).usable("listwise")[:32]
    queries, ranking = queries.take(some), ranking.take(some)
    settings = [*JOINED, "epochs=12", "learning_rate=0.003", "matches=marked"]
    trained = from_settings(CrossEncoder, settings, "cross_encoder")
    rng = named_rng(1, "test")
    trained.prepare(store, rng)
    trained.fit(store, queries, [ranking], rng)
    whole = training_lists(store, queries, ranking, 20)
    texts = trained._texts.queries(queries, "context", "sentence")
    of_list = trained._scorer.of_list(whole.old)
    objective = ListObjective(
        *(trained._scorer, trained._texts, texts, queries, whole, trained, of_list)
    )
    rng = np.random.default_rng(1)
    with torch.no_grad():
        learnt = objective.loss_of(objective.examples, rng).item()
        kept = trained._scorer.model.out.clone()
        trained._scorer.model.out.zero_()
        linear = objective.loss_of(objective.examples, rng).item()
        trained._scorer.model.out.copy_(kept)
    assert learnt < linear - 0.02


def test_the_first_token_is_that_of_whole_layers_over_both_texts(trained, store, lists):
    """Joined by pencil: states of each text alone, one after another, through the top layer."""
    queries, _ = lists("test")
    texts = trained._texts.queries(queries, "context", "sentence")
    rows = np.array([3, 9, 40])
    numbers = np.array([0, 5, 7])
    pairs = trained._texts.pairs(texts, numbers, queries.citing_rows[numbers], rows)
    scorer, encoder = trained._scorer, trained._scorer.encoder
    found = scorer.score(pairs)
    for place in range(3):
        own = pairs.rows.take(np.array([place]))
        ids = scorer.frozen.tokens(own).items
        starts = np.flatnonzero(ids == encoder.tokenizer.cls_token_id)
        ends = [*starts[1:], len(ids)]
        with torch.no_grad():
            parts = []
            for start, end in zip(starts, ends, strict=True):
                tokens = torch.tensor(ids[start:end].astype(np.int64))[None]
                hidden = encoder.model(input_ids=tokens, output_hidden_states=True).hidden_states
                parts.append(hidden[1])
            states = torch.cat(parts, dim=1)
            types = torch.from_numpy(pairs.types.take(np.array([place])).items.astype(np.int64))
            states = states + scorer.model.of_text(types)[None]
            top = scorer.model.layers[0](states)
            head = (top[0, 0] @ scorer.model.out).item()
        weights = scorer.model.linear.numpy()
        assert found[place] == pytest.approx(head + pairs.features[place] @ weights[1:], abs=1e-3)


def test_the_sentence_that_is_read_is_the_nearest_of_those_that_may_be_read(as_is, store, lists):
    queries, ranking = lists("test")
    texts = as_is._texts.queries(queries, "context", "sentence")
    numbers = np.repeat(np.arange(20), 5)
    rows, own = ranking.rows[:20, :5].ravel(), queries.citing_rows[numbers]
    features, chosen, counts = as_is._texts._nearest(texts, numbers, own, rows)
    contexts, known = as_is._texts.known_contexts(rows, own)
    vectors = as_is._scorer.upper.embed(texts.take(np.arange(20)))
    sentences = as_is._scorer.upper.embed(as_is._texts._sentences)
    ends, taken = np.cumsum(known), 0
    for pair in range(len(rows)):
        among = contexts[ends[pair] - known[pair] : ends[pair]]
        assert features[pair, 2] == counts[pair] == (len(among) > 0)
        if not len(among):
            assert features[pair, 1] == 0
            continue
        query, others = vectors[numbers[pair]], sentences[among]
        norms = np.linalg.norm(others, axis=1) * np.linalg.norm(query)
        cosines = others @ query / norms
        assert features[pair, 1] == pytest.approx(cosines.max(), abs=1e-4)
        assert cosines[among == chosen[taken]][0] == pytest.approx(cosines.max(), abs=1e-4)
        taken += 1
    assert taken == len(chosen) > 20


def test_features_of_many_pairs_are_made_block_by_block(as_is, store, lists, monkeypatch):
    queries, ranking = lists("test")
    texts = as_is._texts.queries(queries, "context", "sentence")
    numbers = np.repeat(np.arange(20), 30)
    asked = texts, numbers, queries.citing_rows[numbers], ranking.rows[:20].ravel()
    nearest, sizes = near_texts.NearTexts._nearest, []

    def counted(self, texts, numbers, own, rows):
        sizes.append(len(rows))
        return nearest(self, texts, numbers, own, rows)

    monkeypatch.setattr(near_texts.NearTexts, "_nearest", counted)
    whole = as_is._texts.features(*asked)
    monkeypatch.setattr(near_texts, "_PAIRS", 250)
    assert np.allclose(as_is._texts.features(*asked), whole, atol=1e-6)
    assert sizes == [600, 250, 250, 100]


def test_a_context_begins_with_the_sentence_that_cites(store):
    contexts = store.contexts("test")
    rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    own = store.sentence_texts(rows)
    found = store.local_texts(contexts, CITING_FIRST)
    assert all(text.startswith(sentence) for text, sentence in zip(found, own, strict=True))
    in_order = store.local_texts(contexts)
    pairs = list(zip(found, in_order, strict=True))
    assert all(sorted(a.split()) == sorted(b.split()) for a, b in pairs)
    assert sum(a != b for a, b in pairs) > len(pairs) / 2


def test_what_was_saved_ranks_alike(trained, store, lists, tmp_path):
    queries, ranking = lists("test")
    trained.save(tmp_path)
    again = fitted(store, lists, f"model={tmp_path / 'model'}", "epochs=0")
    one, two = (each.rerank(store, queries, [ranking]) for each in (trained, again))
    assert np.array_equal(one.rows, two.rows) and np.allclose(one.scores, two.scores, atol=1e-5)


def test_a_killed_training_goes_on_and_ends_in_the_same_weights(store, lists, goes_on):
    settings = "epochs=1", "max_queries=48", "matches=marked"

    def weights(place):
        return fitted(store, lists, *settings, checkpoint=place)._scorer.model.state_dict()

    expected, found = goes_on(weights)
    assert all(torch.equal(expected[key], found[key]) for key in expected)


def test_the_command_for_whole_papers(rfc_corpus, bm25, tmp_path):
    run = bm25 / "global"
    config = rerank.Config(
        rfc_corpus, tmp_path / "out", [run], training=run, reranker="cross_encoder",
        settings=[*JOINED, "epochs=1", "precision=bfloat16", "citing=0"], task="global",
    )  # fmt: skip
    rerank.run(config)
    assert (tmp_path / "out" / "model" / "joined.safetensors").is_file()
    assert len(read_run(tmp_path / "out" / "test.run")) > 0


@pytest.mark.parametrize("other", ["loss=margin", "negatives=3", "blend=0.5"])
def test_settings_that_leave_the_list_out_are_refused(other):
    with pytest.raises(ConfigError, match=r"joined=1: found .*expected loss=listwise"):
        from_settings(CrossEncoder, [*JOINED, other], "cross_encoder")


def test_more_layers_than_there_are_cannot_be_joined(store, lists):
    with pytest.raises(EncoderError, match=r"found 3 layers to train; expected no more than .* 2"):
        fitted(store, lists, "joined=3", "epochs=0")
