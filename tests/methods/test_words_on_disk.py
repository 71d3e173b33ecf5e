import numpy as np
import pyarrow as pa
import pytest

tantivy = pytest.importorskip("tantivy", reason="tantivy is not installed, see tests/servers.txt")

from mpbert.corpus import fields as corpus_fields  # noqa: E402
from mpbert.corpus.bags import count_matrix  # noqa: E402
from mpbert.corpus.fields import paper_blocks, paper_counts  # noqa: E402
from mpbert.corpus.store import CorpusStore  # noqa: E402
from mpbert.foundation.errors import CorpusError, OutputError  # noqa: E402
from mpbert.methods.lexical import on_disk  # noqa: E402
from mpbert.methods.lexical.bm25 import Bm25  # noqa: E402
from mpbert.methods.lexical.bm25_formulas import half_counts, idf, saturated  # noqa: E402
from mpbert.methods.lexical.index import LexicalIndex  # noqa: E402
from mpbert.methods.lexical.on_disk import WordsOnDisk  # noqa: E402
from mpbert.methods.lexical.search import DiskSearch, LexicalSearch  # noqa: E402

FIELDS = ["abstract", "text", "2*abstract+3*citing"]


@pytest.fixture
def store(rfc_corpus, monkeypatch):
    monkeypatch.setattr(corpus_fields, "_BLOCK", 300)  # sentences: many blocks
    return CorpusStore(rfc_corpus)


def index_of(store, method):
    blocks = paper_blocks(store, method.fields)
    return WordsOnDisk(
        method, ((store.years[f : f + c.shape[0]], c, words) for f, c, words in blocks)
    )


@pytest.mark.parametrize("fields", FIELDS)
def test_blocks_hold_the_words_of_all_papers(fields, store):
    counts, words = paper_counts(store, fields, stemmed=True)
    of_paper = [
        sorted(zip(words.take(row.indices).to_pylist(), row.data.tolist(), strict=True))
        for row in map(counts.__getitem__, ([i] for i in range(store.num_papers)))
    ]
    seen = 0
    blocks = list(paper_blocks(store, fields))
    assert len(blocks) > 1
    for first, found, stems in blocks:
        assert first == seen and found.shape[0]
        for place in range(found.shape[0]):
            row = found[[place]]
            pairs = zip(stems.take(row.indices).to_pylist(), row.data.tolist(), strict=True)
            assert sorted(pairs) == of_paper[first + place]
        seen += found.shape[0]
    assert seen == store.num_papers


@pytest.mark.parametrize("pool", ["known", "all"])
@pytest.mark.parametrize(
    ("fields", "split"),  # training contexts would find themselves by citing sentences
    [*((fields, "test") for fields in FIELDS), ("abstract", "train"), ("text", "train")],
)
def test_rankings_and_scores_are_those_of_words_in_memory(fields, split, pool, store):
    method = Bm25(fields=fields, k1=3, b=0.6)
    queries = store.queries(split, "local")
    rows, scores = LexicalSearch(store, method, pool).search(queries, split, 7)
    found, found_scores = DiskSearch(store, method, pool).search(queries, split, 7)
    ranked = scores > 0
    assert ranked.mean() > 0.5
    assert (found[~ranked] == -1).all() and (found_scores[~ranked] == -np.inf).all()
    assert np.allclose(found_scores[ranked], scores[ranked], rtol=1e-12)
    # equal scores may differ in the last digit alone, and then in their order
    is_tie = np.isclose(scores[:, 1:], scores[:, :-1], rtol=1e-12)
    is_alone = ~(np.pad(is_tie, [(0, 0), (1, 0)]) | np.pad(is_tie, [(0, 0), (0, 1)]))
    is_alone[:, -1] = False  # one beyond the list may have the same score
    assert (found == rows)[ranked & is_alone].all()
    assert (ranked & is_alone).mean() > 0.5


