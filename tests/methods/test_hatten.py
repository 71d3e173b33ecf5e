import math

import numpy as np
import pyarrow as pa
import pytest
import torch
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from torch import nn

from mpbert.commands import fit, retrieve
from mpbert.corpus.bags import count_matrix
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import stem, words
from mpbert.corpus.trec import read_run
from mpbert.foundation.errors import ConfigError, CorpusError, VectorsError
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods import training
from mpbert.methods.embedding import make_embedder
from mpbert.methods.hatten import trainer as hatten_training
from mpbert.methods.hatten.bag import WordBag, inverse_frequencies
from mpbert.methods.hatten.documents import ABSTRACT, CONTEXT, TITLE, DocumentReader, Documents
from mpbert.methods.hatten.examples import Overlap, read_training_queries
from mpbert.methods.hatten.losses import softmax_loss, triplet_loss
from mpbert.methods.hatten.mining import (
    ALIKE,
    CITED,
    HARD,
    KNOWN,
    OTHERS,
    Sampling,
    known_papers,
    prefetch,
    sample,
)
from mpbert.methods.hatten.model import (
    AttentionLevel,
    HattenEncoder,
    MultiHeadPooling,
    Shape,
    sinusoids,
)
from mpbert.methods.ragged_attention import Elements
from tests.methods.conftest import fitted_embedder, recall

QUICK = ["heads=4", "hidden=32", "longest=60", "batch=32", "mined=400", "prefetched=20"]
DIM = 32


@pytest.fixture(scope="module")
def vocabulary(store):
    """Words of titles and abstracts, most frequent first."""
    counts, terms = count_matrix(pa.array(store.abstract_texts(np.arange(store.num_papers))))
    order = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")
    return terms.take(pa.array(order[:800])).cast(pa.large_string())


