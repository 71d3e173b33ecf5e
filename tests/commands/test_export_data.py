import csv
import json
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.tasks import TASKS
from mpbert.corpus.trec import read_qrels


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judgements(path: Path) -> dict[str, dict[str, int]]:
    """Read qrels as BEIR's loader does: a header, then query, paper and score between tabs."""
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        assert next(rows) == ["query-id", "corpus-id", "score"]
        found: dict[str, dict[str, int]] = {}
        for query_id, paper_id, score in rows:
            found.setdefault(query_id, {})[paper_id] = int(score)
    return found


@pytest.fixture(scope="module", params=TASKS)
def exported(request, rfc_corpus, tmp_path_factory):
    output = tmp_path_factory.mktemp("beir") / request.param
    assert main(["export-data", str(rfc_corpus), str(output), f"--task={request.param}"]) == 0
    return request.param, output


def test_all_papers_come_back(exported, rfc_corpus):
    corpus = CorpusStore(rfc_corpus)
    found = lines(exported[1] / "corpus.jsonl")
    assert [paper["_id"] for paper in found] == corpus.paper_ids
    for record in found[::7]:
        paper = corpus.paper(record["_id"])
        assert (record["title"], record["text"]) == (paper.title, " ".join(paper.abstract))
        assert record["metadata"]["year"] == paper.year
        assert record["metadata"]["authors"] == paper.authors


@pytest.mark.parametrize(
    ("split", "name"), [("train", "train"), ("valid", "dev"), ("test", "test")]
)
def test_all_distinct_queries_and_judgements_come_back(exported, rfc_corpus, split, name):
    task, output = exported
    corpus = CorpusStore(rfc_corpus)
    queries = corpus.queries(split, task).distinct()
    found = judgements(output / "qrels" / f"{name}.tsv")
    assert found == {
        query_id: {corpus.paper_ids[row]: 1 for row in queries.cited(i)}
        for i, query_id in enumerate(queries.query_ids)
    }
    texts = {query["_id"]: query for query in lines(output / "queries.jsonl")}
    assert found.keys() <= texts.keys()
    first = texts[queries.query_ids[0]]
    citing = corpus.paper(int(queries.citing_rows[0]))
    assert first["metadata"]["citing_id"] == citing.paper_id
    if task == "global":
        assert first["text"] == " ".join([citing.title, *citing.abstract])
    else:
        assert citing.sentences[queries.positions[0]] in first["text"]


def test_our_reader_finds_the_papers_and_citations_of_the_global_task(exported, rfc_corpus):
    task, output = exported
    if task == "local":
        pytest.skip("a query of the local task is no paper")
    corpus = CorpusStore(rfc_corpus)
    expected: dict[str, set[str]] = {}
    for split in SPLITS:
        queries = corpus.queries(split, task)
        for i, query_id in enumerate(queries.query_ids):
            expected[query_id] = {corpus.paper_ids[row] for row in queries.cited(i)}
    found = {paper.paper_id: paper for paper in READERS["beir"]().read(output)}
    assert [*found] == corpus.paper_ids
    for name, paper in found.items():
        assert paper.title == corpus.titles[corpus.row_of[name]]
        assert set(paper.references) == expected.get(name, set())


def test_ids_with_quotes_come_back(tmp_path):
    records = [
        {"paper_id": name, "title": "T", "year": year, "abstract": ["A."], "references": cited}
        for name, year, cited in (
            ('P"1', 2001, []), ('"P2"', 2002, ['P"1']), ("P3", 2012, ['"P2"']), ("P4", 2013, ["P3"])
        )
    ]  # fmt: skip
    (tmp_path / "papers.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert main(["build-corpus", str(tmp_path / "papers.jsonl"), str(tmp_path / "corpus")]) == 0
    folder = tmp_path / "beir"
    assert main(["export-data", str(tmp_path / "corpus"), str(folder), "--task=global"]) == 0
    found = {paper.paper_id: [*paper.references] for paper in READERS["beir"]().read(folder)}
    assert found == {record["paper_id"]: record["references"] for record in records}


def test_the_judgements_are_those_that_evaluation_reads(exported, rfc_corpus):
    task, output = exported
    name = "qrels.test.txt" if task == "local" else "qrels.global.test.txt"
    qrels = read_qrels(rfc_corpus / name)
    found = judgements(output / "qrels" / "test.tsv")
    assert list(found) == qrels.query_ids
    assert sum(map(len, found.values())) == len(qrels.codes)


def test_the_folder_is_reused_and_not_mixed_with_the_other_task(exported, rfc_corpus, capsys):
    task, output = exported
    assert main(["export-data", str(rfc_corpus), str(output), f"--task={task}"]) == 0
    assert "exists, reused" in capsys.readouterr().out
    other = next(t for t in TASKS if t != task)
    assert main(["export-data", str(rfc_corpus), str(output), f"--task={other}"]) == 2
    assert "made with another config" in capsys.readouterr().err
