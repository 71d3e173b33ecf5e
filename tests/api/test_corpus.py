import numpy as np
import pandas as pd
import pytest

from mpbert import Corpus
from mpbert.commands import build_corpus
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels
from mpbert.foundation.errors import ConfigError, CorpusError, DamagedError, OutputError


@pytest.fixture(scope="module")
def corpus(rfc_corpus):
    return Corpus(rfc_corpus)


@pytest.fixture
def raw(tmp_path):
    """Four papers in tables, one of them without a year."""
    folder = tmp_path / "raw"
    folder.mkdir()
    papers = {
        "paper_id": ["a", "b", "c", "d"],
        "title": ["First", "Second", "Third", "Fourth"],
        "abstract": ["We begin.", "We go on.", "We rest.", "We end."],
        "year": ["", "2001", "2001", "2001"],
        "split": ["train", "train", "valid", "test"],
    }
    contexts = {
        "citing_id": ["b", "c", "d"],
        "cited_ids": ["a", "a", "a"],
        "text": ["As in [CITATION] we do.", "So is it [CITATION].", "It was so [CITATION]."],
    }
    pd.DataFrame(papers).to_csv(folder / "papers.csv", index=False)
    pd.DataFrame(contexts).to_csv(folder / "contexts.csv", index=False)
    return folder


def test_papers_are_those_of_the_store(corpus, rfc_corpus):
    store = CorpusStore(rfc_corpus)
    assert corpus.papers.index.tolist() == store.paper_ids and len(corpus) == len(store.paper_ids)
    for row in (0, 50, 119):
        paper, line = store.paper(row), corpus.papers.iloc[row]
        assert (paper.title, paper.year, paper.split) == (line.title, line.year, line.split)
        assert line.authors == paper.authors and line.abstract == " ".join(paper.abstract)
        assert line.num_sentences == len(paper.sentences)


def test_contexts_are_the_queries_of_the_qrels(corpus):
    for split in ("train", "valid", "test"):
        qrels = read_qrels(corpus.qrels(split))
        every = corpus.contexts[corpus.contexts["split"] == split]
        assert every.index.tolist() == read_qrels(corpus.qrels(split, queries="all")).query_ids
        own = every[~every["is_repeat"]]
        assert (len(own) < len(every)) == (split != "train")
        assert own.index.tolist() == qrels.query_ids
        for query, cited in enumerate(own["cited_ids"]):
            codes = qrels.codes[qrels.offsets[query] : qrels.offsets[query + 1]]
            assert [qrels.paper_ids[code] for code in codes] == cited
    line = corpus.contexts.iloc[7]
    sentences = corpus.paper(line.citing_id).sentences
    assert sentences[line.position] == line.sentence and line.sentence in line.around


def test_citations_hold_what_contexts_cite(corpus):
    pairs = set(zip(corpus.citations["citing_id"], corpus.citations["cited_id"], strict=True))
    assert len(pairs) == len(corpus.citations)
    each = corpus.contexts.explode("cited_ids")
    assert set(zip(each["citing_id"], each["cited_ids"], strict=True)) <= pairs
    assert corpus.splits.sum().tolist() == [120, len(corpus.contexts), len(pairs)]


def test_building_gives_the_bytes_of_the_command_and_reuses_them(raw, tmp_path):
    built = Corpus.build(raw, tmp_path / "store", split="given", reader="csv")
    build_corpus.run(build_corpus.Config(raw, tmp_path / "other", split="given", reader="csv"))
    for file in (tmp_path / "other").iterdir():
        if file.name not in ("log.txt", "manifest.json", "config.yaml"):
            assert file.read_bytes() == (tmp_path / "store" / file.name).read_bytes()
    build_corpus.run(
        build_corpus.Config(raw, tmp_path / "store", split="given", reader="csv")
    )  # reused
    assert repr(built).endswith("store'): 4 papers, 3 contexts, 3 citations")
    with pytest.raises(OutputError, match="was made with another config"):
        Corpus.build(raw, tmp_path / "store", split="random", reader="csv")


def test_an_unknown_year_is_not_a_number(raw, tmp_path):
    papers = Corpus.build(raw, tmp_path / "store", split="given", reader="csv").papers
    assert papers["year"].isna().tolist() == [True, False, False, False]
    assert papers.loc["b", "abstract"] == "We go on." and papers.loc["b", "year"] == 2001


def test_what_is_wrong_is_refused(corpus, raw, tmp_path):
    with pytest.raises(CorpusError, match=r"found no papers\.parquet; expected a corpus store"):
        Corpus(tmp_path)
    with pytest.raises(ConfigError, match="split is 'dev'; expected one of train, valid, test"):
        corpus.qrels("dev")
    with pytest.raises(ConfigError, match="queries is 'some'; expected one of distinct, all"):
        corpus.qrels("test", queries="some")
    with pytest.raises(ConfigError, match="split is 'dev'; expected one of given, random, year"):
        Corpus.build(raw, tmp_path / "store", split="dev", reader="csv")
    with pytest.raises(ConfigError, match="unknown reader 'json'; expected one of"):
        Corpus.build(raw, tmp_path / "store", reader="json")
    with pytest.raises(TypeError, match="valid"):
        Corpus.build(raw, tmp_path / "store", valid=2010)
    with pytest.raises(CorpusError, match="no paper 'RFC0'"):
        corpus.paper("RFC0")


def test_a_damaged_file_is_found(raw, tmp_path):
    Corpus.build(raw, tmp_path / "store", split="given", reader="csv")
    file = tmp_path / "store" / "citations.parquet"
    data = np.frombuffer(file.read_bytes(), dtype=np.uint8).copy()
    data[len(data) // 2] ^= 1
    file.write_bytes(data.tobytes())
    with pytest.raises(DamagedError, match="other bytes than were written"):
        Corpus(tmp_path / "store")
