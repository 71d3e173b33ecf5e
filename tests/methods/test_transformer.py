import json
import re
from collections import Counter

import numpy as np
import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import AutoModel, AutoTokenizer, BertConfig, BertForMaskedLM, BertTokenizerFast

from mpbert.commands import fit
from mpbert.foundation.errors import ConfigError, EncoderError
from mpbert.foundation.ragged_rows import stacked
from mpbert.methods import training
from mpbert.methods.embedding import make_embedder
from mpbert.methods.fine_tuning import FineTuningSchedule, fine_tune
from mpbert.methods.huggingface.objectives import Contrastive, contrastive_loss, mask
from mpbert.pretrained.encoder import PretrainedEncoder
from mpbert.pretrained.texts import training_texts
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore
from tests.methods.conftest import fitted_embedder


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory):
    """A small BERT that nobody trained, as Hugging Face's library saves it."""
    path = tmp_path_factory.mktemp("models") / "small-bert"
    # a trained one has other pieces each time: the library picks among equals at random
    texts = " ".join(training_texts(store)).lower()
    letters = sorted(set(filter(str.isascii, texts)) - {" "})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    words = Counter(re.findall(r"[a-z]{2,}", texts))
    pieces += sorted(words, key=lambda word: (-words[word], word))[: 600 - len(pieces)]
    tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)})
    tokenizer = BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=64)
    tokenizer.save_pretrained(path)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    torch.manual_seed(1)
    BertForMaskedLM(config).save_pretrained(path)
    return path


def fitted(folder, store, *settings):
    texts = "paper_tokens=30", "context_tokens=20"
    return fitted_embedder("transformer", store, f"model={folder}", *texts, *settings)


@pytest.fixture(scope="module")
def as_is(folder, store):
    return fitted(folder, store, "epochs=0", "citing=2")


def hidden_states(folder, text):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        return AutoModel.from_pretrained(folder)(**tokens).last_hidden_state[0].numpy()


POOLED = {"cls": lambda x: x[0], "mean": lambda x: x.mean(0), "sum": lambda x: x.sum(0)}


class TestVectors:
    """By the definition: one text at a time through Hugging Face's own classes."""

    @pytest.mark.parametrize("pooling", sorted(POOLED))
    def test_a_paper_is_its_pooled_title_and_abstract_and_a_query_its_context(
        self, pooling, folder, store
    ):
        embedder = fitted(
            folder, store, "epochs=0", "citing=0", f"pooling={pooling}",
            "paper_tokens=500", "context_tokens=500",
        )  # fmt: skip
        papers, queries = (
            embedder.embed_papers(store),
            embedder.embed_queries(store, store.contexts("test")),
        )
        tokenizer = AutoTokenizer.from_pretrained(folder)
        texts = [f"{p.title}[SEP]{' '.join(p.abstract)}" for p in store.papers()]
        fitting = [r for r, text in enumerate(texts) if len(tokenizer(text)["input_ids"]) <= 64]
        assert len(fitting) >= 5
        for row in fitting[:5]:
            expected = POOLED[pooling](hidden_states(folder, texts[row]))
            assert np.allclose(papers.vectors[row], expected, atol=1e-4)
        text = store.local_texts(store.contexts("test"))[5]
        short = AutoTokenizer.from_pretrained(folder)(text, truncation=True, max_length=64)
        model = AutoModel.from_pretrained(folder)
        with torch.no_grad():
            states = model(torch.tensor([short["input_ids"]])).last_hidden_state[0].numpy()
        assert np.allclose(queries.vectors[5], POOLED[pooling](states), atol=1e-4)

    @pytest.mark.parametrize(("bfloat16", "tolerance"), [(False, 1e-5), (True, 1e-2)])
    def test_a_vector_does_not_depend_on_its_batch(self, bfloat16, tolerance, as_is, monkeypatch):
        monkeypatch.setattr(as_is._encoder, "bfloat16", bfloat16)
        rows = as_is._texts.papers(np.arange(64), 2, np.random.default_rng(1))
        together = as_is._encoder.embed(rows, "together")
        alone = np.concatenate(
            [as_is._encoder.embed(rows.take(np.array([row])), "one") for row in range(64)]
        )
        moved = np.linalg.norm(together - alone, axis=1) / np.linalg.norm(alone, axis=1)
        assert moved.max() < tolerance

    def test_gradients_see_the_same_vectors_recomputed_or_not(self, as_is, store):
        rows = as_is._texts.queries(np.arange(20))
        plain = as_is._encoder.embed(rows, "plain")
        for batch_tokens in (1, 100, 10**6):
            as_is._encoder.batch_tokens = batch_tokens
            found = as_is._encoder(rows)
            assert found.requires_grad
            assert np.allclose(found.detach().cpu().numpy(), plain, atol=1e-4)


