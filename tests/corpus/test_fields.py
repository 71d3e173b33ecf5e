from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus import fields
from mpbert.corpus.bags import split_words
from mpbert.corpus.fields import (
    FieldTexts,
    citing_sentences,
    paper_counts,
    query_texts,
    split_fields,
)
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import stem
from mpbert.foundation.errors import ConfigError, CorpusError


def texts_by_definition(store, row, names):
    """All texts that stand for a paper, one by one."""
    paper, found = store.paper(row), []
    for name in names:
        if name == "citing":
            contexts = store.contexts("train")
            for i, citing in enumerate(contexts.citing_rows):
                if row in contexts.cited(i):
                    found.append(store.paper(citing).sentences[contexts.positions[i]])
        else:
            found += [paper.title, *(paper.abstract if name == "abstract" else paper.sentences)]
    return found


@pytest.mark.parametrize("stemmed", [False, True])
@pytest.mark.parametrize(
    "names", ["abstract", "text", "citing", "abstract+citing", "text+abstract", "text+3*citing"]
)
def test_counts_are_those_of_the_papers_texts_whatever_the_blocks(
    names, stemmed, store, monkeypatch
):
    counts, vocabulary = paper_counts(store, names, stemmed=stemmed)
    for row in (0, 57, store.num_papers - 1):
        texts = texts_by_definition(
            store, row, names.replace("3*citing", "citing+citing+citing").split("+")
        )
        _, words = split_words(pa.array(texts, pa.large_string()))
        expected = Counter(map(stem, words.to_pylist()) if stemmed else words.to_pylist())
        columns = counts[[row]].tocoo().coords[1]
        found = vocabulary.take(pa.array(columns)).to_pylist()
        assert dict(zip(found, counts[[row]].data, strict=True)) == expected
    monkeypatch.setattr(fields, "_BLOCK", 700)
    again, words = paper_counts(store, names, stemmed=stemmed)
    assert words.equals(vocabulary)
    assert (again != counts).nnz == 0


def test_words_outside_a_given_vocabulary_are_skipped(store):
    counts, vocabulary = paper_counts(store, "abstract")
    few = vocabulary.take(pa.array([5, 2, 9]))
    some, words = paper_counts(store, "abstract", few)
    assert words.equals(few)
    assert (some != counts[:, [5, 2, 9]]).nnz == 0


@pytest.mark.parametrize("known", [("train",), ("train", "valid")])
def test_citing_sentences_are_those_of_known_papers_once_per_cited_paper(store, known):
    store = CorpusStore(store.path, known)
    texts, rows = citing_sentences(store).read(0, store.num_papers)
    expected = []
    contexts = store.contexts(*known)
    assert len(contexts) == sum(len(store.contexts(split)) for split in known)
    for i, row in enumerate(contexts.citing_rows):
        assert store.paper_splits[row] in known
        sentence = store.paper(row).sentences[contexts.positions[i]]
        expected += [(sentence, cited) for cited in contexts.cited(i)]
    assert list(zip(texts.to_pylist(), rows, strict=True)) == expected


@pytest.mark.parametrize("weight", [1, 3])
def test_a_query_holds_the_citing_sentence_as_often_as_it_weighs(weight, store):
    contexts = store.contexts("test")
    for i in (0, len(contexts) - 1):
        sentence = store.paper(contexts.citing_rows[i]).sentences[contexts.positions[i]]
        text = query_texts(store, contexts, weight)[i]
        assert text.count(sentence) == weight
        assert text.startswith(store.local_texts(contexts)[i])


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("title", "found 'title'"),
        ("abstract+", "found ''"),
        ("text+text", "found 'text' twice"),
        ("0*text", "found '0.text'"),
        ("text+*citing", "found '.citing'"),
    ],
)
def test_unknown_and_repeated_fields_are_refused(names, found):
    with pytest.raises(ConfigError, match=f"{found}; expected one or more of abstract, citing, t"):
        split_fields(names)


def test_a_corpus_without_a_word_in_the_fields_is_refused(store, monkeypatch):
    def no_sentences(store):
        nothing = pa.array([], pa.large_string()), np.zeros(0, dtype=np.int64)
        return FieldTexts(np.zeros(store.num_papers, dtype=np.int64), lambda first, last: nothing)

    monkeypatch.setitem(fields.FIELDS, "citing", (no_sentences,))
    with pytest.raises(CorpusError, match="found no word in fields=citing; expected some"):
        paper_counts(store, "citing")
