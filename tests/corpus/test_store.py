import numpy as np
import pytest

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError


def test_a_directory_that_is_no_store_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"found no papers\.parquet; expected a corpus store"):
        CorpusStore(tmp_path)


def test_a_broken_file_is_named(rfc_corpus, tmp_path):
    for file in rfc_corpus.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes()[:100])
    with pytest.raises(CorpusError, match=r"papers\.parquet: unreadable .*build the corpus again"):
        _ = CorpusStore(tmp_path).paper_ids


def test_an_unknown_paper_or_split_is_refused(store):
    with pytest.raises(CorpusError, match="no paper 'RFC1'"):
        store.paper("RFC1")
    with pytest.raises(CorpusError, match="no paper 120"):
        store.paper(120)
    with pytest.raises(ValueError, match="expected one of train, valid, test"):
        store.contexts("dev")


def test_papers_by_row_by_id_and_by_split_agree(store):
    papers = list(store.papers())
    assert [paper.paper_id for paper in papers] == store.paper_ids == sorted(store.paper_ids)
    assert store.paper("RFC2119") == papers[store.row_of["RFC2119"]]
    assert [p for p in papers if p.split == "valid"] == list(store.papers("valid"))
    assert len(store.sentences) == sum(len(paper.sentences) for paper in papers)
    assert papers[7].authors and papers[7].title == store.titles[7]


def test_splits_are_by_year_and_contexts_follow_their_papers(store):
    for split, first, last in [("train", 0, 2015), ("valid", 2016, 2016), ("test", 2017, 9999)]:
        contexts = store.contexts(split)
        assert len(contexts) > 100
        assert (store.paper_splits[contexts.citing_rows] == split).all()
        assert ((contexts.years >= first) & (contexts.years <= last)).all()
        assert (contexts.years == store.years[contexts.citing_rows]).all()


def test_context_ids_name_the_citing_sentence(store):
    contexts = store.contexts("test")
    names = zip(contexts.citing_rows, contexts.positions, strict=True)
    assert contexts.query_ids == [f"{store.paper_ids[r]}#{p}" for r, p in names]


def test_local_texts_equal_the_slow_loop(store):
    contexts = store.contexts("train")
    expected = []
    for row, position in zip(contexts.citing_rows, contexts.positions, strict=True):
        paper = store.paper(int(row))
        in_abstract = position < paper.num_abstract
        texts = [
            paper.sentences[i]
            for i in (position - 1, position, position + 1)
            if 0 <= i < len(paper.sentences) and (i < paper.num_abstract) == in_abstract
        ]
        expected.append(" ".join(texts))
    assert store.local_texts(contexts) == expected


def test_citations_hold_every_context_and_no_self_citation(store):
    citing_rows, cited_rows = store.citations()
    pairs = set(zip(citing_rows.tolist(), cited_rows.tolist(), strict=True))
    assert len(pairs) == len(citing_rows) and np.all(citing_rows != cited_rows)
    for split in ("train", "valid", "test"):
        contexts = store.contexts(split)
        for i, citing_row in enumerate(contexts.citing_rows.tolist()):
            assert {(citing_row, cited) for cited in contexts.cited(i).tolist()} <= pairs


def test_authors_and_venues_are_those_of_the_papers(rfc_corpus):
    store = CorpusStore(rfc_corpus)
    for row in (0, 50, 119):
        assert store.authors[row] == store.paper(row).authors
        assert store.venues[row] == store.paper(row).venue
    assert len(store.authors) == len(store.venues) == 120
