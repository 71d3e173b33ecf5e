import math
from collections import Counter

import bm25s
import numpy as np
import pyarrow as pa
import pytest

from mpbert.data.bags import count_matrix
from mpbert.data.store import CorpusStore
from mpbert.data.text import words
from mpbert.errors import ConfigError
from mpbert.retrieval.lexical import Bm25, build_index, citing_texts, own_texts, query_texts
from mpbert.retrieval.ranking import top_k

TEXTS = ["routing with link state", "link link layer", "mail transport", "", "routing of mail"]


def index_of(texts, **settings):
    counts, vocabulary = count_matrix(pa.array(texts, pa.large_string()), stemmed=True)
    return Bm25(counts, vocabulary, **settings)


def scores_of(index, query, num_papers):
    rows, scores = index.search([query], num_papers, np.array([-1]))
    return scores[0][np.argsort(rows[0])]


def by_definition(texts, query, k1, b):
    bags = [Counter(words(text)) for text in texts]
    mean = sum(sum(bag.values()) for bag in bags) / len(bags)
    scores = []
    for bag in bags:
        score, length = 0.0, sum(bag.values())
        for word in words(query):
            df = sum(word in other for other in bags)
            if bag[word]:
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * length / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (2.0, 0.0), (0.5, 1.0)])
def test_scores_equal_the_slow_loop(k1, b):
    found = scores_of(index_of(TEXTS, k1=k1, b=b), "link link routing unknown", len(TEXTS))
    assert np.allclose(found, by_definition(TEXTS, "link link routing unknown", k1, b))


def test_scores_equal_those_of_bm25s():
    outside = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    outside.index([words(text) for text in TEXTS], show_progress=False)
    expected = outside.get_scores(words("link routing"))
    found = scores_of(index_of(TEXTS, k1=1.5, b=0.75), "link routing", len(TEXTS))
    assert np.allclose(found, expected, atol=1e-6)


def test_score_rises_with_a_rarer_word_and_a_shorter_paper():
    index = index_of(["common rare", "common rare and many more words", "common", "common"])
    assert scores_of(index, "rare", 4)[0] > scores_of(index, "common", 4)[0]
    assert scores_of(index, "rare", 4)[0] > scores_of(index, "rare", 4)[1]


def test_equal_scores_are_ranked_by_row_and_the_citing_paper_is_left_out():
    index = index_of(["tcp"] * 5 + ["udp"])
    rows, scores = index.search(["tcp", "nothing known"], 4, np.array([1, 0]))
    assert rows.tolist() == [[0, 2, 3, 4], [1, 2, 3, 4]]
    assert (scores[0] > 0).all() and (scores[1] == 0).all()


def test_top_k_breaks_ties_at_the_cutoff_by_row():
    scores = np.array([[1.0, 3.0, 1.0, 2.0, 1.0, 0.0]])
    rows, best = top_k(scores, 4, np.array([-1]))
    assert rows.tolist() == [[1, 3, 0, 2]] and best.tolist() == [[3, 2, 1, 1]]


def test_unknown_index_is_refused(rfc_corpus):
    with pytest.raises(ConfigError, match="expected one of bm25-abstract, bm25-citing"):
        build_index(CorpusStore(rfc_corpus), "bm25")


def test_own_texts_are_titles_and_abstracts(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    texts, rows = own_texts(store)
    for row in (0, 7, store.num_papers - 1):
        paper = store.paper(row)
        found = [text for text, owner in zip(texts.to_pylist(), rows, strict=True) if owner == row]
        assert found == [paper.title, *paper.abstract]


def test_citing_texts_are_training_sentences_once_per_cited_paper(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    texts, rows = citing_texts(store)
    expected = []
    contexts = store.contexts("train")
    for i, row in enumerate(contexts.citing_rows):
        assert store.paper_splits[row] == "train"
        sentence = store.paper(row).sentences[contexts.positions[i]]
        expected += [(sentence, cited) for cited in contexts.cited(i)]
    assert list(zip(texts.to_pylist(), rows, strict=True)) == expected


def test_a_query_holds_the_citing_sentence_three_times(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    contexts = store.contexts("test")
    sentence = store.paper(contexts.citing_rows[0]).sentences[contexts.positions[0]]
    assert query_texts(store, contexts)[0].count(sentence) == 3


def test_citing_sentences_help_on_validation(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    contexts = store.contexts("valid")
    hits = {}
    for name in ("bm25-abstract", "bm25-citing"):
        found = build_index(store, name).search(
            query_texts(store, contexts), 10, contexts.citing_rows
        )
        hits[name] = sum(len(set(r) & set(contexts.cited(i))) for i, r in enumerate(found[0]))
    assert hits["bm25-citing"] > hits["bm25-abstract"] > 0
