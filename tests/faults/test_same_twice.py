"""The number of threads and processes changes no byte; where it does, a stated tolerance holds."""

import dataclasses

import numpy as np
import pytest

from mpbert.commands import embed
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.seeding import named_rng
from mpbert.methods.word2vec.embedder import Word2Vec
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.slow
# what is in braces is a fixture: 120 RFCs, and an encoder of random weights
COMMANDS = {
    "build-corpus": "build-corpus {rfc_archive} out --reader=rfc",
    "binarize": "binarize {rfc_corpus} out --vocab-size=400 --sentence-tokens=12",
    "retrieve": "retrieve {rfc_corpus} out --lexical=bm25 --splits=valid",
    "retrieve by vectors": "retrieve {rfc_corpus} out --vectors {micro_vectors} --splits=test",
}


EMBED = "embed {rfc_binary} {micro_encoder} out --device=cpu --splits=valid"


@pytest.fixture
def run_with(workshop, stages, request):
    """Run a line of a command with numbers of threads, and give the stage and the places."""

    def run(line, threads):
        words = [
            str(request.getfixturevalue(word[1:-1])) if word.startswith("{") else word
            for word in line.split()
        ]
        stage = dataclasses.replace(stages["embed"], words=words)
        places = []
        for turn, number in enumerate(threads):
            places.append(workshop.place(stage, f"threads-{turn}"))
            code, _, said = workshop.run(stage, places[-1], threads=number)
            assert code == 0, said
        return stage, places

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_one_thread_and_three_write_the_same_bytes(command, run_with):
    stage, places = run_with(COMMANDS[command], (1, 3))
    found = [stage.contents(place) for place in places]
    assert found[0] == found[1]
    assert len(found[0]) > 3


def test_a_report_is_the_same_with_one_thread_and_three(stages, workshop):
    stage, found = stages["report"], []
    for threads in (1, 3):
        place = workshop.place(stage, f"threads-{threads}")
        code, _, said = workshop.run(stage, place, threads=threads)
        assert code == 0, said
        found.append(stage.contents(place))
    assert found[0] == found[1]
    assert len(found[0]) > 10


def test_embed_writes_the_same_bytes_with_as_many_threads_and_nearly_with_more(run_with):
    stage, places = run_with(EMBED, (1, 1, 3))
    assert stage.contents(places[0]) == stage.contents(places[1])
    for name in ("papers", "contexts.valid"):
        one, _, three = (VectorStore.load(place / "out", name).vectors for place in places)
        np.testing.assert_allclose(one, three, atol=1e-5)


@pytest.mark.parametrize("batch_tokens", [400, 3000])
def test_the_size_of_batches_changes_vectors_by_rounding_alone(
    batch_tokens, rfc_binary, micro_encoder, micro_vectors, tmp_path
):
    output = tmp_path / "vectors"
    config = embed.Config(rfc_binary, micro_encoder, output, splits=["test"], device="cpu")
    embed.run(dataclasses.replace(config, batch_tokens=batch_tokens))
    for name in ("papers", "contexts.test"):
        found, expected = (VectorStore.load(path, name).vectors for path in (output, micro_vectors))
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_gensim_with_several_workers_keeps_its_tolerance(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    vectors = []
    for workers in (1, 1, 4):
        baseline = Word2Vec(dim=16, epochs=20, workers=workers)
        baseline.fit(store, named_rng(1, "test"))
        found = baseline.embed_papers(store).vectors
        vectors.append(found[found.any(axis=1)])
    assert np.array_equal(vectors[0], vectors[1])
    unit = [found / np.linalg.norm(found, axis=1, keepdims=True) for found in vectors]
    # cosine of a paper with itself, seen: 0.72 to 0.95; with another one: 0.20
    assert (unit[0] * unit[2]).sum(axis=1).mean() > 0.5