@pytest.fixture(scope="module")
def folder(vocabulary, tmp_path_factory):
    """Random word vectors of one's own, in the format of word2vec."""
    path = tmp_path_factory.mktemp("vectors")
    vectors = np.random.default_rng(1).standard_normal((len(vocabulary), DIM)).astype(np.float32)
    lines = [
        " ".join([word, *map(repr, row.tolist())])
        for word, row in zip(vocabulary.to_pylist(), vectors, strict=True)
    ]
    (path / "vectors.txt").write_text(f"{len(lines)} {DIM}\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def reader(store, vocabulary):
    return DocumentReader(store, vocabulary, longest=60)


@pytest.fixture(scope="module")
def examples(store, reader):
    return read_training_queries(store, reader, ("local",), "context+abstract")


def random_words(num_words=800, dim=DIM):
    return np.random.default_rng(1).standard_normal((num_words, dim)).astype(np.float32)


def new_encoder(num_words=800, **shape):
    torch.manual_seed(3)
    shape = Shape(**{"heads": 4, "hidden": 32, "dropout": 0.1, **shape})
    return HattenEncoder(random_words(num_words), 60, shape).eval()


def new_bag_encoder(**shape):
    torch.manual_seed(3)
    words = random_words()
    weights = np.random.default_rng(2).random(800).astype(np.float32) + 0.1
    bag = WordBag(torch.from_numpy(words), weights, learns_words=True)
    shape = Shape(**{"heads": 4, "hidden": 32, "dropout": 0.1, "width": 16, **shape})
    return HattenEncoder(words, 60, shape, bag).eval(), words, weights


def fitted(store, folder, *settings, checkpoint=None):
    settings = f"word_vectors={folder}", *QUICK, *settings
    return fitted_embedder("hatten", store, *settings, checkpoint=checkpoint)


class TestModel:
    def test_multi_head_pooling_by_pencil(self):
        """Eq. 1 and 2: two elements, two heads of one number each."""
        pooling = MultiHeadPooling(dim=2, heads=2)
        with torch.no_grad():
            pooling.scores.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
            pooling.values.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
            pooling.output.weight.copy_(torch.tensor([[1.0, 10.0], [0.0, 1.0]]))
            for layer in (pooling.scores, pooling.values):
                layer.bias.zero_()
            pooling.output.bias.copy_(torch.tensor([0.5, 0.0]))
            x = torch.tensor([[math.log(3), 0.0], [0.0, -1.0]])
            found = pooling(x, Elements.of(Ragged(np.array([0, 1]), np.array([0, 2]))))
        # head 1: weights 3/4 and 1/4 of the values 0 and -1: -1/4, which the ReLU makes 0
        # head 2: weights e/(1+e) and 1/(1+e) of the values log 3 and 0
        second = math.e / (1 + math.e) * math.log(3)
        assert torch.allclose(found, torch.tensor([[0.5 + 10 * second, second]]))

    def test_positions_by_pencil(self):
        expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
        assert torch.allclose(sinusoids(2, 4), torch.tensor(expected))
        assert sinusoids(3, 5).shape == (3, 5)

    def test_a_level_is_the_encoder_layer_of_torch_before_its_pooling(self):
        torch.manual_seed(1)
        level = AttentionLevel(8, Shape(heads=2, hidden=16, dropout=0.1)).eval()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True).eval()
        pairs = {
            "self_attn.in_proj_": level.projections,
            "self_attn.out_proj.": level.attended,
            "linear1.": level.feed_forward[0],
            "linear2.": level.feed_forward[2],
            "norm1.": level.attention_norm,
            "norm2.": level.norm,
        }
        state = {f"{k}{p}": getattr(v, p) for k, v in pairs.items() for p in ("weight", "bias")}
        layer.load_state_dict(state)
        rows = Elements.of(Ragged(np.arange(5), np.array([0, 3, 3, 5])))
        x = torch.randn(5, 8)  # two elements of row 2, then three of row 0; none of row 1
        with torch.no_grad():
            found = level.pooled(level.states(x, rows), rows, 3)
            for row, part in ((2, x[:2]), (0, x[2:])):
                one = Elements.of(Ragged(np.arange(len(part)), np.array([0, len(part)])))
                expected = level.pooling(layer(part[None])[0], one)[0]
                assert torch.allclose(found[row], expected, atol=1e-6)
        assert not found[1].any()

    def test_a_vector_does_not_depend_on_its_batch(self, store, reader):
        encoder, documents = (
            new_encoder(),
            reader.queries(store.contexts("valid"), "context+abstract"),
        )
        together = encoder.embed(documents, bfloat16=False)
        with torch.no_grad():
            assert np.allclose(encoder(documents).numpy(), together, atol=1e-5)
            for i in range(0, len(documents), 40):
                alone = encoder(documents.take(np.array([i]))).numpy()[0]
                assert np.allclose(alone, together[i], atol=1e-5)
        rounded = encoder.embed(documents, bfloat16=True)
        assert rounded.dtype == np.float32 and not np.array_equal(rounded, together)
        assert np.allclose(rounded, together, atol=0.1)

    def test_a_document_without_a_known_word_has_the_vector_zero(self, store):
        reader = DocumentReader(store, pa.array(["nowhere"], pa.large_string()), 60)
        encoder = new_encoder(num_words=1)
        documents = reader.papers(np.arange(3))
        assert not encoder.embed(documents, bfloat16=False).any()
        assert not encoder(documents).detach().numpy().any()

    def test_order_and_type_of_what_is_read_matter(self, reader):
        encoder, paper = new_encoder(), reader.papers(np.array([5]))
        plain = encoder.embed(paper, bfloat16=False)
        title = paper.paragraphs.items[0]
        swapped = Ragged(paper.words.items.copy(), paper.words.offsets)
        start, end = swapped.offsets[title : title + 2]
        swapped.items[start:end] = swapped.items[start:end][::-1]
        assert end - start > 1
        other = type(paper)(swapped, paper.paragraphs, paper.num_papers)
        assert not np.allclose(encoder.embed(other, bfloat16=False), plain, atol=1e-4)
        with torch.no_grad():
            encoder.types.weight[ABSTRACT] += 1
        assert not np.allclose(encoder.embed(paper, bfloat16=False), plain, atol=1e-4)


