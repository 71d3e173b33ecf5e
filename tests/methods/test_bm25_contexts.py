from pathlib import Path

import numpy as np
import pytest

from mpbert.commands import retrieve
from mpbert.corpus.fields import query_texts
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.bm25_contexts import Bm25Contexts
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.lexical.search import LexicalSearch


@pytest.mark.parametrize("neighbours", [3, 10_000])
def test_neighbours_vote_for_what_they_cite(store, neighbours):
    method = Bm25Contexts(neighbours=neighbours, sharpness=3, query="context+abstract")
    queries, training = store.contexts("test"), store.contexts("train")
    rows, scores = LexicalSearch(store, method).search(queries, "test", 20)
    counts, vocabulary = Bm25Contexts().count_words(store)
    contexts = LexicalIndex(Bm25(), counts, vocabulary)
    texts = query_texts(store, queries, 3, "context+abstract")
    near, likeness = contexts.search(texts, min(neighbours, len(training)), np.full(len(texts), -1))
    for i in range(len(queries)):
        votes = {}
        for context, score in zip(near[i], likeness[i], strict=True):
            for paper in training.cited(context):
                if store.years[paper] <= queries.years[i] and score > 0:
                    votes[int(paper)] = votes.get(int(paper), 0) + (score / likeness[i][0]) ** 3
        votes.pop(int(queries.citing_rows[i]), None)
        found = {int(row): score for row, score in zip(rows[i], scores[i], strict=True) if row >= 0}
        best = sorted(votes.values(), reverse=True)[:20]
        assert np.allclose(sorted(found.values(), reverse=True), best)
        assert all(votes[row] == pytest.approx(score) for row, score in found.items())


def test_a_query_without_known_words_finds_nothing(store):
    method = Bm25Contexts()
    counts, vocabulary = method.count_words(store)
    index = LexicalIndex(method, counts, vocabulary, store.num_papers)
    rows, scores = index.search(["qqq"], 5, np.array([-1]))
    assert (rows == -1).all() and (scores == -np.inf).all()


def test_it_does_not_rank_for_training_contexts():
    asked = {"lexical": "bm25_contexts", "splits": ["train"]}
    with pytest.raises(ConfigError, match="train: its contexts are known"):
        retrieve.Config(Path("corpus"), Path("out"), **asked)
    with pytest.raises(ConfigError, match="fields"):
        from_settings(Bm25Contexts, ["fields=abstract"], "bm25_contexts")
