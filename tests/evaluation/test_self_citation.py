import numpy as np
import pytest

from mpbert.corpus.store import CorpusStore
from mpbert.evaluation.self_citation import author_matrix, self_citation, shares_author

NAMES = [["Ann Lee", "Bo Chen"], ["bo chen "], ["C. Diaz"], [], ["Ann Lee", "C. Diaz"], [""]]


def test_papers_share_an_author_whatever_the_case_and_never_the_empty_name():
    authors = author_matrix(NAMES)
    ranked = np.array([[1, 2, 4], [0, 5, -1], [0, 1, 2]])
    found = shares_author(authors, np.array([0, 1, 5]), ranked)
    assert found.tolist() == [[True, False, True], [True, False, False], [False] * 3]


def test_the_ranks_by_pencil():
    shared = np.array([[0, 1, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]], dtype=bool)
    found = self_citation(shared, [1, 2, 4, 5, 9])
    # at 4: ranks 2 and 4; none, so 5; none, so 5.  at 5: 2 and 4; 5; none, so 6
    assert np.allclose(found.mean_rank, [2, (2 + 3 + 3) / 3, (3 + 5 + 5) / 3, 14 / 3, 18 / 3])
    assert np.allclose(found.best_rank, [2, (2 + 3 + 3) / 3, (2 + 5 + 5) / 3, 13 / 3, 17 / 3])
    assert np.allclose(found.share, [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3])


def test_moving_a_paper_of_an_author_up_lowers_the_ranks(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    queries = store.manuscripts("test")
    rows = np.tile(np.arange(store.num_papers), (len(queries), 1))
    authors = author_matrix(store.authors)
    shared = shares_author(authors, queries.citing_rows, rows)
    for i in (0, 3):
        own = set(map(str.lower, store.authors[queries.citing_rows[i]]))
        slow = [bool(own & set(map(str.lower, names))) for names in store.authors]
        assert shared[i].tolist() == slow
    favoured = -np.sort(-shared.astype(int), axis=1) > 0
    plain, biased = (self_citation(each, [5, 20, 120]) for each in (shared, favoured))
    assert (biased.mean_rank < plain.mean_rank).all()
    assert (biased.best_rank < plain.best_rank).all()
    assert (biased.share >= plain.share).all()


def test_no_query_and_a_cutoff_of_0_are_refused():
    with pytest.raises(ValueError, match="found 0 queries"):
        self_citation(np.zeros((0, 3), dtype=bool), [1])
    with pytest.raises(ValueError, match=r"cutoffs \[0\]; expected"):
        self_citation(np.zeros((1, 3), dtype=bool), [0])