def unit(vector):
    return vector / np.linalg.norm(vector)


class TestBag:
    def test_frequencies_count_documents_once(self):
        rows = Ragged(np.array([0, 0, 1, 0]), np.array([0, 3, 4, 4]))
        found = inverse_frequencies(rows, 3)
        assert found == pytest.approx([math.log(4 / 2.5), math.log(4 / 1.5), math.log(4 / 0.5)])

    @pytest.mark.parametrize("places", [True, False])
    def test_the_encoder_starts_as_the_weighted_bag_of_words(self, store, reader, places):
        encoder, words, weights = new_bag_encoder(places_in_states=places)
        contexts = store.contexts("test").take(np.arange(5))
        documents = reader.queries(contexts, "context+abstract")
        found = encoder.embed(documents, bfloat16=False)
        directions = words / np.linalg.norm(words, axis=1, keepdims=True)
        for row in range(5):
            paragraphs = documents.paragraphs.take(np.array([row])).items
            total = np.zeros(DIM)
            for number, kind in zip(paragraphs, documents.types_of(paragraphs), strict=True):
                read = documents.words.take(np.array([number])).items
                summed = sum(weights[word] * directions[word] for word in read)
                total += (3.0 if kind == CONTEXT else 1.0) * unit(summed)
            assert np.allclose(found[row], unit(total), atol=1e-5)

    def test_attention_weighs_words_and_adds_to_the_bag_once_it_has_learnt(self, reader):
        encoder, _, _ = new_bag_encoder()
        paper = reader.papers(np.array([5]))
        start = encoder.embed(paper, bfloat16=False)
        with torch.no_grad():
            encoder.emphasis.weight.copy_(torch.linspace(-1, 1, 16))
        weighed = encoder.embed(paper, bfloat16=False)
        assert not np.allclose(weighed, start, atol=1e-3)
        assert np.linalg.norm(weighed) == pytest.approx(1, abs=1e-5)  # still a sum of words
        with torch.no_grad():
            encoder.emphasis.weight[:] = 0
            encoder.document.pooling.output.bias[:] = 0.5
        assert np.allclose(encoder.embed(paper, bfloat16=False), start + 0.5, atol=1e-5)

    def test_a_vector_does_not_depend_on_its_batch(self, store, reader):
        encoder, _, _ = new_bag_encoder()
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape))
        documents = reader.queries(store.contexts("valid"), "context+abstract")
        together = encoder.embed(documents, bfloat16=False)
        for i in range(0, len(documents), 60):
            alone = encoder.embed(documents.take(np.array([i])), bfloat16=False)[0]
            assert np.allclose(alone, together[i], atol=1e-4)

    def test_a_document_without_a_known_word_has_the_vector_zero(self, store):
        empty = Documents(
            Ragged(np.zeros(0, np.int64), np.zeros(7, np.int64)),
            Ragged(np.zeros(0, np.int64), np.zeros(4, np.int64)),
            3,
        )
        encoder, _, _ = new_bag_encoder()
        assert not encoder.embed(empty, bfloat16=False).any()

    def test_words_left_out_in_training_are_drawn_anew_and_none_is_left_out_later(self, reader):
        encoder, _, _ = new_bag_encoder(word_dropout=0.5, dropout=0.0)
        papers = reader.papers(np.arange(20))
        with torch.no_grad():
            whole = encoder(papers).numpy()
            assert np.allclose(encoder.embed(papers, bfloat16=False), whole, atol=1e-5)
            encoder.train()
            torch.manual_seed(1)
            first, second = encoder(papers).numpy(), encoder(papers).numpy()
        assert not np.allclose(first, second, atol=1e-3)
        assert not np.allclose(first, whole, atol=1e-3)


