from dataclasses import fields
from typing import get_type_hints

import pandas as pd
import pytest

from mpbert import Recommender
from mpbert.foundation.errors import ConfigError, IndexFormatError, ManuscriptError
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.directory import read_index
from mpbert.recommending.options import Options, Wanted
from mpbert.recommending.records import Recommendation

TEXT = "Mail is routed by names of hosts. Names are resolved by servers. It is slow."


@pytest.fixture(scope="module")
def recommender(rfc_index):
    return Recommender(rfc_index)


def ids(papers):
    return [paper.paper_id for paper in papers]


def test_an_answer_is_a_sequence_and_a_table_of_the_same(recommender):
    found = recommender.recommend(TEXT, TEXT.index(" by servers"), top=7, year=2005)
    table = found.to_pandas()
    assert len(found) == 7 and all(paper.year <= 2005 for paper in found)
    assert table.index.tolist() == list(range(1, 8)) and table.index.name == "rank"
    assert table["paper_id"].tolist() == ids(found)
    for name in ("title", "year", "score", "reasons", "why"):
        assert table[name].tolist() == [getattr(paper, name) for paper in found]
    assert table["authors"].tolist() == [list(paper.authors) for paper in found]
    assert table["year"].dtype == "Int32" and table["score"].dtype == "float64"


def test_a_slice_keeps_its_ranks(recommender):
    found = recommender.recommend(TEXT, top=7)
    part = found[2:6:2]
    assert ids(part) == ids(found)[2:6:2] and part[-1] == found[4] and part == found[2:6:2]
    pd.testing.assert_frame_equal(part.to_pandas(), found.to_pandas().iloc[2:6:2])
    assert [line.split()[0] for line in str(part).splitlines()][:3] == ["rank", "3", "5"]
    with pytest.raises(IndexError):
        _ = part[2]


def paper(title, *authors):
    return Recommendation(f"RFC{len(title)}", title, authors, 2001, 12.34567)


def test_a_table_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "68")
    found = Recommendations(
        [paper("Routing" * 20, "A. One", "B. Two", "C. Three"), paper("路由\n", "D")]
    )
    assert str(found).splitlines() == [
        "rank    score  likely  paper_id  title                 authors                year",
        "   1  12.3457       -  RFC140    RoutingRoutingRouti…  A. One, B. Two et al.  2001",
        "   2  12.3457       -  RFC3      路由\\n                D                      2001",
    ]
    every = Recommendations([paper("A title")] * 25, "another language")
    assert str(every).splitlines()[20:] == [
        "  20  12.3457       -  RFC7      A title           2001",
        "... 5 more",
        "warning: another language",
    ]


def test_a_notebook_shows_a_table_without_markup_of_papers():
    found = Recommendations([paper("<b>Markup</b> & more")], "a < b")._repr_html_()
    assert found.startswith("<table>\n<tr><th>rank</th>") and found.count("<tr>") == 2
    assert "<td>&lt;b&gt;Markup&lt;/b&gt; &amp; more</td>" in found
    assert found.endswith("<p>warning: a &lt; b</p>")


def test_reasons_are_texts_of_citing_sentences_and_companions(recommender):
    found = recommender.recommend(TEXT, top=20)
    assert any(paper.reasons for paper in found)
    for reasons, why in ((paper.reasons, paper.why) for paper in found):
        passages = [] if why.evidence is None else [why.evidence]
        assert len(reasons) == len(passages) + len(why.citing) + bool(why.companions)
        for line, reason in zip(reasons, [*passages, *why.citing], strict=False):
            assert line.endswith(f": {reason.text}")
        if why.companions:
            assert reasons[-1].startswith(f"cited together with {why.companions[0].paper_id} (")


def test_an_accepted_paper_is_not_returned(recommender):
    (first,) = ids(recommender.recommend(TEXT, top=1))
    assert first not in ids(recommender.recommend(TEXT, accepted=[first]))


def test_exact_matches_of_an_encoder_count(matching):
    recommender, learnt = Recommender(matching.index), read_index(matching.index).places.fusion
    found = {paper.paper_id: paper.score for paper in recommender.recommend(TEXT, top=120)}
    features = recommender.features.of(recommender.asked(TEXT).questions[0])
    assert learnt.weights["exact_matches"] > 1 and features["exact_matches"].max() > 0.5
    expected = dict(zip(recommender.paper_ids, learnt.scores(features), strict=True))
    assert found == expected and len(expected) == 120


def test_no_paper_of_the_year_is_an_empty_answer(recommender):
    found = recommender.recommend(TEXT, year=1900)
    assert not found and list(found.to_pandas().columns)[:2] == ["paper_id", "title"]
    assert str(found).split() == list(Recommendations.columns)


def test_each_place_of_a_file_is_answered(recommender, tmp_path):
    path = tmp_path / "mail.md"
    path.write_text("Mail is routed [@dns; @names]. Names are resolved [CITATION]. It is slow.")
    found = recommender.recommend_file(path, top=3)
    assert [(place.keys, len(place.papers)) for place in found] == [(("dns", "names"), 3), ((), 3)]
    assert found[1].sentence == "Names are resolved."
    assert str(found[:1]) == f"place 1 [dns, names]: Mail is routed.\n{found[0].papers}"
    assert str(found) == f"{found[0]}\n\n{found[1]}" and found._repr_html_().count("<table>") == 2
    table = found.to_pandas()
    assert table.index.names == ["place", "rank"]
    assert table.index.tolist() == [(place, rank) for place in (1, 2) for rank in (1, 2, 3)]
    assert table.loc[(1, 1), "keys"] == ["dns", "names"] and table.loc[(2, 1), "keys"] == []
    assert table.loc[(2, 1), "sentence"] == "Names are resolved."


def test_papers_and_vectors_are_in_one_order(recommender):
    assert repr(recommender).endswith("rfc'): 120 papers") and len(recommender) == 120
    papers = recommender.papers
    assert recommender.vectors.shape == (len(papers), 16)
    assert ids(papers) == sorted(ids(papers)) == recommender.paper_ids
    assert papers[7] == recommender.paper(recommender.paper_ids[7])
    table = papers[5:9].to_pandas()
    assert table.index.tolist() == ids(papers[5:9]) and table["year"].dtype == "Int32"
    assert table["title"].tolist() == [paper.title for paper in papers[5:9]]
    assert str(papers).endswith("\n... 100 more")


def test_options_are_the_arguments_by_name():
    assert get_type_hints(Options) == get_type_hints(Wanted)
    assert [field.name for field in fields(Options)] == list(Wanted.__annotations__)


def test_what_is_wrong_is_refused(recommender, tmp_path):
    with pytest.raises(IndexFormatError, match="expected an index"):
        Recommender(tmp_path)
    with pytest.raises(ConfigError, match="top 0: expected 1 or more"):
        recommender.recommend(TEXT, top=0)
    with pytest.raises(ConfigError, match="year is '2015'; expected a whole number"):
        recommender.recommend(TEXT, year="2015")
    with pytest.raises(ConfigError, match="accepted is one text, 'RFC1034'; expected a list"):
        recommender.recommend(TEXT, accepted="RFC1034")
    (tmp_path / "plain.txt").write_text(" 12 ")
    with pytest.raises(ManuscriptError, match="found no"):
        recommender.recommend_file(tmp_path / "plain.txt")
