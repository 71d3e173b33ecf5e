import numpy as np
import pytest
from scipy import sparse

from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.citeomatic.triplets import (
    CITED_BY_CITED,
    NEIGHBOUR,
    RANDOM,
    Triplets,
    TripletSampler,
    cited_matrix,
    percentile_per_row,
)
from mpbert.methods.training_citations import training_citations


@pytest.fixture(scope="module")
def pool(store):
    return np.flatnonzero(store.paper_splits == "train")


def near_of(queries, pool, k=6):
    return np.random.default_rng(2).choice(pool, size=(len(queries), k))


@pytest.mark.parametrize("task", ["local", "global"])
def test_every_triplet_is_of_its_kind(store, pool, task):
    queries, citations = store.queries("train", task), training_citations(store)
    cited = cited_matrix(queries, store.num_papers)
    sampler = TripletSampler(cited, queries.citing_rows, citations, pool, whole=True)
    near = near_of(queries, pool)
    drawn = sampler.sample(3000, np.random.default_rng(1), near)
    cites = citations.toarray() > 0
    kinds = set()
    for q, positive, negative, kind in zip(
        drawn.queries, drawn.positives, drawn.negatives, drawn.kinds, strict=True
    ):
        of_query, citing = set(queries.cited(q).tolist()), queries.citing_rows[q]
        assert positive in of_query
        assert negative not in of_query
        assert negative != citing
        assert not cites[citing, negative]
        assert {store.paper_splits[positive], store.paper_splits[negative]} == {"train"}
        if kind == NEIGHBOUR:
            assert negative in near[q]
        if kind == CITED_BY_CITED:
            assert any(cites[paper, negative] for paper in of_query)
        kinds.add(int(kind))
    assert kinds == {RANDOM, NEIGHBOUR, CITED_BY_CITED}
    shares = np.bincount(drawn.kinds) / len(drawn)
    assert shares[NEIGHBOUR] > 0.25
    pairs = np.unique(drawn.queries * store.num_papers + drawn.positives)
    assert len(pairs) > 0.8 * min(len(sampler.pairs[0]), 3000)


def test_the_same_generator_draws_the_same_and_refused_neighbours_become_any_paper(store, pool):
    queries = store.manuscripts("train")
    cited = cited_matrix(queries, store.num_papers)
    sampler = TripletSampler(
        cited, queries.citing_rows, training_citations(store), pool, whole=True
    )
    near = near_of(queries, pool)

    def draw(**named):
        return sampler.sample(500, np.random.default_rng(4), near, **named)

    assert np.array_equal(draw().negatives, draw().negatives)
    refused = draw(accepts=lambda query, paper: np.zeros(len(query), dtype=bool))
    assert NEIGHBOUR not in refused.kinds
    assert len(refused) == 500
    some = draw(accepts=lambda query, paper: paper % 2 == 0)
    assert (some.negatives[some.kinds == NEIGHBOUR] % 2 == 0).all()
    assert (some.kinds == NEIGHBOUR).any()


def test_a_short_list_of_neighbours_is_read_as_often_as_a_long_one(store, pool):
    queries = store.manuscripts("train")
    sampler = TripletSampler(
        *(cited_matrix(queries, store.num_papers), queries.citing_rows),
        *(training_citations(store), pool),
        whole=True,
    )
    near = np.full((len(queries), 500), -1)
    for query in range(len(queries)):
        unknown = pool[~sampler.is_excluded(np.full(len(pool), query), pool)]
        near[query, : query % 3] = unknown[: query % 3]
    drawn = sampler.sample(3000, np.random.default_rng(1), near)
    is_near = drawn.kinds == NEIGHBOUR
    assert is_near[drawn.queries % 3 > 0].mean() == pytest.approx(1 / 3, abs=0.04)
    assert not is_near[drawn.queries % 3 == 0].any()
    near[3] = -1
    near[4, :2] = queries.cited(4)[0]
    alone = TripletSampler(
        *(cited_matrix(queries, store.num_papers), queries.citing_rows),
        *(training_citations(store), pool),
        whole=True,
        kinds=(NEIGHBOUR,),
    )
    drawn = alone.sample(3000, np.random.default_rng(1), near)
    assert set(drawn.kinds) == {NEIGHBOUR} and len(drawn) > 1000
    assert (near[drawn.queries, :2] == drawn.negatives[:, None]).any(axis=1).all()
    assert 4 not in drawn.queries  # it cites all of its list
    nothing = alone.sample(100, np.random.default_rng(1), near[:, :0])
    assert len(nothing) == 0


def test_triplets_are_split_into_parts_none_of_which_is_empty():
    three = Triplets(*np.arange(12).reshape(4, 3))
    assert [part.queries.tolist() for part in three.split(2)] == [[0, 1], [2]]
    assert [part.negatives.tolist() for part in three.split(9)] == [[6], [7], [8]]
    with pytest.raises(CorpusError, match=r"found no triplet to learn from: .*; expected some"):
        three.take(np.arange(0)).split(2)


def test_a_query_that_cites_everything_has_no_triplets_and_no_citation_is_refused(store, pool):
    queries = store.manuscripts("train")
    none = training_citations(store) * 0
    everything = cited_matrix(queries, store.num_papers)
    all_of_first = np.zeros((len(queries), 1))
    all_of_first[0] = 1
    everything = everything + sparse.csr_array(all_of_first @ np.ones((1, store.num_papers)))
    sampler = TripletSampler(everything, queries.citing_rows, none, pool, whole=False)
    drawn = sampler.sample(2000, np.random.default_rng(1), np.zeros((len(queries), 0), dtype=int))
    assert 0 < len(drawn) < 2000
    assert 0 not in drawn.queries
    with pytest.raises(CorpusError, match="no training query cites a training paper"):
        TripletSampler(everything * 0, queries.citing_rows, none, pool[:0], whole=False)


def test_triplets_are_taken_shifted_and_joined():
    one = Triplets(*np.arange(8).reshape(4, 2))
    assert one.take(np.array([1])).negatives.tolist() == [5]
    both = Triplets.joined([one, one.shifted(10)])
    assert both.queries.tolist() == [0, 1, 10, 11]
    assert both.kinds.tolist() == [6, 7, 6, 7]


def test_percentiles_of_ragged_rows_are_those_of_each_row():
    rows = [[0.2, 0.9, 0.4], [], [0.5], [3.0, 1.0, 2.0, 9.0]]
    lengths = np.array([len(row) for row in rows])
    values = np.concatenate(rows)
    for percent in (0, 5, 40, 100):
        found = percentile_per_row(values, lengths, percent)
        for row, value in zip(rows, found, strict=True):
            assert value == pytest.approx(np.percentile(row, percent) if row else np.inf)
    assert offsets_of(lengths)[-1] == len(values)
