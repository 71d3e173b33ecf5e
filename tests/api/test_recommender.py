import pytest

from mpbert import Recommender
from mpbert.foundation.errors import ConfigError, IndexFormatError, ManuscriptError
from mpbert.recommending.directory import read_index
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.recommender import IndexRecommender

TEXT = "Mail is routed by names of hosts. Names are resolved by servers. It is slow."


@pytest.fixture(scope="module")
def recommender(rfc_index):
    return Recommender(rfc_index)


def test_the_table_says_what_the_index_answers(recommender, rfc_index):
    place = TEXT.index(" by servers")
    expected = IndexRecommender.open(rfc_index).recommend(TEXT, place, top=7, year=2005)
    found = recommender.recommend(TEXT, place, top=7, year=2005)
    assert found.index.tolist() == list(range(1, 8)) and found.index.name == "rank"
    assert found["paper_id"].tolist() == [paper.paper_id for paper in expected]
    assert found["score"].tolist() == [paper.score for paper in expected]
    assert found["authors"].tolist() == [list(paper.authors) for paper in expected]
    assert found["why"].tolist() == [paper.why for paper in expected]
    assert (found["year"] <= 2005).all()


def test_reasons_are_texts_of_citing_sentences_and_companions(recommender):
    found = recommender.recommend(TEXT, top=20)
    assert any(reasons for reasons in found["reasons"])
    for reasons, why in zip(found["reasons"], found["why"], strict=True):
        assert len(reasons) == len(why.citing) + bool(why.companions)
        if why.citing:
            assert reasons[0].endswith(f": {why.citing[0].text}")
        if why.companions:
            assert reasons[-1].startswith(f"cited together with {why.companions[0].paper_id} (")


def test_an_accepted_paper_is_not_returned(recommender):
    first = recommender.recommend(TEXT, top=1).loc[1, "paper_id"]
    assert first not in recommender.recommend(TEXT, accepted=[first])["paper_id"].tolist()


def test_exact_matches_of_an_encoder_count(matching):
    recommender, learnt = Recommender(matching.index), read_index(matching.index).places.fusion
    found = recommender.recommend(TEXT, top=120).set_index("paper_id")["score"]
    asked = recommender.index.question(manuscript_at(TEXT, None), 0)
    features = recommender.index.features.of(asked)
    assert learnt.weights["exact_matches"] > 1 and features["exact_matches"].max() > 0.5
    expected = dict(zip(recommender.index.paper_ids, learnt.scores(features), strict=True))
    assert found.to_dict() == expected and len(expected) == 120


def test_no_paper_of_the_year_is_an_empty_table(recommender):
    found = recommender.recommend(TEXT, year=1900)
    assert len(found) == 0 and "paper_id" in found.columns and len(found.iloc[:, 0]) == 0


def test_each_place_of_a_file_is_answered(recommender, tmp_path):
    path = tmp_path / "mail.md"
    path.write_text("Mail is routed [@dns; @names]. Names are resolved [CITATION]. It is slow.")
    found = recommender.recommend_file(path, top=3)
    assert found.index.names == ["place", "rank"]
    assert found.index.tolist() == [(place, rank) for place in (1, 2) for rank in (1, 2, 3)]
    assert found.loc[(1, 1), "keys"] == ["dns", "names"] and found.loc[(2, 1), "keys"] == []
    assert found.loc[(2, 1), "sentence"] == "Names are resolved."


def test_papers_and_vectors_are_in_one_order(recommender, rfc_corpus):
    assert repr(recommender).endswith("rfc'): 120 papers")
    assert recommender.vectors.shape == (len(recommender.papers), 16)
    assert recommender.papers.index.is_monotonic_increasing


def test_what_is_wrong_is_refused(recommender, tmp_path):
    with pytest.raises(IndexFormatError, match="expected an index"):
        Recommender(tmp_path)
    with pytest.raises(ConfigError, match="top 0: expected 1 or more"):
        recommender.recommend(TEXT, top=0)
    (tmp_path / "plain.txt").write_text(" 12 ")
    with pytest.raises(ManuscriptError, match="found no"):
        recommender.recommend_file(tmp_path / "plain.txt")


def test_a_year_in_quotes_and_a_single_id_are_refused(recommender):
    with pytest.raises(ConfigError, match="year is '2015'; expected a whole number"):
        recommender.recommend(TEXT, year="2015")
    with pytest.raises(ConfigError, match="accepted is one text, 'RFC1034'; expected a list"):
        recommender.recommend(TEXT, accepted="RFC1034")