class TestExamples:
    def test_a_local_query_is_title_and_abstract_of_the_citing_paper_and_the_context(
        self, store, reader, vocabulary
    ):
        contexts, known = store.contexts("test"), vocabulary.to_pylist()
        documents = reader.queries(contexts, "context+abstract")
        place, citing = 7, store.paper(int(contexts.citing_rows[7]))
        texts = [citing.title, " ".join(citing.abstract), store.local_texts(contexts)[place]]
        paragraphs = documents.paragraphs.take(np.array([place])).items
        assert documents.types_of(paragraphs).tolist() == [TITLE, ABSTRACT, CONTEXT]
        for paragraph, text in zip(paragraphs, texts, strict=True):
            read = documents.words.take(np.array([paragraph])).items
            expected = [word for word in words(text) if word in known][:60]
            assert [known[i] for i in read] == expected
        alone = reader.queries(contexts, "context")
        assert np.array_equal(alone.paragraphs.items, 2 * store.num_papers + np.arange(len(alone)))
        whole = reader.queries(store.manuscripts("test"), "context+abstract")
        papers = reader.papers(store.manuscripts("test").citing_rows)
        assert np.array_equal(whole.paragraphs.items, papers.paragraphs.items)

    @pytest.mark.parametrize("query", ["context", "context+abstract"])
    def test_the_jaccard_index_is_that_of_the_sets_of_stems(self, query, store):
        contexts = store.contexts("train")
        stop_words = {*map(stem, ENGLISH_STOP_WORDS)}
        rng = np.random.default_rng(1)
        queries = rng.integers(len(contexts), size=20)
        papers = rng.integers(store.num_papers, size=20)
        texts = store.local_texts(contexts)

        def stems(text):
            return {*map(stem, words(text))} - stop_words

        found = Overlap(store, [contexts], query).jaccard(queries, papers)
        for q, p, value in zip(queries, papers, found, strict=True):
            asked = stems(texts[q])
            if query != "context":
                asked |= stems(store.abstract_texts(contexts.citing_rows[[q]])[0])
            paper = stems(store.abstract_texts(np.array([p]))[0])
            assert value == pytest.approx(len(asked & paper) / len(asked | paper))
        assert found.min() < found.max()

    def test_only_training_papers_are_positives_and_likeness_is_their_mean(self, store, examples):
        assert (store.paper_splits[examples.cited.items] == "train").all()
        several = np.flatnonzero(examples.cited.lengths > 1)[0]
        cited = examples.cited.take(np.array([several])).items
        numbers = np.full(len(cited), examples.numbers[several])
        expected = examples.overlap.jaccard(numbers, cited).mean()
        assert examples.likeness[several] == pytest.approx(expected)

    def test_both_tasks_train_one_encoder(self, store, reader):
        both = read_training_queries(store, reader, ("local", "global"), "context+abstract")
        manuscripts = store.manuscripts("train")
        last = both.queries.take(np.array([len(both) - 1])).paragraphs.items
        row = both.citing[-1]
        assert row in manuscripts.citing_rows
        assert last.tolist() == [row, store.num_papers + row]
        value = both.overlap.jaccard(both.numbers[-1:], np.array([row]))
        assert value == pytest.approx(1)


