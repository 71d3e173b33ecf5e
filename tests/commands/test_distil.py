"""A pretrained encoder becomes a token bag that numpy alone reads."""

from pathlib import Path

import numpy as np
import pytest

from mpbert.commands import distil, index, recommend
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import EncoderError
from mpbert.model.bag_reader import BagReader
from mpbert.model.description import read_description
from mpbert.model.sampling import CITING, NEIGHBOUR, SampledSentences
from mpbert.pretrained.distilling import distilled
from mpbert.pretrained.sentence_encoder import SentenceEncoder

LIBRARY = Path(__file__).parents[1] / "fixtures" / "bibtex" / "library.bib"


def test_a_bag_of_tokens_is_found_again_where_the_encoder_is_one():
    rng = np.random.default_rng(1)
    tokens, lengths = rng.normal(size=(50, 8)), rng.integers(3, 9, 400)
    ids = rng.integers(0, 50, lengths.sum())
    ends = np.cumsum([0, *lengths])
    weights = distilled(tokens, rng.normal(size=(400, 8)), ids, lengths, 2)[1]

    def means(table):
        sums = np.add.reduceat(weights[ids, None] * table[ids], ends[:-1])
        return sums / np.add.reduceat(weights[ids], ends[:-1])[:, None]

    vectors = means(tokens) @ rng.normal(size=(8, 8))
    table, found = distilled(tokens, vectors, ids, lengths, 8)
    assert np.allclose(found, weights) and weights.max() < 1
    _, singular, axes = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    made = means(table) * singular**0.75 @ axes  # the whitening taken back
    assert np.allclose(made - made.mean(0), vectors - vectors.mean(0), atol=1e-2)


@pytest.fixture(scope="module")
def bag(rfc_corpus, small_encoder, tmp_path_factory):
    out = tmp_path_factory.mktemp("distil") / "bag"
    distil.run(distil.Config(rfc_corpus, small_encoder, out, dim=32, sentences=300))
    return out


def test_sentences_that_the_encoder_calls_similar_are_so_for_the_bag(
    bag, rfc_corpus, small_encoder
):
    reader = BagReader(bag, read_description(bag))
    texts = CorpusStore(rfc_corpus).sentence_texts(np.arange(60))
    read = SampledSentences(np.arange(60), np.ones(60, int), np.full(60, NEIGHBOUR))
    made = reader.embed_papers(texts, read)
    assert made.shape == (60, 32) and np.isfinite(made).all()
    likes = [
        v / np.linalg.norm(v, axis=1)[:, None]
        for v in (made, SentenceEncoder(small_encoder).encode(texts))
    ]
    pairs = np.triu_indices(60, 1)
    assert np.corrcoef(*((v @ v.T)[pairs] for v in likes))[0, 1] > 0.2


def test_the_sentence_at_the_place_counts_three_times(bag):
    reader = BagReader(bag, read_description(bag))
    texts = ["A host probes the path.", "Routers drop packets."]

    def embed(numbers, roles):
        read = SampledSentences(np.array(numbers), np.array([len(numbers)]), np.array(roles))
        return reader.embed_manuscripts(texts, read)[0]

    thrice = embed([0, 1, 1, 1], [NEIGHBOUR] * 4)
    assert np.allclose(embed([0, 1], [NEIGHBOUR, CITING]), thrice, atol=1e-2)


def test_a_library_is_indexed_by_words_and_the_bag(bag, tmp_path, capsys):
    index.run(index.Config(LIBRARY, tmp_path / "index", encoder=bag))
    assert "and by vectors of bag, which counts half as much" in capsys.readouterr().out
    (tmp_path / "draft.txt").write_text("Mail is sorted by the length of queues [CITATION].")
    recommend.run(recommend.Config(tmp_path / "index", tmp_path / "draft.txt"))
    assert "queue2001routing" in capsys.readouterr().out


def test_more_dimensions_than_the_encoder_has_are_refused(rfc_corpus, small_encoder, tmp_path):
    with pytest.raises(EncoderError, match="found 32 dimensions and 294 sentences; expected 64"):
        distil.run(distil.Config(rfc_corpus, small_encoder, tmp_path / "x", dim=64, sentences=300))
    assert not (tmp_path / "x").exists()
