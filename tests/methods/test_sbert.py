import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from mpbert.commands import fit
from mpbert.foundation.errors import CorpusError, EncoderError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.embedding import make_embedder
from mpbert.methods.sbert_subref import embedder as sbert
from mpbert.methods.sbert_subref.pairs import (
    Negatives,
    Positives,
    context_positives,
    paper_positives,
    ranked_negatives,
    shortest_paths,
)
from mpbert.methods.sbert_subref.trainer import siamese_loss, triplet_loss
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore
from tests.methods.conftest import fitted_embedder

SMALL = ("model=random:1x32", "vocab_size=600", "paper_tokens=60", "context_tokens=40")


def made(*settings):
    return make_embedder("sbert", [*SMALL, *settings])


def fitted(store, *settings):
    return fitted_embedder("sbert", store, *SMALL, *settings)


@pytest.fixture(scope="module")
def as_is(store):
    return fitted(store, "epochs=0")


@pytest.fixture(scope="module")
def trained(store):
    return fitted(store, "epochs=2", "learning_rate=0.003", "batch=64", "pairs=papers+contexts")


class TestLosses:
    """Cosines by pencil: (1, 0) and (3, 4) have 0.6, (1, 0) and (0, 2) have 0."""

    a = torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    p = torch.tensor([[3.0, 4.0], [5.0, 0.0]])  # 0.6, 1
    n = torch.tensor([[0.0, 2.0], [3.0, -4.0]])  # 0, 0.6

    def test_siamese(self):
        found = siamese_loss(self.a, self.p, self.n, torch.tensor([1.0, 2.0]), decay=0.4)
        # (.6 - 1)², (1 - .4)², (0 - 0)², (.6 - 0)²
        assert found.item() == pytest.approx((0.16 + 0.36 + 0 + 0.36) / 4)
        far = siamese_loss(self.a, self.p, self.n, torch.tensor([3.0, 3.0]), decay=0.4)
        assert far.item() == pytest.approx((0.44**2 + 0.84**2 + 0.36) / 4)

    def test_triplet(self):
        found = triplet_loss(self.a, self.p, self.n, margin=1.0)
        assert found.item() == pytest.approx(((0 - 0.6 + 1) + (0.6 - 1 + 1)) / 2)
        assert triplet_loss(self.a, self.p, self.n, margin=0.4).item() < 1e-6  # .6 - 1 + .4

    def test_they_fall_as_the_positive_comes_closer(self):
        nearer = torch.tensor([[4.0, 3.0], [5.0, 0.0]])
        one = torch.ones(2)
        assert siamese_loss(self.a, nearer, self.n, one, 0.4) < siamese_loss(
            self.a, self.p, self.n, one, 0.4
        )
        assert triplet_loss(self.a, nearer, self.n, 1.0) < triplet_loss(self.a, self.p, self.n, 1.0)


