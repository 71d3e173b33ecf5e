"""Papers for a whole paper, by its title and abstract."""

import json

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_run
from mpbert.foundation.errors import ConfigError, ManuscriptError
from mpbert.recommending.manuscripts.files import draft_at
from mpbert.recommending.manuscripts.sentences import whole_of
from mpbert.recommending.options import Options
from mpbert.recommending.recommender import Recommender

TITLE = "The routing of mail"
ABSTRACT = "Mail is routed by names of hosts \\cite{a}. Names are resolved by servers [CITATION]."
SENTENCES = [TITLE, "Mail is routed by names of hosts.", "Names are resolved by servers."]


@pytest.fixture(scope="module")
def recommender(rfc_index):
    return Recommender(rfc_index)


def test_scores_of_the_sentences_are_averaged(recommender):
    found = recommender.recommend_whole(TITLE, ABSTRACT, top=120)
    learnt = recommender._data.places.fusion
    asked = recommender.questions_of_whole(SENTENCES, None)
    assert [question.sentence for question in asked] == [0, 1, 2]
    mean = np.mean([learnt.scores(recommender.features.of(q)) for q in asked], axis=0)
    rows = [recommender.paper_ids.index(paper.paper_id) for paper in found]
    assert len(set(rows)) == len(mean)
    np.testing.assert_allclose([paper.score for paper in found], mean[rows], atol=1e-6)
    np.testing.assert_allclose(mean[rows], np.sort(mean)[::-1], atol=1e-6)


@pytest.mark.parametrize("ranker", ["both", "dense", "words"])
def test_a_single_sentence_is_asked_as_a_place_is(unlearnt, rfc_index, ranker):
    found = unlearnt(rfc_index).recommend_whole(SENTENCES[1], top=20, ranker=ranker)
    expected = unlearnt(rfc_index).recommend(SENTENCES[1], top=20, ranker=ranker)
    assert [(p.paper_id, p.score) for p in found] == [(p.paper_id, p.score) for p in expected]


def test_known_papers_and_later_ones_are_left_out(recommender):
    first, *_ = recommender.recommend_whole(TITLE, ABSTRACT)
    found = recommender.recommend_whole(TITLE, ABSTRACT, accepted=[first.paper_id], year=2000)
    assert first.paper_id not in {paper.paper_id for paper in found}
    assert all(paper.year <= 2000 for paper in found)
    with pytest.raises(ConfigError, match="top 0: expected 1 or more"):
        recommender.recommend_whole(TITLE, ABSTRACT, top=0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.tex",
            f"\\title{{{TITLE}}}\\begin{{document}}\\begin{{abstract}}{ABSTRACT}"
            "\\end{abstract}A zebrafish swims.\\end{document}",
        ),
        (
            "a.md",
            f"---\ntitle: {TITLE}\nabstract: {SENTENCES[1]} {SENTENCES[2]}\n---\nA zebrafish.",
        ),
        ("a.json", json.dumps({"title": TITLE, "abstract": ABSTRACT, "text": "A zebrafish."})),
        ("a.txt", f"{TITLE}\n\n{ABSTRACT}"),
    ],
)
def test_title_and_abstract_of_a_file_are_read(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert whole_of(draft_at(tmp_path / name), name) == SENTENCES


def test_the_command_and_python_answer_alike(rfc_index, recommender, tmp_path, capsys):
    (tmp_path / "a.txt").write_text(f"{TITLE}\n\n{ABSTRACT}")
    words = ["recommend", str(rfc_index), str(tmp_path / "a.txt"), "--whole", "--top", "5"]
    assert main([*words, "--format", "json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    expected = [paper.paper_id for paper in recommender.recommend_whole(TITLE, ABSTRACT, top=5)]
    assert [paper["paper_id"] for paper in answer["papers"]] == expected
    assert answer["sentence"] == TITLE
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"to read for: {TITLE}\n") and "\n   1  " in out and " %  " in out
    (tmp_path / "a.txt").write_text("12.")
    assert main(words) == 2
    assert "a.txt holds no word; expected a title" in capsys.readouterr().err
    with pytest.raises(ManuscriptError, match="holds no word"):
        recommender.recommend_whole("")


def test_whole_papers_of_a_split_are_answered_by_the_same_code(
    rfc_index, rfc_corpus, recommender, tmp_path
):
    words = ["answer", str(rfc_corpus), str(rfc_index), str(tmp_path / "runs"), "--task", "global"]
    assert main([*words, "--splits", "valid", "--top", "7"]) == 0
    store = CorpusStore(rfc_corpus)
    queries = store.manuscripts("valid")
    run = read_run(tmp_path / "runs" / "valid.run")
    assert set(run.query_ids) == set(queries.query_ids)
    for row, year in list(zip(queries.citing_rows, queries.years, strict=True))[:3]:
        paper = store.paper(int(row))
        options = Options(8, int(year))
        asked = recommender.asked_whole([paper.title, *paper.abstract], options)
        found = recommender.answer(asked)
        expected = [p.paper_id for p in found if p.paper_id != paper.paper_id][:7]
        ranked = run.take(np.array([run.query_ids.index(paper.paper_id)]))
        assert [ranked.paper_ids[code] for code in ranked.codes] == expected
