import logging

import numpy as np
import pyarrow as pa
import pytest
import torch

from mpbert.corpus.store import Contexts, CorpusStore
from mpbert.corpus.text import words
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.dacr import examples as dacr_examples
from mpbert.methods.dacr.embedder import Dacr
from mpbert.methods.dacr.examples import DacrExamples, known_citations, read_examples
from mpbert.methods.dacr.model import DualAttention, negative_sampling_loss
from mpbert.methods.dacr.trainer import DacrLearner, embed
from mpbert.methods.embedding import make_embedder
from mpbert.methods.ragged_attention import Elements
from mpbert.methods.training import train


@pytest.fixture
def model():
    """A network of 7 words, 5 papers and 6 numbers per vector in which nothing is zero."""
    rng, generator = np.random.default_rng(1), torch.Generator().manual_seed(1)
    matrices = [rng.standard_normal((n, 6)).astype(np.float32) for n in (7, 5, 5)]
    network = DualAttention(*matrices, heads=2, query_dim=4, generator=generator)
    for parameter in (*network.word_attention.parameters(), *network.pooling.parameters()):
        parameter.data.normal_(generator=generator)
    network.citation_attention.output.data.normal_(generator=generator)
    return network


def ragged(*rows):
    lengths = [len(row) for row in rows]
    return Ragged(
        np.array([item for row in rows for item in row], dtype=np.int64),
        np.concatenate([[0], np.cumsum(lengths)]),
    )


def query_of_one_context(network, word_rows, paper_rows):
    """By definition, one element and one head at a time."""
    state = {name: value.detach().double().numpy() for name, value in network.named_parameters()}
    h = []
    for part, matrix, rows in (
        ("word", state["words"], word_rows),
        ("citation", state["citations"], paper_rows),
    ):
        x = [matrix[row] for row in rows]
        queries, keys, values = (
            [w @ v for v in x] for w in np.split(state[f"{part}_attention.projections"], 3)
        )
        for i in range(len(x)):
            heads = []
            for head in (slice(0, 3), slice(3, 6)):
                scores = [queries[i][head] @ key[head] / np.sqrt(3) for key in keys]
                weights = np.exp(scores) / np.exp(scores).sum()
                heads.extend(sum(w * v[head] for w, v in zip(weights, values, strict=True)))
            h.append(x[i] + state[f"{part}_attention.output"] @ heads)
    scores = [
        state["pooling.query"] @ np.tanh(state["pooling.projection"] @ v + state["pooling.bias"])
        for v in h
    ]
    return sum(w * v for w, v in zip(np.exp(scores) / np.exp(scores).sum(), h, strict=True))


CONTEXTS = ([3, 1, 3], [4]), ([5], []), ([0, 6, 2], [1, 0, 3]), ([], [2, 2]), ([1, 5], [])


def test_a_query_is_what_slow_loops_over_words_and_heads_make_of_one_context(model):
    word_rows, paper_rows = zip(*CONTEXTS, strict=True)
    found = embed(model, DacrExamples(ragged(*word_rows), ragged(*paper_rows)), batch_size=5)
    expected = [query_of_one_context(model, *context) for context in CONTEXTS]
    assert np.allclose(found, expected, atol=1e-5)


def test_other_contexts_of_the_batch_do_not_matter(model):
    word_rows, paper_rows = zip(*CONTEXTS, strict=True)
    examples = DacrExamples(ragged(*word_rows), ragged(*paper_rows))
    assert np.allclose(embed(model, examples, 5), embed(model, examples, 1), atol=1e-6)


def test_a_context_without_known_citations_has_a_query_and_one_without_anything_is_zero(model):
    queries = embed(model, DacrExamples(ragged([1, 2], []), ragged([], [])), batch_size=2)
    assert np.isfinite(queries).all()
    assert queries[0].any()
    assert not queries[1].any()


def test_before_training_a_query_is_the_mean_of_words_and_known_citations():
    rng = np.random.default_rng(1)
    matrices = [rng.standard_normal((n, 4)).astype(np.float32) for n in (3, 2, 2)]
    network = DualAttention(*matrices, heads=2, query_dim=3, generator=torch.Generator())
    found = embed(network, DacrExamples(ragged([0, 2]), ragged([1])), batch_size=1)
    expected = (matrices[0][0] + matrices[0][2] + matrices[1][1]) / 3
    assert np.allclose(found, expected, atol=1e-6)


def test_elements_are_contexts_by_length_and_distinct_items():
    elements = Elements.of(ragged([7, 7], [], [5], [4, 7]))
    assert elements.groups == [(1, 1), (2, 2)]
    assert elements.order.tolist() == [2, 0, 3]
    assert elements.items[elements.places].tolist() == [5, 7, 7, 4, 7]
    assert elements.items.tolist() == [4, 5, 7]


def test_the_loss_of_zero_vectors_is_log_2_for_the_target_and_for_the_average_noise():
    weights = torch.tensor([[0.25, 0.75]]).expand(3, 2)
    loss = negative_sampling_loss(torch.zeros(3, 4), torch.zeros(3, 4), torch.zeros(2, 4), weights)
    assert torch.allclose(loss, torch.full((3,), 2 * np.log(2.0)))