class TestMining:
    def test_prefetched_papers_are_the_nearest_unknown_ones(self, examples):
        rng = np.random.default_rng(1)
        queries = np.arange(0, len(examples), 7)
        q = rng.standard_normal((len(queries), 6)).astype(np.float32)
        p = rng.standard_normal((len(examples.pool), 6)).astype(np.float32)
        known = known_papers(examples, queries)
        found = prefetch(q, p, examples.pool, known, 5)
        for i, query in enumerate(queries):
            cosines = (p @ q[i]) / np.linalg.norm(p, axis=1)
            excluded = {*examples.cited.take(np.array([query])).items, examples.citing[query]}
            order = [row for row in examples.pool[np.argsort(-cosines)] if row not in excluded]
            assert found[i].tolist() == order[:5]
        longest = prefetch(q, p, examples.pool, known, len(examples.pool) + 3)
        assert ((longest < 0).sum(axis=1) == 3 + known.lengths).all()

    @pytest.mark.parametrize("easy_level", [HARD, OTHERS])
    def test_levels_tell_cited_alike_and_other_papers_and_no_known_one_is_a_negative(
        self, easy_level, examples
    ):
        queries = np.arange(0, 200, 5)
        lists = np.random.default_rng(2).choice(examples.pool, (len(queries), 12))
        lists[0] = -1
        known = known_papers(examples, queries)
        drawing = Sampling(hard=3, easy=2, easy_level=easy_level)
        papers, levels = sample(examples, queries, lists, drawing, np.random.default_rng(1))
        assert len(np.unique(papers)) == len(papers)
        assert np.isin(papers, examples.pool).all()
        for i, query in enumerate(queries):
            mine = examples.cited.take(np.array([query])).items
            assert papers[levels[i] == CITED].tolist()[0] in mine
            assert (levels[i] == CITED).sum() == 1
            excluded = np.isin(papers, known.take(np.array([i])).items)
            assert set(levels[i, excluded]) <= {KNOWN, CITED}
            assert (levels[i, ~excluded] > CITED).all()
            numbers = np.full(len(papers), examples.numbers[query])
            alike = examples.overlap.jaccard(numbers, papers) >= examples.likeness[query]
            assert np.isin(papers[levels[i] == ALIKE], lists[i]).all()
            assert alike[levels[i] == ALIKE].all() and not (levels[0] == ALIKE).any()
            hard = (levels[i] == HARD) & np.isin(papers, lists[i])
            assert not alike[hard & (easy_level == OTHERS)].any()
        assert (levels == ALIKE).any() and (levels == HARD).any()

    def test_the_first_loop_has_no_prefetched_papers(self, examples):
        papers, levels = sample(
            examples, np.arange(20), None, Sampling(3, 1, HARD), np.random.default_rng(1)
        )
        assert len(papers) <= 40 and not (levels == ALIKE).any()


class TestLoss:
    def test_one_query_by_pencil(self):
        similarities = torch.tensor([[0.5, 0.45, 0.6, 0.2, 0.9]])
        levels = torch.tensor([[CITED, ALIKE, HARD, OTHERS, KNOWN]])
        graded = (0.45 - 0.5 + 0.05) + (0.6 - 0.5 + 0.1) + 0 + (0.6 - 0.45 + 0.05) + 0
        assert triplet_loss(similarities, levels, 0.05, True).item() == pytest.approx(graded)
        single = (0.45 - 0.5 + 0.1) + (0.6 - 0.5 + 0.1) + 0 + 0  # alike against others alone
        assert triplet_loss(similarities, levels, 0.1, False).item() == pytest.approx(single)

    @pytest.mark.parametrize("graded", [True, False])
    def test_it_is_the_sum_of_a_slow_loop_over_triplets(self, graded):
        rng = np.random.default_rng(1)
        levels, s = rng.integers(0, 5, (6, 15)), rng.random((6, 15))
        expected = 0.0
        for q in range(6):
            for i in np.flatnonzero(np.isin(levels[q], [CITED, ALIKE])):
                for j in np.flatnonzero(levels[q] > levels[q, i]):
                    if not graded and levels[q, i] == ALIKE and levels[q, j] != OTHERS:
                        continue
                    m = 0.05 * (levels[q, j] - levels[q, i] if graded else 1)
                    expected += max(s[q, j] - s[q, i] + m, 0)
        found = triplet_loss(torch.tensor(s), torch.tensor(levels), 0.05, graded)
        assert found.item() == pytest.approx(expected)

    def test_softmax_over_papers_by_pencil(self):
        """The alike paper and the known one are left out: 1 of 1 + 2 + 3."""
        similarities = torch.log(torch.tensor([[1.0, 9.0, 2.0, 3.0, 9.0]])) * 0.1
        levels = torch.tensor([[CITED, ALIKE, HARD, OTHERS, KNOWN]])
        found = softmax_loss(similarities.repeat(2, 1), levels.repeat(2, 1), 0.1)
        assert found.item() == pytest.approx(2 * math.log(6))