def test_papers_of_the_same_words_are_ranked_by_row_whatever_their_blocks():
    texts = ["link state routing of mail"] * 4 + ["mail of state link routing"] * 4
    blocks = []
    for start in range(0, len(texts), 2):  # the words of each block are numbered in another order
        added = [f"{word} {word}" for word in "routing link of mail state".split()[start // 2 :]]
        counts, words = count_matrix(pa.array([*texts[start : start + 2], *added]), stemmed=True)
        blocks.append((np.zeros(counts.shape[0], np.int64), counts, words))
    index = WordsOnDisk(Bm25(k1=1.3, b=0.7), blocks)
    rows, scores = index.search(["mail routing state link of of"], 8, np.array([-1]))
    equal = scores[0] == scores[0][0]
    assert equal.sum() == len(texts) and (np.diff(rows[0][equal]) > 0).all()


def test_a_corpus_without_words_is_refused_as_it_is_in_memory(store, monkeypatch):
    nothing = pa.array([], pa.large_string()), np.zeros(0, np.int64)
    sizes = np.zeros(store.num_papers, np.int64)
    source = corpus_fields.FieldTexts(sizes, lambda first, last: nothing)
    monkeypatch.setitem(corpus_fields.FIELDS, "citing", (lambda store: source,))
    queries = store.queries("test", "local")
    for search in (LexicalSearch, DiskSearch):
        with pytest.raises(CorpusError, match="found no word in fields=citing; expected some"):
            search(store, Bm25(fields="citing")).search(queries, "test", 3)


def test_a_field_that_counts_often_takes_no_more_memory_at_once(store, monkeypatch):
    monkeypatch.setattr(on_disk, "_WORDS", 1000)
    counts, words = paper_counts(store, "50*abstract", stemmed=True)
    made = [" ".join(sorted(text.split())) for text in on_disk._texts(counts, words)]
    assert len(made) == store.num_papers
    for row in (0, store.num_papers - 1):
        times = zip(words.take(counts[[row]].indices).to_pylist(), counts[[row]].data, strict=True)
        assert made[row] == " ".join(sorted(word for word, n in times for _ in range(n)))


def test_a_full_disk_is_told_with_the_folder_that_is_full():
    def full(*arguments):
        raise ValueError("IO Error: No space left on device")

    with pytest.raises(OutputError, match=r"words cannot be written there .*No space left.*TMPDIR"):
        on_disk._done(full)


def test_papers_that_are_not_proposed_are_missed_and_no_score_is_wrong(store, monkeypatch):
    monkeypatch.setattr(on_disk, "PROPOSED", 3)
    monkeypatch.setattr(on_disk, "TIMES", 1)
    method = Bm25(k1=8)
    rows, scores = index_of(store, method).search(store.titles, 3, np.arange(store.num_papers))
    every = LexicalIndex(method, *paper_counts(store, "abstract", stemmed=True))
    all_rows, all_scores = every.search(
        store.titles, store.num_papers, np.full(store.num_papers, -1)
    )
    by_row = np.take_along_axis(all_scores, np.argsort(all_rows, axis=1), axis=1)
    query, place = np.nonzero(rows >= 0)
    assert np.allclose(scores[query, place], by_row[query, rows[query, place]], rtol=1e-12)
    assert not (rows == np.arange(store.num_papers)[:, None]).any()
    assert (np.diff(scores[:, :2], axis=1) <= 0).all()
    missed = [set(all_rows[i, :4]) - {i} - set(rows[i]) for i in range(store.num_papers)]
    assert any(missed)


def test_what_is_proposed_are_the_best_where_k1_and_b_are_those_of_tantivy(store, monkeypatch):
    monkeypatch.setattr(on_disk, "PROPOSED", 12)
    monkeypatch.setattr(on_disk, "TIMES", 1)
    method = Bm25(fields="text", k1=1.2, b=0.75)
    queries = store.queries("test", "local")
    best, _ = LexicalSearch(store, method).search(queries, "test", 10)
    found, _ = DiskSearch(store, method).search(queries, "test", 10)
    recall = [np.isin(ten, others).mean() for ten, others in zip(best, found, strict=True)]
    assert np.mean(recall) > 0.97  # tantivy rounds the lengths of papers


def test_a_text_without_known_words_finds_nothing(store):
    rows, scores = index_of(store, Bm25()).search(["qqq zzz", ""], 4, np.array([-1, -1]))
    assert (rows == -1).all() and (scores == -np.inf).all()


def test_words_weigh_what_they_do_in_memory(store):
    method = Bm25(k1=1.7, b=0.4)
    counts, _ = paper_counts(store, "text", stemmed=True)
    lengths = counts.sum(axis=1)
    expected = method.weigh_papers(counts).tocoo()
    half = half_counts(lengths[expected.row], lengths.mean(), method.k1, method.b)
    held = np.bincount(counts.indices, minlength=counts.shape[1])[expected.col]
    ours = saturated(counts[expected.row, expected.col], half) * idf(held, len(lengths))
    assert np.allclose(ours, expected.data, rtol=1e-12)


def test_no_file_of_an_index_stays(store, tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk.tempfile, "tempdir", str(tmp_path))
    index = index_of(store, Bm25())
    assert index.num_bytes > 0 and not list(tmp_path.iterdir())
    rows, _ = index.search(store.titles[:3], 1, np.full(3, -1))
    assert (rows >= 0).all()


def test_mapped_sentences_are_those_of_the_file(rfc_corpus):
    store, mapped = CorpusStore(rfc_corpus), CorpusStore(rfc_corpus)
    mapped.map_sentences()
    assert mapped.sentences.equals(store.sentences)
    contexts = store.contexts("test")
    assert mapped.local_texts(contexts) == store.local_texts(contexts)
