"""An index of an encoder with exact matches: its weights, its ranking, papers that come and go."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mpbert.cli import main
from mpbert.commands import retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.errors import EncoderError, IndexFormatError
from mpbert.recommending import directory, near
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_at
from mpbert.recommending.options import Options
from mpbert.recommending.recommender import Recommender
from mpbert.vectors.matches import load_matches
from tests.recommending.given import GivenRecommender

TEXT = "A host sends mail to a relay. The protocol names the sender. A relay may refuse it."
ZEBRAS = {
    **{"paper_id": "AA-ZEBRAS", "title": "Zebrafish relay zymurgy", "year": 2021},
    "abstract": ["Zebrafish quickly relay zymurgy.", "Zymurgy is what zebrafish relay."],
    "sections": [{"sentences": ["Zygotes of zebrafish know zymurgy."]}],
}


@pytest.fixture
def index(matching, tmp_path):
    return shutil.copytree(matching.index, tmp_path / "index")


@pytest.fixture
def unchecked(monkeypatch):
    """Checksums are not compared: the files were written wrongly, and their checksums with them."""
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)


@pytest.fixture
def add(index, tmp_path):
    def run(*records):
        path = tmp_path / "papers.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return main(["add", str(index), str(path)])

    return run


def ids(found):
    return [paper.paper_id for paper in found]


def weights_of(index):
    return read_index(index).tables.matches.by_paper().matrix()


def record_of(paper):
    return {
        **{"paper_id": paper.paper_id, "title": paper.title, "year": paper.year},
        **{"abstract": paper.abstract, "authors": paper.authors, "venue": paper.venue},
        "sections": [{"sentences": paper.sentences[paper.num_abstract :]}],
    }


def test_a_context_as_text_has_the_weights_of_embed_and_the_ranking_of_retrieve(
    matching, rfc_corpus, tmp_path, unlearnt
):
    run = tmp_path / "run"
    retrieve.run(retrieve.Config(rfc_corpus, run, vectors=matching.vectors, splits=["test"]))
    store, recommender = CorpusStore(rfc_corpus), unlearnt(matching.index)
    contexts = store.contexts("test")
    read = read_run(run / "test.run")
    rows, scores = matrices_of_run(read, contexts.query_ids, store.paper_ids, "run")
    stored = load_matches(matching.vectors, "contexts.test", len(contexts))
    for query in range(0, len(contexts), 25):
        paper = store.paper(int(contexts.citing_rows[query]))
        sentences, place = [paper.title, *paper.sentences], int(contexts.positions[query]) + 1
        weights = recommender._encoder.weigh_manuscript(sentences, place)
        assert np.array_equal(weights.matrix().toarray(), stored[[query]].toarray())
        manuscript = Manuscript(sentences, np.array([place]), [()])
        options = Options(120, int(contexts.years[query]))
        found = recommender.answer(recommender.asked_at(manuscript, 0, options))
        found = [other for other in found if other.paper_id != paper.paper_id]
        length = int((rows[query] >= 0).sum())
        assert 20 < length <= len(found)
        expected = [store.paper_ids[row] for row in rows[query, :length]]
        by_id = {other.paper_id: other.score for other in found}
        np.testing.assert_allclose([by_id[i] for i in expected], scores[query, :length], atol=1e-3)
        if recommender.vectors.shape[1] == 16:  # vectors of sentences are stored in half precision
            assert ids(found)[:length] == expected


def test_both_adds_what_matches_to_the_cosine_and_dense_is_the_cosine_alone(matching, unlearnt):
    recommender = unlearnt(matching.index)
    sentences = manuscript_at(TEXT, None).sentences
    query = recommender._encoder.embed_manuscript(sentences, 2)
    asked = recommender._encoder.weigh_manuscript(sentences, 2).matrix()
    cosines = recommender.vectors @ query
    matches = (weights_of(matching.index) @ asked.T).toarray()[:, 0]
    for ranker, expected in (("dense", cosines), ("both", cosines + matches)):
        found = recommender.recommend(TEXT, top=120, ranker=ranker)
        by_id = dict(zip(recommender.paper_ids, expected, strict=True))
        assert len(found) == 120
        assert [p.score for p in found] == pytest.approx([by_id[i] for i in ids(found)], abs=1e-5)
    assert matches.max() > 0.5


@pytest.fixture
def foreign(matching):
    """What an index holds whose encoder was trained on other contexts."""
    return replace(read_index(matching.index), places=None, fields=None, is_foreign=True)


def test_words_count_twice_as_much_as_an_encoder_that_was_trained_elsewhere(matching, foreign):
    encoder = encoder_of_index(matching.index, foreign)
    recommender = GivenRecommender(foreign, encoder)
    sentences = manuscript_at(TEXT, None).sentences
    vectors = recommender.vectors @ encoder.embed_manuscript(sentences, 2)
    asked = encoder.weigh_manuscript(sentences, 2).matrix()
    vectors += (weights_of(matching.index) @ asked.T).toarray()[:, 0]
    by_words = recommender.recommend(TEXT, top=120, ranker="words")
    words = {paper.paper_id: paper.score for paper in by_words}
    allowed = recommender.years <= 2005
    best = vectors[allowed].max()
    most = max(paper.score for paper in by_words if paper.year <= 2005)
    expected = {
        paper_id: words.get(paper_id, 0.0) / most + 0.5 * vectors[row] / best
        for row, paper_id in enumerate(recommender.paper_ids)
    }
    found = recommender.recommend(TEXT, top=120, year=2005)
    assert len(found) == allowed.sum() < 120
    assert [p.score for p in found] == pytest.approx([expected[i] for i in ids(found)], abs=1e-5)
    assert ids(found) != [paper_id for paper_id in ids(by_words) if paper_id in ids(found)]


def test_beside_words_papers_that_a_store_proposes_are_ranked_as_all(
    matching, foreign, monkeypatch
):
    class Store:
        def propose(self, asked, depth, year):
            found = np.where(years <= (year or 9999), vectors @ asked[0], -np.inf)
            return np.argsort(-found, kind="stable")[None, :depth]

    monkeypatch.setattr(near, "NEAREST", 4)
    vectors, encoder = foreign.tables.vectors, encoder_of_index(matching.index, foreign)
    every = GivenRecommender(foreign, encoder)
    years = every.years
    papers = near.NearPapers(Store(), vectors, np.flatnonzero(vectors.any(axis=1)), years)
    proposed = GivenRecommender(foreign, encoder, papers)
    for year in (None, 2000):
        expected = every.recommend(TEXT, top=20, year=year)
        assert ids(proposed.recommend(TEXT, top=20, year=year)) == ids(expected)


def test_years_and_accepted_papers_leave_as_without_matches(matching, unlearnt):
    recommender = unlearnt(matching.index)
    every = recommender.recommend(TEXT, top=120)
    year = int(np.median(recommender.years))
    early = [paper.paper_id for paper in every if paper.year <= year]
    assert ids(recommender.recommend(TEXT, top=120, year=year)) == early
    assert 0 < len(early) < 120
    assert not recommender.recommend(TEXT, year=1900)
    accepted = ids(every)[:2]
    left = ids(recommender.recommend(TEXT, top=120, accepted=accepted))
    assert sorted(left) == sorted(ids(every)[2:])


def test_a_paper_that_is_added_is_found_by_its_own_words(index, add):
    before = Recommender(index).recommend("Zebrafish relay zymurgy.", top=1)[0].score
    assert add(ZEBRAS) == 0
    found = Recommender(index).recommend("Zebrafish relay zymurgy.", top=1)[0]
    assert found.paper_id == "AA-ZEBRAS" and found.score > before
    assert len(weights_of(index)[[0]].data) > 10


def test_what_is_added_and_removed_again_leaves_the_same_bytes(index, add):
    def files():
        (folder,) = index.glob("data.*")
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    before = files()
    assert add(ZEBRAS) == 0
    assert files()["match_weights.npy"] != before["match_weights.npy"]
    assert main(["remove", str(index), "AA-ZEBRAS"]) == 0
    assert files() == before


def test_a_paper_that_nobody_cites_gets_the_weights_of_embed(index, add, rfc_corpus):
    store = CorpusStore(rfc_corpus)
    cited = set(store.contexts("train").cited_rows.tolist())
    row = next(row for row in range(50, 120) if row not in cited)
    before = weights_of(index)
    assert main(["remove", str(index), store.paper_ids[row]]) == 0
    assert weights_of(index).shape == (119, before.shape[1])
    kept = np.delete(np.arange(120), row)
    assert np.array_equal(weights_of(index).toarray(), before[kept].toarray())
    assert add(record_of(store.paper(row))) == 0
    np.testing.assert_allclose(weights_of(index).toarray(), before.toarray(), rtol=1e-6)


def with_offsets(index, change):
    path = index / "data.1" / "match_offsets.npy"
    np.save(path, change(np.load(path)))


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-40])


def with_nan(weights):
    weights.data[7] = np.nan
    return weights


def without(index):
    for path in (index / "data.1").glob("match_*.npy"):
        path.unlink()


FILE = "data.1/match_papers.npy"
DAMAGES = {
    "cut": (lambda i: cut_short(i / FILE), "match_papers.npy: missing or damaged"),
    "lost": (lambda i: (i / FILE).unlink(), "match_papers.npy: missing or damaged"),
    "fewer": (
        lambda i: with_offsets(i, lambda o: np.append(o[:-1], o[-1] - 1)),
        "match_offsets.npy does not fit its neighbours",
    ),
    "taken away": (without, "found 'exact_matches' of weight"),
    "of others": (
        lambda i: with_offsets(i, lambda o: np.append(o[:99], o[-1])),
        "found exact matches of 99 tokens beside the vectors; expected those of 400",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_weights_are_refused_in_one_line(index, damage, unchecked):
    spoil, message = DAMAGES[damage]
    spoil(index)
    with pytest.raises(IndexFormatError, match=message) as caught:
        Recommender(index)
    assert "\n" not in str(caught.value)


def test_weights_of_nan_are_not_added(index, add, capsys, unchecked):
    file = index / "encoder" / "model.safetensors"
    weights = load_file(file)
    weights["lexical.log_saturation"] *= np.nan
    weights["lexical.log_weights.weight"] *= np.nan
    save_file(weights, file)
    assert add(ZEBRAS) == 2
    assert "gives paper 'AA-ZEBRAS' exact matches of NaN" in capsys.readouterr().err
    with pytest.raises(EncoderError, match="gives this manuscript exact matches of NaN"):
        Recommender(index).recommend(TEXT)
    assert (index / "data.1").exists()


@pytest.mark.parametrize("has", [False, True])
def test_an_index_is_not_built_of_an_encoder_and_the_weights_of_another(
    has, matching, micro_encoder, rfc_corpus, tmp_path, capsys
):
    vectors = shutil.copytree(matching.vectors, tmp_path / "vectors")
    (vectors / "manifest.json").unlink()  # it tells what made them
    found, encoder = ("400", micro_encoder) if has else ("0", matching.encoder)
    if has:
        np.save(vectors / "papers.npy", np.load(vectors / "papers.npy")[:, :16])
    else:
        (vectors / "papers.matches.npz").unlink()
    words = ["build-index", rfc_corpus, encoder, vectors, tmp_path / "new"]
    assert main([*map(str, words)]) == 2
    error = capsys.readouterr().err
    assert f"found exact matches of {found} tokens beside the vectors; expected those" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_an_index_holds_all_of_its_encoder(matching):
    names = {p.relative_to(matching.encoder) for p in matching.encoder.rglob("*") if p.is_file()}
    held = matching.index / "encoder"
    assert {p.relative_to(held) for p in held.rglob("*") if p.is_file()} == names
