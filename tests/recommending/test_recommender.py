"""Tests of the recommender on an index of real RFCs with a random encoder."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from mpbert.corpus.cocitation import cocitation_counts
from mpbert.corpus.fields import paper_counts
from mpbert.foundation.errors import ConfigError, ManuscriptError, UnknownPaperError
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.recommending.columns import ColumnTable
from mpbert.recommending.companions import companion_scores
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.options import RANKERS
from mpbert.recommending.recommender import Recommender
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

TEXT = (
    "A host sends mail to a relay. The transfer protocol for mail names the sender and the domain "
    "of the receiver. A relay may refuse the message."
)
PLACE = TEXT.index(" A relay")


@pytest.fixture(scope="module")
def recommender(rfc_index):
    return Recommender(rfc_index)


def ids(found):
    return [paper.paper_id for paper in found]


@pytest.mark.parametrize("ranker", RANKERS)
def test_papers_are_distinct_and_best_first_and_the_same_each_time(recommender, store, ranker):
    found = recommender.recommend(TEXT, PLACE, top=7, ranker=ranker)
    assert len(set(ids(found))) == 7
    scores = [paper.score for paper in found]
    assert scores == sorted(scores, reverse=True)
    assert found == recommender.recommend(TEXT, PLACE, top=7, ranker=ranker)
    for paper in found:
        row = store.row_of[paper.paper_id]
        assert (paper.title, paper.year) == (store.titles[row], store.years[row])
        assert list(paper.authors) == store.authors[row]


def test_dense_scores_are_cosines_of_the_vectors_that_embed_makes(recommender, micro_vectors):
    manuscript = manuscript_at(TEXT, PLACE)
    query = recommender._encoder.embed_manuscript(manuscript.sentences, 1)
    papers = VectorStore.load(micro_vectors, "papers")
    np.testing.assert_array_equal(recommender.vectors, normalized(papers.vectors))
    assert recommender.paper_ids == papers.ids
    cosines = papers.vectors @ query / np.linalg.norm(papers.vectors, axis=1)
    found = recommender.recommend(TEXT, PLACE, top=120, ranker="dense")
    assert len(found) == 120
    by_id = dict(zip(papers.ids, cosines, strict=True))
    np.testing.assert_allclose([p.score for p in found], [by_id[i] for i in ids(found)], atol=1e-5)


def test_the_manuscript_vector_is_that_of_embed(recommender, store, micro_vectors):
    contexts, vectors = store.contexts("test"), VectorStore.load(micro_vectors, "contexts.test")
    for i in range(0, len(contexts), 25):
        paper = store.paper(int(contexts.citing_rows[i]))
        sentences, place = [paper.title, *paper.sentences], int(contexts.positions[i]) + 1
        found = recommender._encoder.embed_manuscript(sentences, place)
        expected = normalized(vectors[contexts.query_ids[i]][None])[0]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_scores_by_words_are_those_of_the_lexical_index(recommender, store):
    counts, vocabulary = paper_counts(store, "2*abstract+text+5*citing", stemmed=True)
    around = manuscript_at(TEXT, PLACE).sentences
    question = " ".join([*around, around[1], around[1]])  # the citing sentence three times
    index = LexicalIndex(Bm25(k1=16, b=0.5), counts, vocabulary)
    rows, scores = index.search([question], 9, np.array([-1]))
    found = recommender.recommend(TEXT, PLACE, top=9, ranker="words")
    np.testing.assert_allclose([p.score for p in found], scores[0], rtol=1e-5)
    assert ids(found) == [store.paper_ids[row] for row in rows[0]]


def test_both_of_an_index_that_learnt_nothing_is_the_sum_of_reciprocal_ranks(rfc_index, unlearnt):
    recommender = unlearnt(rfc_index)
    lists = [ids(recommender.recommend(TEXT, PLACE, top=200, ranker=r)) for r in RANKERS[1:]]
    expected = {
        paper: sum(1 / (61 + ranks.index(paper)) for ranks in lists if paper in ranks)
        for paper in recommender.paper_ids
    }
    for paper in recommender.recommend(TEXT, PLACE, top=120):
        assert paper.score == pytest.approx(expected[paper.paper_id])


def test_companion_scores_are_mean_shares_of_cocitations():
    counts = cocitation_counts(np.array([0, 2, 4, 7]), np.array([0, 1, 0, 1, 0, 2, 3]), 5)
    lookup = type("Arrays", (), {})()
    lookup.cocited_offsets, lookup.cocited_papers = counts.indptr, counts.indices
    lookup.cocited_counts = counts.data
    # paper 0 is cited with 1 twice, with 2 and 3 once; paper 3 with 0 and 2 once; 4 with none
    expected = {(0,): [0, 0.5, 0.25, 0.25, 0], (0, 3): [0.25, 0.25, 0.375, 0.125, 0], (4,): [0] * 5}
    for accepted, scores in expected.items():
        found = companion_scores(lookup, np.array(accepted), 5)
        np.testing.assert_allclose(found, scores)


def test_an_accepted_paper_leaves_and_its_companions_rise(recommender, store):
    contexts = store.contexts("train")
    counts = cocitation_counts(contexts.cited_offsets, contexts.cited_rows, store.num_papers)
    accepted = int(np.argmax(counts.sum(axis=1)))
    companion = counts[[accepted]].toarray()[0].argmax()
    before = ids(recommender.recommend(TEXT, PLACE, top=120))
    found = recommender.recommend(TEXT, PLACE, top=120, accepted=[store.paper_ids[accepted]])
    after = ids(found)
    assert store.paper_ids[accepted] in before and store.paper_ids[accepted] not in after
    companion_id = store.paper_ids[companion]
    assert after.index(companion_id) < 10 < before.index(companion_id)
    reasons = found[after.index(companion_id)].why.companions
    assert reasons[0].paper_id == store.paper_ids[accepted] and reasons[0].is_accepted
    assert reasons[0].count == counts[accepted, companion]


def test_scores_stay_those_of_the_words_where_no_paper_is_cited_with_the_accepted(
    recommender, store
):
    contexts = store.contexts("train")
    counts = cocitation_counts(contexts.cited_offsets, contexts.cited_rows, store.num_papers)
    alone = store.paper_ids[int(np.argmin(counts.sum(axis=1)))]
    assert not counts[[store.row_of[alone]]].sum()
    asked = {"top": 20, "ranker": "words"}
    found = recommender.recommend(TEXT, PLACE, accepted=[alone], **asked)
    before = recommender.recommend(TEXT, PLACE, **asked)
    expected = [paper for paper in before if paper.paper_id != alone][:19]
    assert [(p.paper_id, p.score) for p in found][:19] == [(p.paper_id, p.score) for p in expected]


def test_reasons_are_training_sentences_that_cite_the_paper(recommender, store):
    contexts = store.contexts("train")
    said = {}
    for i in range(len(contexts)):
        citing = int(contexts.citing_rows[i])
        row = store.sentence_offsets[citing] + contexts.positions[i]
        for cited in contexts.cited(i):
            key = store.paper_ids[cited], store.paper_ids[citing]
            said.setdefault(key, set()).add(int(row))
    found = recommender.recommend(TEXT, PLACE, top=40)
    assert sum(len(paper.why.citing) for paper in found) > 40
    for paper in found:
        similarities = [reason.similarity for reason in paper.why.citing]
        assert similarities == sorted(similarities, reverse=True)
        for reason in paper.why.citing:
            rows = said[paper.paper_id, reason.citing_id]
            assert reason.text in store.sentence_texts(np.array(sorted(rows)))
            assert reason.citing_title == store.titles[store.row_of[reason.citing_id]]


def test_a_known_citing_sentence_is_its_own_nearest_reason(recommender, store):
    contexts = store.contexts("train")
    sentences = [
        (store.sentence_texts(store.sentence_offsets[[row]] + position)[0], int(cited[0]))
        for row, position, cited in zip(
            contexts.citing_rows[:300],
            contexts.positions[:300],
            map(contexts.cited, range(300)),
            strict=True,
        )
    ]
    text, cited = max(sentences, key=lambda found: len(found[0]))
    found = recommender.recommend(text, None, top=120, ranker="words")
    reasons = found[ids(found).index(store.paper_ids[cited])].why.citing
    assert reasons[0].text == text and reasons[0].similarity > 0.95


def test_papers_of_later_years_are_left_out(recommender, store):
    year = int(np.median(store.years))
    found = recommender.recommend(TEXT, PLACE, top=120, year=year, ranker="dense")
    assert len(found) == (store.years <= year).sum()
    assert max(paper.year for paper in found) <= year


def test_markers_reach_neither_the_encoder_nor_the_words(recommender, monkeypatch):
    text = (
        r"Mail is \citep[see][]{koo2008} relayed (Koo et al., 2008) [12]. It is named [@smith09; "
        "@doe] by domains [CITATION] as RFC 2119 says [?]. Hosts answer."
    )
    seen = []

    def embed(sentences, place):
        seen.extend(sentences)
        return np.ones(16, np.float32)

    def counts(*texts):
        seen.extend(texts)
        return np.array([0]), np.array([1])

    monkeypatch.setattr(recommender._encoder, "embed_manuscript", embed)
    monkeypatch.setattr(recommender._words, "counts", counts)
    recommender.recommend(text, text.index("by"), title=r"On \cite{t1} mail", abstract="As [7] is.")
    joined = " ".join(seen)
    for marker in ("koo", "Koo", "2008", "12", "smith", "doe", "CITATION", "2119", "?", "t1", "7"):
        assert marker not in joined
    assert "cite" not in joined and "\\" not in joined and "Hosts answer." in joined


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"text": ""}, ManuscriptError, "the text holds no word"),
        ({"text": " ... "}, ManuscriptError, "the text holds no word"),
        ({"text": r"\cite{x} [12]"}, ManuscriptError, "the text holds no word"),
        ({"place": 999}, ManuscriptError, "place 999: outside of the text; expected 0 to"),
        ({"place": -1}, ManuscriptError, "place -1: outside of the text"),
        ({"top": 0}, ConfigError, "top 0: expected 1 or more"),
        ({"ranker": "sparse"}, ConfigError, "'sparse': expected one of both, dense, words"),
        ({"accepted": ["RFC0"]}, UnknownPaperError, "no paper 'RFC0' among the 120"),
    ],
)
def test_wrong_questions_are_refused_in_one_line(recommender, wrong, error, message):
    with pytest.raises(error, match=message) as caught:
        recommender.recommend(**{"text": TEXT, "place": None, **wrong})
    assert "\n" not in str(caught.value)


def test_words_that_no_paper_knows_find_nothing_by_words_and_something_by_vectors(recommender):
    assert not recommender.recommend("Qzxw vvkq.", ranker="words")
    assert len(recommender.recommend("Qzxw vvkq.", top=3)) == 3


def test_a_place_at_any_character_of_a_text_is_answered(recommender):
    text = "Mail (Koo et al., 2008). [12] \\cite{a}! “Quoted” [@k] e.g. this \U0001f600 é [?]. End"
    for place in range(len(text) + 1):
        assert len(recommender.recommend(text, place, top=1, ranker="words")) == 1


def test_threads_get_the_same_answers(recommender):
    texts = [f"{TEXT} Number {i} of routes and names." for i in range(16)]
    alone = [recommender.recommend(text, top=5) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: recommender.recommend(text, top=5), texts))
    for found, expected in zip(together, alone, strict=True):
        # torch may sum up float32 in another order
        scores = pytest.approx([paper.score for paper in expected], rel=1e-6)
        assert [paper.score for paper in found] == scores
        unscored = [[replace(paper, score=0.0) for paper in papers] for papers in (found, expected)]
        assert unscored[0] == unscored[1]


def test_a_paper_is_known_by_id(recommender, store):
    assert recommender.titles == store.titles
    np.testing.assert_array_equal(recommender.years, store.years)
    paper = recommender.paper(store.paper_ids[3])
    assert paper.title == store.titles[3] and paper.abstract == store.abstracts(np.array([3]))[0]
    assert paper.venue == store.venues[3]
    with pytest.raises(UnknownPaperError, match="no paper 'x' among the 120 of the index"):
        recommender.paper("x")
    with pytest.raises(UnknownPaperError):
        recommender.bibtex("x")


def test_titles_are_found_by_the_beginnings_of_their_words(recommender, store):
    title = max(store.titles, key=len)
    words = title.split()
    assert title in [p.title for p in recommender.search_titles(" ".join(words[-3:]).upper())]
    found = recommender.search_titles("prot", top=500)
    expected = [t for t in store.titles if any(w.startswith("prot") for w in t.lower().split())]
    assert len(found) >= len(expected) > 3
    order = [(not p.title.lower().startswith("prot"), len(p.title)) for p in found]
    assert order == sorted(order) and len(set(order)) > 3
    assert recommender.search_titles("") == [] == recommender.search_titles("zzzz")
    assert len(recommender.search_titles("protocol", top=2)) == 2


def test_an_index_without_citing_sentences_still_answers(tmp_path, rfc_index, monkeypatch):
    from mpbert.recommending import directory
    from mpbert.recommending.directory import data_of, read_index, write_data

    data = read_index(rfc_index)
    tables = dataclasses.replace(data.tables, contexts=data.tables.contexts.take(np.zeros(0, int)))
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)  # the manifest is of another
    copy = tmp_path / "index"
    (copy / "data.1").mkdir(parents=True)
    made = data_of(tables, data.readings, data.seed, fuses=True)
    write_data(copy / "data.1", dataclasses.replace(made, places=data.places))
    (copy / "manifest.json").write_bytes((rfc_index / "manifest.json").read_bytes())
    (copy / "encoder").symlink_to(rfc_index / "encoder")
    accepted = [data.tables.papers["paper_id"][7]]
    found = Recommender(copy).recommend(TEXT, PLACE, accepted=accepted, top=3)
    assert len(found) == 3 and not any(paper.why.citing for paper in found)
    assert isinstance(tables.contexts, ColumnTable) and tables.contexts.num_rows == 0
