"""The learnt fusion of an index: its features, its weights, and a row that answers by them."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.corpus.answer_confidence import read_confidence_file
from mpbert.corpus.fields import paper_counts
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.errors import IndexFormatError
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.bm25_contexts import Bm25Contexts
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.model.config import STACKED
from mpbert.model.description import WEIGHTS, read_description
from mpbert.recommending import contexts as asked_contexts
from mpbert.recommending import directory
from mpbert.recommending.confidence.signs import NAMES
from mpbert.recommending.contexts import manuscripts_of
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.learning import learn
from mpbert.recommending.learnt import COMPANIONS
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.recommender import Recommender
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore
from tests.conftest import keep_levels
from tests.recommending.given import GivenRecommender
from tests.recommending.texts import NEW, TEXT


@pytest.fixture
def index(matching, tmp_path):
    return shutil.copytree(matching.index, tmp_path / "index")


def bm25(store, fields, question, **settings):
    counts, vocabulary = paper_counts(store, fields, stemmed=True)
    index = LexicalIndex(Bm25(**settings), counts, vocabulary)
    return scores_by(index, question)


def votes(store, question):
    method = Bm25Contexts()
    index = LexicalIndex(method, *method.count_words(store), store.num_papers)
    return scores_by(index, question)


def scores_by(index, question):
    rows, scores = (found[0].tolist() for found in index.search([question], 120, np.array([-1])))
    return {row: score for row, score in zip(rows, scores, strict=True) if row >= 0}


@pytest.mark.parametrize("year", [None, 2000])
def test_a_score_is_the_weighted_sum_of_what_is_known_of_a_paper(matching, store, year):
    recommender, data = Recommender(matching.index), read_index(matching.index)
    sentences = manuscript_at(TEXT, None).sentences
    vector = recommender._encoder.embed_manuscript(sentences, 2)
    asked = recommender._encoder.weigh_manuscript(sentences, 2).matrix()
    matches = (data.tables.matches.by_paper().matrix() @ asked.T).toarray()[:, 0]
    question = " ".join([*sentences[1:], sentences[2], sentences[2]])
    words = [bm25(store, fields, question) for fields in ("abstract", "citing")]
    every = bm25(store, "2*abstract+text+5*citing", question, k1=16, b=0.5)
    voted = votes(store, question)
    assert voted and len(voted) < 120
    training, until = store.contexts("train"), store.years.max() if year is None else year
    years = np.repeat(training.years, np.diff(training.cited_offsets))
    cited = np.bincount(training.cited_rows[years <= until], minlength=store.num_papers)
    weight = data.places.fusion.weights
    found = recommender.recommend(TEXT, top=120, year=year)
    assert len(found) == (store.years <= until).sum() > 20
    for paper in found:
        row = store.row_of[paper.paper_id]
        parts = {
            "cosine": recommender.vectors[row] @ vector,
            "exact_matches": matches[row],
            "bm25_abstract": words[0][row],
            "bm25_citing": words[1][row],
            "bm25_all": every[row],
            "votes": voted.get(row, 0.0),
            "citations": np.log1p(cited[row]),
            "age": np.log1p(until - store.years[row]),
        }
        assert set(parts) == set(weight) - {COMPANIONS}
        total = sum(weight[name] * value for name, value in parts.items())
        assert paper.score == pytest.approx(total, abs=1e-4)


def test_the_weights_rank_validation_at_least_as_well_as_each_feature(matching, store):
    recommender = Recommender(matching.index)
    contexts, learnt = store.contexts("valid").distinct(), read_index(matching.index).places.fusion
    assert learnt.queries == len(contexts)
    assert learnt.accepted == (np.diff(contexts.cited_offsets) > 1).sum()
    losses = {}
    for number, manuscript in enumerate(manuscripts_of(store, contexts)):
        asked = recommender.question(manuscript, 0, int(contexts.years[number]))
        features = recommender.features.of(asked)
        allowed = store.years <= contexts.years[number]
        allowed[contexts.citing_rows[number]] = False
        for name, scores in {"learnt": learnt.scores(features), **features}.items():
            best = scores[contexts.cited(number)].max()
            rank = 1 + (scores[allowed] > best).sum()
            losses[name] = losses.get(name, 0.0) + 1 / rank
    assert losses["learnt"] > max(losses[name] for name in ("bm25_abstract", "bm25_citing"))
    assert losses["learnt"] > losses["exact_matches"]


def test_build_index_prints_the_weights(matching, rfc_corpus, tmp_path, capsys, monkeypatch):
    keep_levels(monkeypatch)
    words = ["build-index", rfc_corpus, matching.encoder, matching.vectors, tmp_path / "again"]
    assert main([*map(str, words)]) == 0
    printed = capsys.readouterr().out.splitlines()
    learnt = read_index(matching.index).places.fusion
    assert f"weights learnt from {learnt.queries:,} validation contexts:" in printed
    for name, weight in learnt.weights.items():
        assert f"  {name} {weight:g}" in printed
    file = "data.1/weights.json"
    assert (tmp_path / "again" / file).read_bytes() == (matching.index / file).read_bytes()


def test_what_validation_cites_is_known_after_learning(
    matching, rfc_corpus, rfc_binary, tmp_path, capsys, monkeypatch
):
    keep_levels(monkeypatch)
    stored = matching.index.parent / "stored"
    flags = ["--sentence-vectors", stored] if stored.exists() else []
    later, index = tmp_path / "later", tmp_path / "index"
    known = ["--known", "train", "valid"]
    words = ["embed", rfc_binary, matching.encoder, later, *flags, *known, "--splits"]
    assert main([*map(str, words)]) == 0
    assert not list(later.glob("contexts*"))
    words = ["build-index", rfc_corpus, matching.encoder, matching.vectors, index, *known]
    assert main([*map(str, words), "--known-vectors", str(later)]) == 0
    before, found = read_index(matching.index), read_index(index)
    assert found.places.fusion == before.places.fusion
    store = CorpusStore(rfc_corpus)
    train, valid = (len(store.contexts(split)) for split in ("train", "valid"))
    numbers = [len(each.tables.contexts["position"]) for each in (before, found)]
    assert numbers == [train, train + valid]
    vectors = VectorStore.load(later, "papers").vectors
    np.testing.assert_allclose(found.tables.vectors, normalized(vectors), atol=1e-6)
    more = [len(x.tables.matches.postings.papers) for x in (before, found)]
    assert more[0] < more[1]  # tokens of sentences that cite a paper
    for split, code in (("valid", 2), ("test", 0)):
        run = tmp_path / split
        assert main([*map(str, ["answer", rfc_corpus, index, run, "--splits", split])]) == code
    assert "mpbert build-index --known train valid wrote" in capsys.readouterr().err
    words = [str(word) for word in ("build-index", rfc_corpus, matching.encoder)]
    out = str(tmp_path / "x")
    assert main([*words, str(later), out]) == 2  # validation contexts would find themselves
    said = capsys.readouterr().err
    assert "with contexts of train valid; expected train: embed them" in said
    vectors = str(matching.vectors)
    assert main([*words, vectors, out, *known, "--known-vectors", vectors]) == 2
    assert "with contexts of train; expected train valid: embed" in capsys.readouterr().err


@pytest.mark.fairseq
def test_the_encoder_of_known_vectors_takes_the_place_of_the_one_that_learnt(
    matching, rfc_corpus, rfc_binary, tmp_path, capsys, monkeypatch
):
    keep_levels(monkeypatch)
    if read_description(matching.encoder).model.upper.join != STACKED:
        pytest.skip("an encoder with levels is another training, of the same commands")
    trained, later, index = tmp_path / "trained", tmp_path / "later", tmp_path / "index"
    known = ["--known", "train", "valid"]
    settings = "exact_matches=true max_update=2 batch_tokens=20000 num_heads=1".split()
    words = ["finetune", rfc_binary, "finetune/configs/token_bag.yaml"]
    embed = ["embed", rfc_binary]
    for dim, folder, vectors in ((8, "narrow", tmp_path / "few"), (16, trained, later)):
        encoder = [tmp_path / folder, *known, "--settings", *settings, f"dim={dim}"]
        assert main([*map(str, (*words, *encoder))]) == 0
        assert main([*map(str, (*embed, encoder[0], vectors, *known, "--splits"))]) == 0
    words = ["build-index", rfc_corpus, matching.encoder, matching.vectors, index, *known]
    assert main([*map(str, words), "--known-encoder", str(trained)]) == 2
    assert "found no --known-vectors; expected those that this" in capsys.readouterr().err
    words = [*map(str, words), "--known-vectors"]
    assert main([*words, str(later)]) == 2  # of another encoder than the one that learns
    narrow = [str(tmp_path / "few"), "--known-encoder", str(tmp_path / "narrow")]
    assert main([*words, *narrow]) == 2
    assert "few: found vectors of 8 dimensions; expected 16, as" in capsys.readouterr().err
    assert main([*words, str(later), "--known-encoder", str(trained)]) == 0
    before, found = read_index(matching.index), read_index(index)
    assert found.places.fusion == before.places.fusion
    assert (index / "encoder" / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()
    vectors = VectorStore.load(later, "papers").vectors
    np.testing.assert_allclose(found.tables.vectors, normalized(vectors), atol=1e-6)


def test_of_few_validation_contexts_nothing_is_learnt(
    matching, rfc_corpus, tmp_path, capsys, monkeypatch, unlearnt
):
    every = CorpusStore.contexts

    def contexts(store, split):
        found = every(store, split)
        return found.take(np.arange(49)) if split == "valid" else found

    monkeypatch.setattr(CorpusStore, "contexts", contexts)
    words = ["build-index", rfc_corpus, matching.encoder, matching.vectors, tmp_path / "plain"]
    assert main([*map(str, words)]) == 0
    assert "no weights: the corpus has too few validation contexts" in capsys.readouterr().out
    assert read_index(tmp_path / "plain").places is None
    found = Recommender(tmp_path / "plain").recommend(TEXT, top=120)
    assert found == unlearnt(matching.index).recommend(TEXT, top=120)


def test_a_row_of_the_report_has_the_papers_and_scores_of_an_answer(
    matching, rfc_corpus, store, tmp_path
):
    run = tmp_path / "run"
    words = ["answer", rfc_corpus, matching.index, run, "--splits", "test", "--top", "150"]
    assert main([*map(str, words)]) == 0
    contexts, recommender = store.contexts("test"), Recommender(matching.index)
    read = read_run(run / "test.run")
    rows, scores = matrices_of_run(read, contexts.query_ids, store.paper_ids, "run")
    sure = read_confidence_file(run / "test.run", contexts.query_ids)
    assert sure[:, 1].mean() > sure[:, 2].mean()  # without the cited papers
    compared = 0
    for query, manuscript in enumerate(manuscripts_of(store, contexts)):
        paper, position = store.paper(int(contexts.citing_rows[query])), contexts.positions[query]
        if position < paper.num_abstract or query % 5:
            continue
        number = int(position) - paper.num_abstract
        before = " ".join(paper.sentences[paper.num_abstract :][: number + 1])[:-1]
        body = " ".join(paper.sentences[paper.num_abstract :])
        abstract = " ".join(paper.sentences[: paper.num_abstract])
        typed = manuscript_at(body, len(before), paper.title, abstract)
        own = manuscript.sentences
        place = int(manuscript.places[0])
        if typed.sentences[: place + 2] != own[: place + 2] or typed.places[0] != place:
            continue  # a long text is read near its place; some sentences split otherwise
        found = recommender.recommend(
            body, len(before), paper.title, abstract, top=150, year=int(contexts.years[query])
        )
        if paper.paper_id not in [each.paper_id for each in found]:
            told = found[0].probability, found.holds
            np.testing.assert_allclose(told, sure[query, :2], atol=6e-4)
        found = [each for each in found if each.paper_id != paper.paper_id]
        length = int((rows[query] >= 0).sum())
        assert [each.paper_id for each in found] == [
            store.paper_ids[row] for row in rows[query, :length]
        ]
        np.testing.assert_allclose([each.score for each in found], scores[query, :length])
        compared += 1
    assert compared > 5


def test_an_index_that_was_changed_is_no_row(index, rfc_corpus, store, tmp_path, capsys):
    assert main(["remove", str(index), store.paper_ids[3]]) == 0
    capsys.readouterr()
    assert main(["answer", str(rfc_corpus), str(index), str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "found an index that add or remove wrote" in error and error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_paper_that_is_added_has_its_words_and_no_citation(index, tmp_path):
    before = (index / "data.1" / "weights.json").read_bytes()
    (tmp_path / "papers.jsonl").write_text(json.dumps(NEW) + "\n")
    assert main(["add", str(index), str(tmp_path / "papers.jsonl")]) == 0
    assert (index / "data.2" / "weights.json").read_bytes() == before
    recommender = Recommender(index)
    asked = recommender.question(manuscript_at("Zebrafish relay zymurgy.", None), 0)
    features = recommender.features.of(asked)
    row = recommender.paper_ids.index("AA-NEW")
    assert features["bm25_abstract"].argmax() == row
    assert features["citations"][row] == features["age"][row] == 0
    assert recommender.recommend("Zebrafish relay zymurgy.", top=1)[0].paper_id == "AA-NEW"


def test_papers_cited_together_with_an_accepted_one_gain_by_their_weight(matching, store):
    data = read_index(matching.index)
    weights = {**data.places.fusion.weights, COMPANIONS: 4.0}
    fusion = data.places.fusion._replace(weights=weights)
    data = dataclasses.replace(data, places=data.places._replace(fusion=fusion))
    recommender = GivenRecommender(data, encoder_of_index(matching.index, data))
    contexts = store.contexts("train")
    accepted, companion = contexts.cited(int((np.diff(contexts.cited_offsets) > 1).argmax()))[:2]
    asked = recommender.question(manuscript_at(TEXT, None), 0, accepted=[accepted])
    companions = recommender.features.of(asked)[COMPANIONS]
    assert companions[companion] > 0
    before = {p.paper_id: p.score for p in recommender.recommend(TEXT, top=120)}
    found = recommender.recommend(TEXT, top=120, accepted=[store.paper_ids[accepted]])
    assert len(found) == 119
    for paper in found:
        gain = 4.0 * companions[store.row_of[paper.paper_id]]
        assert paper.score == pytest.approx(before[paper.paper_id] + gain)


class Knowing:
    """Stands for a recommender: its cosine tells half of what is cited, its companions the rest."""

    def __init__(self, store, contexts):
        self.cited = map(contexts.cited, range(len(contexts)))
        self.shape, self.rng = store.num_papers, np.random.default_rng(1)

    def read_ahead(self, manuscripts):
        self.ahead = getattr(self, "ahead", 0) + len(manuscripts)

    @property
    def features(self):
        return self

    def question(self, manuscript, place, year):
        self.gold = next(self.cited)

    def signs(self, questions, rows, scores, is_learnt):
        return np.column_stack([self.rng.random((min(len(rows), 10), len(NAMES)))])

    def of_all(self, questions):
        noise = self.rng.random((3, self.shape))
        noise[0, self.gold[: len(self.gold) // 2 + 1]] += 0.5
        noise[2] = 0
        return dict(zip(("cosine", "citations", COMPANIONS), noise, strict=True))

    def companions(self, accepted):
        found, others = self.rng.random(self.shape), np.setdiff1d(self.gold, accepted)
        found[others] += self.rng.random(len(others))
        return found


def test_companions_get_a_weight_where_they_help_to_find_the_other_papers(store):
    contexts = store.contexts("valid").distinct()
    knowing = Knowing(store, contexts)
    learnt = learn(knowing, store, "local")[0].fusion
    assert knowing.ahead == len(contexts)
    assert list(learnt.weights) == ["cosine", "citations", COMPANIONS]
    assert learnt.weights["cosine"] > 3 > 1 > abs(learnt.weights["citations"])
    assert learnt.weights[COMPANIONS] > 0.5


def test_weights_are_the_same_where_sentences_were_read_ahead(matching, store, monkeypatch):
    def learnt():
        return learn(Recommender(matching.index), store, "local")[0].fusion

    monkeypatch.setattr(asked_contexts, "_BLOCK", 7)
    ahead = learnt()
    monkeypatch.setattr(Recommender, "read_ahead", lambda *_: None)
    alone = learnt()
    assert list(ahead.weights) == list(alone.weights) and ahead.queries == alone.queries
    for name, weight in alone.weights.items():  # batches move a vector by rounding alone
        assert ahead.weights[name] == pytest.approx(weight, rel=1e-3, abs=1e-4)


DAMAGES = {
    "no JSON": ("{", "found no weights"),
    "no weights": ('{"contexts": 3}', "found no weights"),
    "no numbers": ('{"weights": {"cosine": "x"}}', "found no weights"),
    "unknown": (
        '{"weights": {"fame": 1}, "contexts": 3, "contexts_with_an_accepted_paper": 0}',
        "found 'fame' of weight 1; expected finite weights of cosine",
    ),
    "NaN": (
        '{"weights": {"cosine": NaN}, "contexts": 3, "contexts_with_an_accepted_paper": 0}',
        "found 'cosine' of weight nan",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_weights_of_features_are_refused_in_one_line(index, damage, monkeypatch):
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)
    text, message = DAMAGES[damage]
    (index / "data.1" / "weights.json").write_text(text)
    with pytest.raises(IndexFormatError, match=message) as caught:
        Recommender(index)
    assert "\n" not in str(caught.value)
    assert "mpbert build-index" in str(caught.value)