def recall_at_20(embedder, store):
    return recall(embedder, store, "valid", "local", 20)


class TestTraining:
    LEARNING = ("learning_rate=0.003", "average=0.9", "dropout=0")

    def test_training_makes_recall_on_validation_better(self, store, folder):
        before = fitted(store, folder, "loops=1", "updates=1", "learning_rate=1e-9")
        after = fitted(store, folder, "loops=2", "updates=25", *self.LEARNING)
        assert recall_at_20(after, store) > recall_at_20(before, store) + 0.08

    def test_a_start_as_a_bag_is_above_one_by_attention_and_training_lifts_it(self, store, folder):
        """Random vectors tell words apart, so that the bag finds papers by the words they share."""
        still = ("loops=1", "updates=1", "learning_rate=1e-9")
        bag = ("start=bag", "learn_words=1", "places=attention", "width=16", "word_dropout=0.2")
        attention = recall_at_20(fitted(store, folder, *still), store)
        before = recall_at_20(fitted(store, folder, *still, *bag), store)
        settings = ("loops=2", "updates=10", "temperature=0.05", *self.LEARNING, *bag)
        assert before > attention + 0.1
        assert recall_at_20(fitted(store, folder, *settings), store) > before + 0.05

    def test_a_loop_goes_on_from_the_average_and_ends_in_it(self, store, folder):
        """An update moves an average of almost 1 by almost nothing, so nothing is learnt."""
        start = fitted(store, folder, "loops=1", "updates=1", "average=0.999999999")
        still = fitted(store, folder, "loops=3", "updates=2", "average=0.999999999")
        moved = fitted(store, folder, "loops=3", "updates=2", "average=0.5")
        vectors = [b.embed_papers(store).vectors for b in (start, still, moved)]
        assert np.allclose(vectors[0], vectors[1], atol=1e-5)
        assert not np.allclose(vectors[0], vectors[2], atol=1e-4)

    def test_word_vectors_stay_as_they_are(self, store, folder):
        embedder = fitted(store, folder, "loops=1", "updates=2")
        first = (folder / "vectors.txt").read_text().splitlines()[1].split()
        assert embedder._words[0].as_py() == first[0]
        expected = np.array(first[1:], dtype=np.float32)
        assert np.array_equal(embedder._encoder.words[0].cpu().numpy(), expected)

    @pytest.mark.parametrize("start", [(), ("start=bag", "learn_words=1", "word_dropout=0.2")])
    def test_a_killed_training_goes_on_and_ends_in_the_same_vectors(
        self, start, store, folder, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
        settings = ("loops=2", "updates=3", "average=0.5", *start)
        expected = fitted(store, folder, *settings).embed_papers(store).vectors
        update, done = hatten_training.HattenLearner._update, []

        def update_or_die(self, *arguments):
            if len(done) in (2, 5):  # in the first loop, and in the second with its lists
                done.append("died")
                raise KeyboardInterrupt
            done.append("done")
            return update(self, *arguments)

        monkeypatch.setattr(hatten_training.HattenLearner, "_update", update_or_die)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                fitted(store, folder, *settings, checkpoint=tmp_path)
        found = fitted(store, folder, *settings, checkpoint=tmp_path)
        assert np.array_equal(found.embed_papers(store).vectors, expected)
        assert done.count("done") == 6
        other = fitted(store, folder, *settings, "margin=0.2", checkpoint=tmp_path)
        assert done.count("done") == 12  # of another training: anew
        assert not np.array_equal(other.embed_papers(store).vectors, expected)

    def test_the_command_trains_words_once_keeps_the_model_and_no_checkpoint(
        self, rfc_corpus, store, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
        settings = ["dim=16", "word_epochs=1", *QUICK, "loops=1", "updates=2"]
        config = fit.Config(rfc_corpus, tmp_path / "hatten", method="hatten", settings=settings)
        train = hatten_training.train_encoder
        monkeypatch.setattr(hatten_training, "train_encoder", lambda *a: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fit.run(config)
        monkeypatch.setattr(hatten_training, "train_encoder", train)
        monkeypatch.setattr("mpbert.methods.word_vectors.train_words", lambda *a: 1 / 0)
        fit.run(config)
        assert {path.name for path in tmp_path.iterdir()} == {"hatten", "hatten.tensorboard"}
        names = {path.name for path in (tmp_path / "hatten").iterdir()}
        assert {"model.safetensors", "words.json", "manuscripts.test.npy"} <= names
        lists = retrieve.Config(
            rfc_corpus,
            tmp_path / "lists",
            vectors=tmp_path / "hatten",
            splits=["train", "test"],
            top=2000,
            pool="all",
        )
        retrieve.run(lists)
        contexts, is_training = store.contexts("train"), store.paper_splits == "train"
        found = read_run(tmp_path / "lists" / "train.run")
        assert set(found.query_ids) == set(contexts.query_ids)
        assert {store.row_of[paper] for paper in found.paper_ids} == set(
            np.flatnonzero(is_training)
        )
        assert set(np.diff(found.offsets)) == {is_training.sum() - 1}  # without the citing paper
        without = retrieve.Config(
            rfc_corpus,
            tmp_path / "others",
            vectors=tmp_path / "hatten",
            splits=["train"],
            task="global",
        )
        with pytest.raises(ConfigError, match=r"no training queries, .*manuscripts\.train"):
            retrieve.run(without)


class TestErrors:
    def test_heads_have_to_divide_the_vectors(self, store, folder):
        with pytest.raises(ConfigError, match=r"dim=100 heads=8: found vectors of 100 dimensions"):
            make_embedder("hatten", ["dim=100"])
        with pytest.raises(ConfigError, match=r"heads=5: found vectors of 32 dimensions"):
            fitted(store, folder, "heads=5")
        with pytest.raises(ConfigError, match=r"average=1\.0: expected less than 1"):
            make_embedder("hatten", ["average=1"])
        with pytest.raises(ConfigError, match=r"width=30 heads=8: found vectors of 30 dimensions"):
            make_embedder("hatten", ["width=30"])
        with pytest.raises(ConfigError, match=r"learn_words=1: found start=attention; .*start=bag"):
            make_embedder("hatten", ["learn_words=1"])

    def test_word_vectors_that_are_none_are_named(self, store, folder, tmp_path):
        with pytest.raises(VectorsError, match=r"nowhere: unreadable .*; expected word vectors as"):
            fitted(store, tmp_path / "nowhere")
        (tmp_path / "vectors.txt").write_text("these are no vectors\n")
        with pytest.raises(VectorsError, match=r"vectors.txt: unreadable .*one word and its dime"):
            fitted(store, tmp_path)

    def test_a_file_of_glove_lacks_the_line_of_counts(self, store, folder, tmp_path):
        lines = (folder / "vectors.txt").read_text().splitlines()[1:]
        (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n")
        expected = fitted(store, folder, "loops=1", "updates=1").embed_papers(store)
        found = fitted(store, tmp_path / "glove.txt", "loops=1", "updates=1").embed_papers(store)
        assert np.array_equal(found.vectors, expected.vectors)

    def test_a_corpus_without_training_citations_is_refused(self, store, folder):
        class Uncited(CorpusStore):
            def contexts(self, split):
                found = super().contexts(split)
                return type(found)(
                    query_ids=[],
                    citing_rows=found.citing_rows[:0],
                    cited_offsets=np.zeros(1, dtype=np.int64),
                    cited_rows=found.cited_rows[:0],
                    years=found.years[:0],
                    is_repeat=found.is_repeat[:0],
                    positions=found.positions[:0],
                )

        with pytest.raises(CorpusError, match="found 0 training queries that cite training papers"):
            fitted(Uncited(store.path), folder)

    def test_a_loss_that_is_no_number_ends_the_training(self, store, folder):
        with pytest.raises(ConfigError, match=r"learning_rate=1e\+30: the loss is nan at update"):
            fitted(store, folder, "loops=1", "updates=5", "learning_rate=1e30")