class TestPairs:
    def test_distances_by_pencil(self):
        """0 -> 1 -> 2 -> 3, 0 -> 2, 3 -> 0, and 1 cites itself by mistake."""
        citing, cited = np.array([0, 1, 2, 0, 3, 1]), np.array([1, 2, 3, 2, 0, 1])
        found = shortest_paths(citing, cited, 4, 2)
        pairs = zip(found.anchors.tolist(), found.papers.tolist(), found.distances.tolist())  # noqa: B905
        expected = {(0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 1, (1, 3): 2, (2, 0): 2, (2, 3): 1}
        expected |= {(3, 0): 1, (3, 1): 2, (3, 2): 2}
        assert {(a, p): d for a, p, d in pairs} == expected
        third = shortest_paths(citing, cited, 4, 3)
        assert len(third) == 12 and (third.distances == 3).sum() == 2  # 1 -> 0, 2 -> 1

    def test_pairs_are_of_training_papers_and_of_what_they_cite(self, store):
        known = store.manuscripts("train")
        found = paper_positives(store, 1)
        is_training = store.paper_splits == "train"
        assert is_training[found.anchors].all() and is_training[found.papers].all()
        for i in range(0, len(known), 7):
            papers = found.papers[found.anchors == known.citing_rows[i]]
            expected = [row for row in known.cited(i) if is_training[row]]
            assert papers.tolist() == [r for r in expected if r != known.citing_rows[i]]
        contexts, of_contexts = store.contexts("train"), context_positives(store)
        assert (of_contexts.distances == 1).all()
        for i in range(0, len(contexts), 50):
            papers = of_contexts.papers[of_contexts.anchors == store.num_papers + i]
            assert set(papers) == {r for r in contexts.cited(i) if is_training[r]}

    @pytest.fixture
    def small(self):
        """Papers 0 to 9, of which the odd ones are no candidates; anchor 12 belongs to paper 4."""
        positives = Positives(
            np.array([0, 0, 2, 12]), np.array([2, 8, 4, 6]), np.array([1, 2, 1, 1])
        )
        own = np.arange(13)
        own[10:] = [0, 2, 4]
        return positives, Negatives(np.arange(0, 10, 2), positives, own)

    def test_negatives_by_pencil(self, small):
        _, negatives = small
        assert negatives.sizes[[0, 2, 12]].tolist() == [2, 3, 3]
        anchors = np.array([0, 0, 2, 2, 2, 12, 12, 12])
        numbers = np.array([0, 1, 0, 1, 2, 0, 1, 2])
        assert negatives.numbered(anchors, numbers).tolist() == [4, 6, 0, 6, 8, 0, 2, 8]
        places, papers = negatives.excluded(np.array([2, 0]))
        assert places.tolist() == [0, 0, 1, 1, 1] and papers.tolist() == [1, 2, 0, 1, 4]

    def test_random_negatives_are_all_alike_and_never_positives(self, small):
        _, negatives = small
        drawn = negatives.sample(np.full(3000, 12), np.random.default_rng(1))
        rows, counts = np.unique(drawn, return_counts=True)
        assert rows.tolist() == [0, 2, 8] and (np.abs(counts - 1000) < 120).all()

    @pytest.mark.parametrize("nearest", [True, False])
    def test_ranked_negatives_by_their_definition(self, nearest, store):
        positives = paper_positives(store, 2)
        pool = np.flatnonzero(store.paper_splits == "train")
        negatives = Negatives(pool, positives, np.arange(store.num_papers))
        vectors = normalized(np.random.default_rng(1).standard_normal((store.num_papers, 6)))
        anchors = np.unique(positives.anchors)
        found = ranked_negatives(positives, negatives, vectors[anchors], vectors[pool], nearest)
        for anchor in anchors:
            mine = positives.anchors == anchor
            others = np.setdiff1d(pool, [*positives.papers[mine], anchor])
            closeness = vectors[others] @ vectors[anchor]
            ranked = others[np.argsort(-closeness if nearest else closeness)]
            assert np.array_equal(found[mine], np.resize(ranked, mine.sum()))
        assert len(anchors) > 50

    def test_an_anchor_that_has_few_negatives_begins_again(self):
        positives = Positives(np.array([0, 0, 0]), np.array([1, 2, 3]), np.ones(3, np.int64))
        negatives = Negatives(np.arange(6), positives, np.arange(6))
        vectors = normalized(np.array([[1, 0], [1, 0], [1, 0], [1, 0], [1, 1], [1, 0.5]]))
        found = ranked_negatives(positives, negatives, vectors[:1], vectors, True)
        assert found.tolist() == [5, 4, 5]


class TestTraining:
    @pytest.mark.parametrize("task", ["local", "global"])
    def test_it_ranks_validation_queries_better_than_before(self, task, as_is, trained, store):
        assert _mrr(trained, store, task) > _mrr(as_is, store, task) + 0.03

    @pytest.mark.parametrize("objective", ["siamese", "triplet"])
    @pytest.mark.parametrize("negatives", ["random", "nearest", "farthest"])
    def test_all_kinds_lower_their_loss(self, objective, negatives, store, caplog):
        caplog.set_level("INFO")
        settings = f"objective={objective}", f"negatives={negatives}", "max_positives=200"
        fitted(store, *settings, "epochs=3", "learning_rate=0.005", "batch=32")
        told = [r.message for r in caplog.records if "loss" in r.message]
        losses = [float(line.split()[-1]) for line in told if not line.endswith("left")]
        assert len(losses) == 3 and losses[2] < losses[0]

    def test_epochs_are_those_of_the_paper_unless_given(self):
        assert made().num_epochs == 10
        assert made("distance=1").num_epochs == 20
        assert made("distance=3", "objective=triplet").num_epochs == 3
        assert made("distance=1", "epochs=2").num_epochs == 2

    def test_a_part_of_the_positives_is_counted(self, store):
        counts = made("epochs=1", "max_positives=40", "batch=16").fit(store, named_rng(1, "test"))
        assert counts["positives"] == 40 and counts["updates"] == 5  # 8 positives, 8 negatives

    def test_of_a_part_of_the_positives_no_other_context_is_read(self, store, monkeypatch):
        read, rows = [], sbert.Sbert._rows
        monkeypatch.setattr(
            sbert.Sbert, "_rows", lambda *words: read.append(words[1]) or rows(*words)
        )
        embedder = made("epochs=1", "max_positives=40", "batch=16", "pairs=contexts")
        embedder.fit(store, named_rng(1, "test"))
        papers, contexts = map(len, read)
        assert papers == store.num_papers and 20 < contexts <= 40


class TestModel:
    def test_vectors_are_those_of_sentence_transformers(self, trained, store, tmp_path):
        trained.save(store, tmp_path)
        model = SentenceTransformer(str(tmp_path / "model"), device="cpu")
        texts = store.abstract_texts(np.arange(store.num_papers))
        lengths = [len(model.tokenizer(text)["input_ids"]) for text in texts]
        whole = [row for row, length in enumerate(lengths) if length <= 60]
        assert len(whole) >= 3
        expected = model.encode([texts[row] for row in whole], show_progress_bar=False)
        assert np.allclose(trained.embed_papers(store).vectors[whole], expected, atol=1e-4)

    def test_the_saved_model_is_one_to_load(self, trained, store, tmp_path):
        trained.save(store, tmp_path)
        again = fitted(store, f"model={tmp_path / 'model'}", "epochs=0")
        assert np.allclose(
            trained.embed_queries(store, store.contexts("test")).vectors,
            again.embed_queries(store, store.contexts("test")).vectors,
            atol=1e-5,
        )

    def test_of_lower_layers_that_stay_the_saved_model_has_the_same_vectors(self, store, tmp_path):
        settings = "model=random:2x64", "trained_layers=1", "epochs=1", "max_positives=200"
        trained = fitted(store, *settings, "batch=64", "learning_rate=0.003", "negatives=nearest")
        start = fitted(store, "model=random:2x64", "epochs=0")
        trained.save(store, tmp_path)
        again = fitted(store, f"model={tmp_path / 'model'}", "epochs=0")
        found, loaded = (each.embed_papers(store).vectors for each in (trained, again))
        assert np.allclose(found, loaded, atol=1e-4)
        assert np.abs(found - start.embed_papers(store).vectors).max() > 0.01
        before, after = (
            [*model._encoder.model[0].model.encoder.layer[0].parameters()]
            for model in (start, again)
        )
        assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))

    def test_the_command_keeps_a_model_and_queries_of_both_tasks(self, rfc_corpus, tmp_path):
        config = fit.Config(
            rfc_corpus,
            tmp_path / "sbert",
            method="sbert",
            settings=[*SMALL, "epochs=1", "max_positives=50"],
        )
        fit.run(config)
        assert {p.name for p in tmp_path.iterdir()} == {"sbert", "sbert.tensorboard"}
        assert (tmp_path / "sbert" / "model" / "modules.json").is_file()
        assert len(VectorStore.load(tmp_path / "sbert", "manuscripts.test")) > 0

    def test_bfloat16_is_close(self, trained, store, monkeypatch):
        plain = trained.embed_papers(store).vectors
        monkeypatch.setattr(trained._encoder, "bfloat16", True)
        rounded = trained.embed_papers(store).vectors
        assert 0 < np.abs(normalized(plain) - normalized(rounded)).max() < 0.05