class TestTexts:
    def test_a_paper_reads_contexts_that_cite_it_and_none_of_the_batch(self, as_is, store):
        texts, contexts = as_is._texts, store.contexts("train")
        rows = np.flatnonzero(texts.num_citing >= 3)
        without = np.unique(contexts.citing_rows)[::2]
        drawn, counts = texts.sample(rows, 2, np.random.default_rng(1), without)
        assert counts.max() == 2 and (counts < 2).any()
        owners = np.repeat(rows, counts)
        for context, row in zip(drawn, owners, strict=True):
            assert row in contexts.cited(context)
            assert contexts.citing_rows[context] not in without

    def test_the_context_that_asks_is_never_in_the_text_of_its_target(self, folder, store):
        embedder = fitted(folder, store, "epochs=0", "context_tokens=60", "citing=3")
        seen = []
        objective = Contrastive(embedder._encoder, embedder._texts, store, 3, 0.05)
        original = embedder._texts.sample

        def spy(rows, num, rng, without):
            found = original(rows, num, rng, without)
            seen.append((without, found[0]))
            return found

        embedder._texts.sample = spy
        for examples in np.array_split(objective.examples, 40)[:5]:
            objective.backward(examples, np.random.default_rng(1))
            without, drawn = seen[-1]
            citing = embedder._texts.training.citing_rows
            assert len(drawn) and not np.isin(drawn, examples).any()
            assert np.array_equal(without, citing[examples])
            assert not np.isin(citing[drawn], citing[examples]).any()


class TestObjectives:
    def test_the_contrastive_loss_is_its_formula(self):
        rng = np.random.default_rng(1)
        q, p = rng.standard_normal((2, 4, 3))
        excluded = np.zeros((4, 4), bool)
        excluded[0, 2] = excluded[3, 1] = True
        cosine = [[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in p] for a in q]
        expected = []
        for i in range(4):
            terms = [np.exp(cosine[i][j] / 0.1) for j in range(4) if not excluded[i, j]]
            expected.append(-np.log(np.exp(cosine[i][i] / 0.1) / sum(terms)))
        found = contrastive_loss(
            torch.tensor(q), torch.tensor(p), torch.tensor(excluded), temperature=0.1
        )
        assert found.item() == pytest.approx(np.mean(expected))

    def test_other_papers_that_a_context_cites_are_no_negatives(self, as_is, store):
        objective = Contrastive(as_is._encoder, as_is._texts, store, 2, 0.05)
        contexts = store.contexts("train")
        sizes = np.diff(contexts.cited_offsets)
        examples = np.concatenate([np.flatnonzero(sizes > 1)[:20], np.flatnonzero(sizes == 1)[:20]])
        targets = np.array([contexts.cited(i)[0] for i in examples])
        found = objective.other_positives(examples, targets)
        expected = [
            [a != b and targets[b] in contexts.cited(i) for b in range(len(examples))]
            for a, i in enumerate(examples)
        ]
        assert found.tolist() == expected and found.any()

    def test_masks_hide_tokens_as_bert_does_and_never_special_ones(self, as_is, store):
        tokenizer = as_is._encoder.tokenizer
        rows = as_is._texts.queries(np.arange(300))
        inputs, targets = mask(rows, tokenizer, np.random.default_rng(1))
        hidden = targets.items >= 0
        assert np.array_equal(rows.items[hidden], targets.items[hidden])
        assert np.array_equal(rows.items[~hidden], inputs.items[~hidden])
        assert not np.isin(rows.items[hidden], tokenizer.all_special_ids).any()
        assert hidden.mean() == pytest.approx(0.14, abs=0.02)
        masked = (inputs.items[hidden] == tokenizer.mask_token_id).mean()
        assert masked == pytest.approx(0.8, abs=0.04)

    def test_masked_tokens_are_learnt(self, folder, store, caplog):
        caplog.set_level("INFO")
        fitted(folder, store, "objective=mlm", "epochs=3", "batch=16", "learning_rate=0.003")
        ends = [re.search(r"loss ([\d.]+)$", record.message) for record in caplog.records]
        losses = [float(end[1]) for end in ends if end]  # of epochs; other lines tell time, too
        assert len(losses) == 3 and losses[2] < losses[0] - 0.1

    def test_fine_tuning_brings_contexts_near_the_papers_they_cite(self, as_is, folder, store):
        tuned = fitted(folder, store, "epochs=2", "batch=32", "learning_rate=0.005")
        assert _advantage(tuned, store) > _advantage(as_is, store) + 0.05


