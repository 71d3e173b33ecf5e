import re
import shutil

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.commands import embed
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower
from mpbert.model.embedding import embed_sampled
from mpbert.model.sampling import CITING, SampledSentences, sample_manuscripts
from mpbert.model.sentences import Sentences
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.fairseq


@pytest.fixture(scope="module")
def vectors(rfc_binary, finetuned_encoder, tmp_path_factory):
    output = tmp_path_factory.mktemp("embedded") / "vectors"
    embed.run(embed.Config(rfc_binary, finetuned_encoder, output, splits=["test"]))
    return output


def _words(*paths):
    return ["contributions", *map(str, paths)]


def _recalls(query_vectors, store, corpus, papers):
    """Return Recall@10 of each test context that repeats no other, one after the other.

    Candidates are the papers of the manuscript's year or earlier.
    """
    contexts, found = corpus.contexts("test"), []
    unit = papers / np.linalg.norm(papers, axis=1, keepdims=True)
    for i, query in enumerate(query_vectors):
        if contexts.is_repeat[i]:
            continue
        scores = unit @ query
        scores[contexts.citing_rows[i]] = -np.inf
        scores[store.years > store.years[contexts.citing_rows[i]]] = -np.inf
        first = set(np.argsort(-scores)[:10].tolist())
        cited = contexts.cited_rows[contexts.cited_offsets[i] : contexts.cited_offsets[i + 1]]
        found.append(len(first & set(cited.tolist())) / len(cited))
    return np.array(found)


def test_the_table_holds_what_reading_by_hand_gives(
    rfc_corpus, rfc_binary, finetuned_encoder, vectors, capsys
):
    assert main(_words(rfc_corpus, rfc_binary, finetuned_encoder, vectors)) == 0
    text = capsys.readouterr().out
    store, corpus = CorpusStore(rfc_corpus), BinaryCorpus(rfc_binary)
    contexts, offsets = corpus.contexts("test"), corpus.sentence_offsets
    papers = VectorStore.load(vectors, "papers").vectors
    whole = _recalls(VectorStore.load(vectors, "contexts.test").vectors, store, corpus, papers)
    distinct = np.flatnonzero(~contexts.is_repeat)
    assert 0 < len(distinct) < len(contexts)
    assert f"{len(distinct):,} contexts, one reading each" in text
    assert f"Recall@10 {100 * whole.mean():.2f}" in text

    tower = load_two_tower(finetuned_encoder).eval().manuscript
    sampling = read_description(finetuned_encoder).reading
    shorter, num_sentences = np.zeros((len(contexts), papers.shape[1]), dtype=np.float32), 0
    for i in distinct:
        row, citing = contexts.citing_rows[[i]], contexts.sentences[[i]]
        read = sample_manuscripts(
            offsets[row], citing, offsets[row + 1] - 1, citing, sampling, 1, 0
        )
        num_sentences += len(read.sentences)
        kept = read.roles != CITING
        rest = SampledSentences(read.sentences[kept], np.array([kept.sum()]), read.roles[kept])
        shorter[i] = embed_sampled(tower, rest, Sentences(corpus.gather), 16384)[0]
    lost = 100 * (_recalls(shorter, store, corpus, papers) - whole).mean()
    assert lost != 0
    rows = re.findall(r"^\| ([a-z ]+) \| (\d.*) \|$", text, re.MULTILINE)
    cells = {name: [float(number) for number in numbers.split(" | ")] for name, numbers in rows}
    count, one, _, every, _ = cells["citing sentence"]
    assert (count, one) == (1, every)  # there is one: without one is without all
    assert one == pytest.approx(lost, abs=0.006)
    mean = sum(numbers[0] for numbers in cells.values())
    assert mean == pytest.approx(num_sentences / len(distinct), abs=0.05 * len(cells))


def test_vectors_of_other_papers_are_refused(
    rfc_corpus, rfc_binary, finetuned_encoder, vectors, tmp_path, capsys
):
    store = VectorStore.load(vectors, "papers")
    VectorStore(store.ids[::-1], np.asarray(store.vectors)).save(tmp_path, "papers")
    (tmp_path / "manifest.json").write_text("{}")
    assert main(_words(rfc_corpus, rfc_binary, finetuned_encoder, tmp_path)) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_vectors_of_another_encoder_and_training_contexts_are_refused(
    rfc_corpus, rfc_binary, finetuned_encoder, vectors, tmp_path, capsys
):
    from safetensors.torch import load_file, save_file

    other = tmp_path / "encoder"
    shutil.copytree(finetuned_encoder, other)
    (other / "manifest.json").unlink()  # as of another training
    state = load_file(other / "model.safetensors")
    save_file({name: 2 * weights for name, weights in state.items()}, other / "model.safetensors")
    assert main(_words(rfc_corpus, rfc_binary, other, vectors)) == 2
    assert "were not made with" in capsys.readouterr().err
    # papers are read with the sentences of training contexts, which would find them
    with pytest.raises(SystemExit):
        main([*_words(rfc_corpus, rfc_binary, other, vectors), "--split=train"])


def test_only_so_many_contexts_are_read_and_newer_papers_are_candidates_if_asked(
    rfc_corpus, rfc_binary, finetuned_encoder, vectors, capsys
):
    words = _words(rfc_corpus, rfc_binary, finetuned_encoder, vectors)
    assert main([*words, "--contexts=60"]) == 0
    known = capsys.readouterr().out
    assert known.startswith("60 contexts, one reading each")
    assert main([*words, "--contexts=60", "--pool=all"]) == 0
    assert capsys.readouterr().out.splitlines()[0] != known.splitlines()[0]


def test_a_binary_corpus_of_another_corpus_store_is_refused(
    rfc_corpus, rfc_binary, finetuned_encoder, vectors, tmp_path, capsys
):
    other = tmp_path / "other"
    shutil.copytree(rfc_binary, other)
    (other / "manifest.json").unlink()
    ids = (other / "contexts.test.ids.txt").read_text().splitlines(keepends=True)
    (other / "contexts.test.ids.txt").write_text("".join(ids[::-1]))
    assert main(_words(rfc_corpus, other, finetuned_encoder, vectors)) == 2
    assert "found other papers or contexts than those of" in capsys.readouterr().err