class TestErrors:
    def test_a_saved_model_without_weights_is_refused(self, trained, store, tmp_path):
        trained.save(store, tmp_path)
        for path in (tmp_path / "model").rglob("*.safetensors"):
            path.unlink()
        with pytest.raises(EncoderError, match=r"model: not loadable .*expected a model that sent"):
            fitted(store, f"model={tmp_path / 'model'}", "epochs=0")

    def test_a_transformer_that_is_no_model_is_refused(self, store, tmp_path):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
        with pytest.raises(EncoderError, match=r"found no \*\.safetensors among its files"):
            fitted(store, f"model={tmp_path}")

    def test_nothing_to_learn_from_is_refused(self, store, monkeypatch):
        nothing = Positives(*(np.zeros(0, dtype=np.int64),) * 3)
        monkeypatch.setattr(sbert.sbert_pairs, "paper_positives", lambda *_: nothing)
        with pytest.raises(CorpusError, match=r"found 0 positives of training papers with pairs=p"):
            fitted(store)


def _mrr(embedder, store, task):
    """Mean reciprocal rank of the first cited paper, of validation queries."""
    queries = store.queries("valid", task)
    vectors = embedder.embed_queries(store, queries).vectors
    cosines = normalized(vectors) @ normalized(embedder.embed_papers(store).vectors).T
    cosines[np.arange(len(queries)), queries.citing_rows] = -2
    best = [cosines[i, queries.cited(i)].max() for i in range(len(queries))]
    return np.mean(1 / (1 + (cosines > np.array(best)[:, None]).sum(axis=1)))