def _advantage(embedder, store):
    """By how much a test context is closer to what it cites than to all papers."""
    papers, queries = (
        embedder.embed_papers(store).vectors,
        embedder.embed_queries(store, store.contexts("test")),
    )
    cosines = normalized(queries.vectors) @ normalized(papers).T
    contexts = store.contexts("test")
    cited = [cosines[i, contexts.cited(i)].mean() for i in range(len(contexts))]
    return np.mean(cited) - cosines.mean()


class TestTraining:
    def test_the_layers_below_the_trained_ones_stay(self, folder, store, tmp_path):
        """And what was learnt above them brings contexts near, too."""
        settings = "pooling=mean", "citing=0", "trained_layers=1"
        start = fitted(folder, store, *settings, "epochs=0")
        trained = fitted(folder, store, *settings, "epochs=3", "learning_rate=0.005", "batch=32")
        assert _advantage(trained, store) > _advantage(start, store) + 0.005
        trained.save(store, tmp_path)
        whole, saved = (AutoModel.from_pretrained(f) for f in (folder, tmp_path / "model"))
        same = [
            torch.equal(a, b)
            for a, b in zip(whole.encoder.parameters(), saved.encoder.parameters(), strict=True)
        ]
        half = len(same) // 2
        assert all(same[:half]) and not any(same[half:])

    def test_states_of_several_readings_meet_in_a_batch(self, folder, store):
        whole = fitted(folder, store, "epochs=0")._encoder
        upper = fitted(folder, store, "trained_layers=1", "epochs=0")._encoder

        def vectors(encoder):
            layout = encoder.layout(12, 12)
            readings = [encoder.tokenize(store.titles[start : start + 7], 12) for start in (0, 7)]
            rows = stacked([layout.rows(layout.ended(reading)) for reading in readings])
            return encoder.embed(rows.take(np.arange(14)[::-1]))

        np.testing.assert_allclose(vectors(upper), vectors(whole), atol=1e-5)

    def test_texts_that_pass_leave_no_states_and_have_the_same_vectors(self, folder, store):
        encoder = fitted(folder, store, "trained_layers=1", "epochs=0")._encoder
        before, texts = len(encoder.frozen), store.titles[:9]
        passed = encoder.embed_texts(texts, 12, "titles")
        assert len(encoder.frozen) == before > 0
        layout = encoder.layout(12, 12)
        kept = encoder.embed(layout.rows(layout.ended(encoder.tokenize(texts, 12))))
        assert len(encoder.frozen) > before
        np.testing.assert_allclose(passed, kept, atol=1e-5)
        with encoder.passing():
            rows = layout.rows(encoder.tokenize(texts, 12))
        with pytest.raises(IndexError, match="states are kept"):
            encoder.embed(rows)

    def test_tokens_that_lower_layers_have_read_cannot_be_masked(self, folder):
        settings = [f"model={folder}", "trained_layers=1", "objective=mlm"]
        with pytest.raises(ConfigError, match="trained_layers=1: found objective=mlm"):
            make_embedder("transformer", settings)

    def test_the_rate_rises_in_a_tenth_and_falls_to_the_end(self):
        rates = [FineTuningSchedule(1, 1, 1.0).rate(step, 20) for step in range(20)]
        assert rates[:3] == [0.5, 1.0, pytest.approx(18 / 19)]
        assert rates[19] == pytest.approx(1 / 19)

    def test_a_loss_that_is_no_number_ends_the_training(self, as_is):
        class Diverging:
            examples = np.arange(10)

            def backward(self, examples, rng):
                return float("nan")

        with pytest.raises(ConfigError, match=r"learning_rate=5: the loss is nan at update 1 of 4"):
            fine_tune(as_is._encoder.model, Diverging(), FineTuningSchedule(2, 5, 5.0), 1)

    def test_the_saved_model_is_one_to_load(self, folder, store, tmp_path):
        tuned = fitted(folder, store, "epochs=1", "objective=mlm", "citing=0")
        tuned.save(store, tmp_path)
        again = fitted(tmp_path / "model", store, "epochs=0", "citing=0")
        assert np.allclose(
            tuned.embed_papers(store).vectors, again.embed_papers(store).vectors, atol=1e-5
        )

    def test_the_command_keeps_a_random_model_and_no_checkpoint(
        self, rfc_corpus, store, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
        settings = ["vocab_size=400", "citing=0", "paper_tokens=30", "context_tokens=20"]
        config = fit.Config(
            rfc_corpus,
            tmp_path / "bert",
            method="transformer",
            settings=["model=random:1x32", "epochs=1", *settings],
        )
        fit.run(config)
        assert {path.name for path in tmp_path.iterdir()} == {"bert", "bert.tensorboard"}
        again = fitted(tmp_path / "bert" / "model", store, "epochs=0", *settings)
        kept = VectorStore.load(tmp_path / "bert", "contexts.test").vectors
        assert np.allclose(
            kept, again.embed_queries(store, store.contexts("test")).vectors, atol=1e-5
        )


class TestErrors:
    def test_a_model_that_cannot_be_fetched_is_named_with_the_way_out(self, store, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(EncoderError, match=r"is no folder, and could not be fetched") as found:
            fitted("nobody/no-such-model", store)
        assert "give a local folder in its place" in str(found.value)
        assert "\n" not in str(found.value)

    def test_pickled_weights_are_refused_with_a_way_to_convert_them(self, folder, store, tmp_path):
        for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            (tmp_path / file).write_text((folder / file).read_text())
        (tmp_path / "pytorch_model.bin").write_bytes(b"\x80")
        with pytest.raises(EncoderError, match=r"pickled weights.* are not read, convert them"):
            fitted(tmp_path, store)

    def test_weights_that_lack_a_layer_are_refused(self, folder, store, tmp_path):
        for file in folder.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        config = json.loads((folder / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
        with pytest.raises(EncoderError, match=r"lack encoder\.layer\.2.*expected those of the"):
            fitted(tmp_path, store)

    def test_a_folder_without_a_configuration_is_refused(self, folder, store, tmp_path):
        (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
        with pytest.raises(EncoderError, match="not loadable"):
            fitted(tmp_path, store)

    @pytest.mark.parametrize("name", ["random:4", "random:0x64", "random:2x200"])
    def test_sizes_of_a_random_model_are_checked(self, name, store):
        with pytest.raises(ConfigError, match=r"expected (random:LAYERSxDIM|a multiple of 64)"):
            fitted(name, store)


def test_nothing_heavy_is_imported_for_other_methods():
    import ast
    from pathlib import Path

    from mpbert.methods.huggingface import embedder as transformer

    tree = ast.parse(Path(transformer.__file__).read_text())
    top = [ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert not any("torch" in line or "pretrained_" in line for line in top)
    assert PretrainedEncoder