def test_the_loss_falls_as_the_target_comes_closer_and_the_noise_goes():
    query, other = torch.tensor([[1.0, 0.0]]), torch.tensor([[-1.0, 0.0]])
    one = torch.ones(1, 1)
    good = negative_sampling_loss(query, query, other, one)
    assert good < negative_sampling_loss(query, other, other, one)
    assert good < negative_sampling_loss(query, query, query, one)


def scores_of_cited(network, examples, cited):
    queries, targets = embed(network, examples, 8), network.targets.detach().numpy()
    similarity = queries @ targets.T
    return similarity[np.repeat(np.arange(len(cited)), cited.lengths), cited.items] - (
        similarity.mean()
    )


def test_training_raises_the_scores_of_cited_papers_and_spares_papers_never_cited(model, caplog):
    word_rows, paper_rows = zip(*CONTEXTS, strict=True)
    examples = DacrExamples(ragged(*word_rows), ragged(*paper_rows))
    cited = ragged([0], [1], [2], [0, 1], [2])
    before, uncited = scores_of_cited(model, examples, cited), model.targets[3:].detach().clone()
    with caplog.at_level(logging.INFO):
        settings = Dacr(
            negatives=4, noise_weight=1, epochs=30, batch_size=3, learning_rate=0.05,
            word_dropout=0.1, known_dropout=0.5,
        )  # fmt: skip
        train(DacrLearner(model, examples, cited, settings, np.random.default_rng(1)))
    assert scores_of_cited(model, examples, cited).mean() > before.mean() + 1
    assert torch.equal(model.targets[3:], uncited)
    losses = [float(r.message.split()[-1]) for r in caplog.records if "loss" in r.message]
    assert losses[-1] < losses[0] / 2


def test_known_citations_are_those_of_the_other_contexts_and_never_a_paper_to_be_found():
    contexts = Contexts(
        query_ids=list("abcd"),
        citing_rows=np.array([2, 2, 2, 8]),
        positions=np.arange(4),
        cited_offsets=np.array([0, 2, 3, 4, 5]),
        cited_rows=np.array([5, 7, 5, 6, 5]),  # paper 2 cites 5 in two contexts
        years=np.full(4, 2000),
        is_repeat=np.zeros(4, dtype=bool),
    )
    known = known_citations(contexts, 9)
    assert [known.take(np.array([i])).items.tolist() for i in range(4)] == [
        [6], [6, 7], [5, 7], [],
    ]  # fmt: skip


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_no_gold_paper_is_among_the_known_citations(store, split):
    contexts = store.contexts(split)
    known = known_citations(contexts, store.num_papers)
    papers_of: dict[int, set[int]] = {}
    for i, citing in enumerate(contexts.citing_rows.tolist()):
        papers_of.setdefault(citing, set()).update(contexts.cited(i).tolist())
    assert len(known) == len(contexts)
    for i, citing in enumerate(contexts.citing_rows.tolist()):
        found = known.take(np.array([i])).items.tolist()
        assert found == sorted(papers_of[citing] - set(contexts.cited(i).tolist()))


def test_words_of_an_example_are_the_known_words_and_the_kind_of_section(store):
    contexts = store.contexts("valid")
    vocabulary = ["protocol", "the", "server"]
    headings = dacr_examples.common_headings(store, contexts, 2)
    examples = read_examples(store, contexts, pa.array(vocabulary, pa.large_string()), headings)
    texts = store.local_texts(contexts)
    for i in (0, 5, len(contexts) - 1):
        *found, _ = examples.words.take(np.array([i])).items.tolist()
        assert found == [vocabulary.index(w) for w in words(texts[i]) if w in vocabulary]
    kinds = examples.words.items[examples.words.offsets[1:] - 1] - len(vocabulary)
    names = dacr_examples.section_names(store, contexts)
    expected = [0 if n is None else 2 + headings.index(n) if n in headings else 1 for n in names]
    assert kinds.tolist() == expected


def test_thinning_leaves_out_words_and_all_known_citations_of_some_contexts():
    examples = DacrExamples(ragged(*[range(10)] * 400), ragged(*[[1, 2]] * 400))
    thinned = examples.thinned(0.3, 0.5, np.random.default_rng(1))
    assert abs(thinned.words.lengths.mean() - 7) < 0.2
    assert set(thinned.known.lengths.tolist()) == {0, 2}
    assert abs(thinned.known.lengths.mean() - 1) < 0.2
    assert not examples.without_known().known.lengths.any()


def test_a_split_without_contexts_has_no_examples_and_cannot_be_trained_on(store):
    none = np.zeros(0, dtype=np.int32)

    class Silent(CorpusStore):
        def contexts(self, split):
            return Contexts([], none, np.zeros(1, dtype=np.int64), none, none, none > 0, none)

    silent = Silent(store.path)
    vocabulary = pa.array(["the"], pa.large_string())
    assert len(read_examples(silent, silent.contexts("test"), vocabulary, ["overview"])) == 0
    with pytest.raises(CorpusError, match="no paper of the training split cites another"):
        make_embedder("dacr", []).fit(silent, np.random.default_rng(1))


def test_a_dim_that_heads_do_not_divide_and_wrong_shares_are_refused():
    with pytest.raises(ConfigError, match=r"dim=100 heads=7: .*expected a dim that heads divides"):
        make_embedder("dacr", ["heads=7"])
    with pytest.raises(ConfigError, match=r"word_dropout=1.5: expected 0 to 1"):
        make_embedder("dacr", ["word_dropout=1.5"])
