"""A line of warning where the text to cite for shares no language with the library."""

import warnings

import numpy as np
import pytest
from starlette.testclient import TestClient

from mpbert.cli import main
from mpbert.corpus.store import CorpusStore
from mpbert.recommending.contexts import manuscripts_of
from mpbert.recommending.language import Shared
from mpbert.recommending.options import Options
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

FOREIGN = {
    "zh": "机器翻译是自然语言处理的一个重要研究方向。近年来，神经网络方法取得了显著进展。",
    "ar": "يعتمد توجيه الرسائل على أسماء المضيفين في الشبكة. نقترح طريقة جديدة في هذا العمل.",
    "ru": "Маршрутизация пакетов в сети основана на таблицах. Мы предлагаем новый метод.",
    "de": "Die Weiterleitung von Paketen in großen Netzen beruht auf Tabellen, die von Routern "
    "ausgetauscht werden. Wir schlagen ein neues Verfahren vor, das den Speicherbedarf senkt.",
    "fr": "Le routage des paquets dans les grands réseaux repose sur des tables échangées par les "
    "routeurs. Nous proposons une nouvelle méthode qui réduit la mémoire nécessaire.",
    "pl": "Przekazywanie pakietów w dużych sieciach opiera się na tablicach wymienianych przez "
    "routery. Proponujemy nową metodę, która zmniejsza zużycie pamięci.",
}
OWN = (
    "Path MTU discovery",
    "mail relay",
    "Mail is relayed by names of hosts.",
    "The genome of the zebrafish was sequenced, and we found that many of its genes are like ours.",
)


@pytest.fixture(scope="module")
def recommender(rfc_index):
    return Recommender(rfc_index)


@pytest.mark.parametrize("name", FOREIGN)
def test_another_language_is_warned_of(recommender, name):
    line = recommender.asked(FOREIGN[name]).warning
    assert line.startswith("the library knows ") and "another language" in line


@pytest.mark.parametrize("text", OWN)
def test_short_questions_and_other_subjects_are_not(recommender, text):
    assert recommender.asked(text).warning == ""


def test_no_validation_context_is_warned_of(recommender, rfc_corpus):
    store = CorpusStore(rfc_corpus)
    contexts = store.contexts("valid")
    assert len(contexts) > 20
    for manuscript in manuscripts_of(store, contexts):
        assert not recommender.asked_at(manuscript, 0, Options()).warning


def test_a_library_that_quotes_a_language_does_not_speak_it():
    assert Shared(20, known=0.9, common=0.3).has_language
    assert not Shared(20, known=0.9, common=0.0).has_language
    assert Shared(10, known=0.9, common=0.0).has_language  # too few words to tell
    assert not Shared(10, known=0.3, common=0.1).has_language
    assert not Shared(1, known=0.0, common=0.0).has_language
    assert Shared(0, 0.0, 0.0).has_language


def test_a_library_of_few_papers_tells_too_little():
    assert not Shared(28, known=0.2, common=0.1).has_language
    assert Shared(28, known=0.2, common=0.1, papers=9).has_language
    assert not Shared(28, known=0.0, common=0.0, papers=9).has_language
    assert Shared(7, known=0.0, common=0.0, papers=9).has_language


def test_a_subject_that_five_papers_do_not_have_is_no_other_language(tmp_path):
    rows = [
        ("Routing of packets", "We study how routers forward packets in large networks."),
        *(("Names of hosts", "Names are resolved by servers."), ("Mail", "Mail is relayed.")),
        *(("Citation recommendation", ""), ("A survey of word vectors", "")),
    ]
    table = [f"{number},{title},{abstract}" for number, (title, abstract) in enumerate(rows)]
    library = tmp_path / "library"
    library.mkdir()
    (library / "papers.csv").write_text("\n".join(["paper_id,title,abstract", *table]))
    assert main(["index", str(library), str(tmp_path / "index")]) == 0
    text = (
        "Neural representations of documents are useful when authors look for related work in "
        "their own manuscripts. Those approaches often outperform lexical baselines offline."
    )
    recommender = Recommender(tmp_path / "index")
    assert recommender.asked(text).warning == ""
    assert recommender.asked(FOREIGN["ru"]).warning != ""


def test_frequencies_are_parts_of_the_papers(recommender):
    found = recommender._words.frequencies("the zebrafish")
    held = recommender._words.bm25(
        *recommender._words.counts("the"), recommender._data.lookup.words
    )
    np.testing.assert_allclose(found, [(held > 0).mean(), 0.0])


def test_the_command_the_service_and_python_say_it(rfc_index, recommender, tmp_path, capsys):
    (tmp_path / "a.txt").write_text(f"{FOREIGN['ru'][:-1]} [CITATION].")
    assert main(["recommend", str(rfc_index), str(tmp_path / "a.txt"), "--top", "1"]) == 0
    assert "\n  warning: the library knows 0 of the " in capsys.readouterr().out
    app = create_app(recommender, Limits(1 << 20, 10.0, 10))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for text, is_foreign in ((FOREIGN["zh"], True), (OWN[2], False)):
            answer = client.post("/api/recommend", json={"text": text}).json()
            assert bool(answer["warning"]) is is_foreign
            asked = {"text": text, "places": [0]}
            (place,) = client.post("/api/recommend-places", json=asked).json()["places"]
            assert bool(place["warning"]) is is_foreign
    with pytest.warns(UserWarning, match="another language"):
        found = recommender.recommend(FOREIGN["zh"])
    assert found.warning and repr(found).endswith(f"\nwarning: {found.warning}")
    assert found.to_pandas().attrs["warning"] == found.warning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert recommender.recommend(OWN[2]).warning == ""
