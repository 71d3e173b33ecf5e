import math
from collections import Counter

import bm25s
import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import paper_counts, query_texts
from mpbert.corpus.text import words
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.lexical.tfidf import TfIdf
from mpbert.retrieval.ranking import top_k

OF_PAPERS = sorted(set(LEXICAL.names()) - {"bm25_contexts"})  # which counts words of contexts
TEXTS = ["routing with link state", "link link layer", "mail transport", "", "routing of mail"]


def index_of(method, texts):
    return LexicalIndex(method, *count_matrix(pa.array(texts, pa.large_string()), stemmed=True))


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
    found = scores_of(index_of(Bm25(k1=k1, b=b), TEXTS), "link link routing unknown", len(TEXTS))
    assert np.allclose(found, by_definition(TEXTS, "link link routing unknown", k1, b))


def test_scores_and_rankings_equal_those_of_bm25s_by_itself():
    outside = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    outside.index([words(text) for text in TEXTS], show_progress=False)
    query = words("link routing")
    index = index_of(Bm25(k1=1.5, b=0.75), TEXTS)
    found = scores_of(index, "link routing", len(TEXTS))
    assert np.allclose(found, outside.get_scores(query), atol=1e-12)
    expected, _ = outside.retrieve([query], k=3, show_progress=False)
    rows, _ = index.search(["link routing"], 3, np.array([-1]))
    assert rows.tolist() == expected.tolist()


def test_score_rises_with_a_rarer_word_and_a_shorter_paper():
    index = index_of(Bm25(), ["common rare", "common rare and many more words", "common", "common"])
    assert scores_of(index, "rare", 4)[0] > scores_of(index, "common", 4)[0]
    assert scores_of(index, "rare", 4)[0] > scores_of(index, "rare", 4)[1]


def test_top_k_breaks_ties_at_the_cutoff_by_row():
    scores = np.array([[1.0, 3.0, 1.0, 2.0, 1.0, 0.0]])
    rows, best = top_k(scores, 4, np.array([-1]))
    assert rows.tolist() == [[1, 3, 0, 2]] and best.tolist() == [[3, 2, 1, 1]]


@pytest.mark.parametrize("name", OF_PAPERS)
def test_newer_papers_are_no_candidates_and_words_weigh_what_they_do_among_all(name, store):
    index = LexicalIndex(LEXICAL[name](), *paper_counts(store, "abstract", stemmed=True))
    years, num_papers = store.years, store.num_papers
    own = np.arange(num_papers)
    rows, scores = index.search(store.titles, 50, own, (years, years))
    every, all_scores = index.search(store.titles, num_papers, own)
    for i, year in enumerate(years):
        known = (years[every[i]] <= year) & (every[i] != i)
        length = min(50, known.sum())
        assert rows[i][:length].tolist() == every[i][known][:50].tolist()
        assert scores[i][:length].tolist() == all_scores[i][known][:50].tolist()
        assert (rows[i][length:] == -1).all() and (scores[i][length:] == -np.inf).all()


@pytest.mark.parametrize("fields", ["abstract", "text+citing"])
@pytest.mark.parametrize("name", OF_PAPERS)
class TestContract:
    """What every member of the registry keeps."""

    def test_a_title_finds_its_paper_and_a_citing_paper_never_itself(self, name, fields, store):
        index = LexicalIndex(
            LEXICAL[name](fields=fields), *paper_counts(store, fields, stemmed=True)
        )
        rows, scores = index.search(store.titles, 5, np.full(store.num_papers, -1))
        assert (rows == np.arange(store.num_papers)[:, None]).any(axis=1).mean() > 0.8
        assert (np.diff(scores, axis=1) <= 0).all() and (scores >= 0).all()
        rows, _ = index.search(store.titles, 5, np.arange(store.num_papers))
        assert not (rows == np.arange(store.num_papers)[:, None]).any()

    def test_equal_texts_score_equal_and_are_ranked_by_row(self, name, fields):
        index = index_of(LEXICAL[name](), ["tcp ip"] * 4 + ["udp"])
        rows, scores = index.search(["tcp", "unknown"], 4, np.array([1, 0]))
        assert rows.tolist() == [[0, 2, 3, 4], [1, 2, 3, 4]]
        assert len(set(scores[0][:3])) == 1 and (scores[1] == 0).all()

    def test_unknown_settings_are_refused(self, name, fields):
        with pytest.raises(ConfigError, match=r"no setting 'field'.*did you mean 'fields'"):
            from_settings(LEXICAL[name], ["field=text"], name)
        with pytest.raises(ConfigError, match="expected one or more of abstract, citing, text"):
            from_settings(LEXICAL[name], ["fields=body"], name)
        with pytest.raises(ConfigError, match="found 0; expected at least 1"):
            from_settings(LEXICAL[name], ["citing_weight=0"], name)


def test_tf_idf_by_pencil():
    index = index_of(TfIdf(), ["a", "a b b", "c"])
    idf_a, idf_b = 1 + math.log(4 / 3), 1 + math.log(4 / 2)
    weight_b = (1 + math.log(2)) * idf_b
    length = math.hypot(idf_a, weight_b)
    assert np.allclose(scores_of(index, "a", 3), [1, idf_a / length, 0])
    assert np.allclose(scores_of(index, "b a b", 3), [idf_a / length, 1, 0])


def test_tf_idf_equals_the_vectorizer_of_scikit_learn():
    vectorizer = TfidfVectorizer(sublinear_tf=True, tokenizer=words, token_pattern=None)
    papers = vectorizer.fit_transform(TEXTS)
    query = "link link routing unknown"
    expected = (papers @ vectorizer.transform([query]).T).toarray()[:, 0]
    assert np.allclose(scores_of(index_of(TfIdf(), TEXTS), query, len(TEXTS)), expected)


def test_lengths_of_papers_matter_from_0_to_1():
    with pytest.raises(ConfigError, match="b=2: expected 0 to 1"):
        from_settings(Bm25, ["b=2"], "bm25")


@pytest.mark.parametrize("name", OF_PAPERS)
def test_citing_sentences_help_on_validation(name, store):
    contexts = store.contexts("valid")
    hits = {}
    for fields in ("abstract", "abstract+citing"):
        index = LexicalIndex(LEXICAL[name](), *paper_counts(store, fields, stemmed=True))
        found = index.search(query_texts(store, contexts, 3), 10, contexts.citing_rows)
        hits[fields] = sum(len(set(r) & set(contexts.cited(i))) for i, r in enumerate(found[0]))
    assert hits["abstract+citing"] > hits["abstract"] > 0
