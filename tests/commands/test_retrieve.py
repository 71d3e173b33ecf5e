import sys

import numpy as np
import pytest

from mpbert import cli
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.seeding import named_rng
from mpbert.retrieval import approximate
from mpbert.vectors.store import VectorStore


def random_vectors(corpus, path):
    store, rng = CorpusStore(corpus), named_rng(1, "vectors")
    names = {"papers": store.paper_ids, "contexts.test": store.queries("test", "local").query_ids}
    path.mkdir()
    for name, ids in names.items():
        vectors = rng.standard_normal((len(ids), 8)).astype(np.float32)
        VectorStore(ids, vectors).save(path, name)


def test_an_approximate_run_holds_most_of_the_exact_one(rfc_corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(approximate, "_MOST", 1)  # these vectors have no neighbourhoods
    random_vectors(rfc_corpus, tmp_path / "vectors")
    flags = [f"--vectors={tmp_path / 'vectors'}", "--splits=test", "--top=3", "--pool=all"]
    for name, more in (("exact", []), ("part", ["--approximate"])):
        assert cli.main(["retrieve", str(rfc_corpus), str(tmp_path / name), *flags, *more]) == 0
        assert ("nearest papers found" in capsys.readouterr().err) == (name == "part")
    exact, part = (
        {(row[0], row[2]) for row in map(str.split, (tmp_path / name / "test.run").open())}
        for name in ("exact", "part")
    )
    assert len(exact) == len(part)
    assert len(exact & part) >= 0.9 * len(exact)


@pytest.mark.parametrize("method", ["bm25", "bm25_contexts"])
def test_words_of_contexts_that_are_known_rank_papers(rfc_corpus, tmp_path, capsys, method):
    asked = [f"--lexical={method}", "--settings", "fields=citing", "--splits=test"]
    found = {}
    for known in ("train", "train valid"):
        out = tmp_path / known.replace(" ", "-")
        words = ["retrieve", str(rfc_corpus), str(out), *asked, "--known", *known.split()]
        assert cli.main(words) == 0
        lines = [line.split() for line in (out / "test.run").open()]
        found[known] = {line[2] for line in lines if float(line[4]) > 0}
    cited = [CorpusStore(rfc_corpus).contexts(*known.split()).cited_rows for known in found]
    new = {CorpusStore(rfc_corpus).paper_ids[row] for row in set(cited[1]) - set(cited[0])}
    assert new & found["train valid"] and not new & found["train"]
    words = ["retrieve", str(rfc_corpus), str(tmp_path / "x"), f"--vectors={tmp_path}"]
    assert cli.main([*words, "--known", "train", "valid"]) == 2
    assert "--known is of words; for vectors give it to mpbert embed" in capsys.readouterr().err


def test_the_first_numbers_rank_as_vectors_of_so_many(rfc_corpus, tmp_path, capsys):
    random_vectors(rfc_corpus, tmp_path / "vectors")
    (tmp_path / "short").mkdir()
    for name in ("papers", "contexts.test"):
        found = VectorStore.load(tmp_path / "vectors", name)
        VectorStore(found.ids, found.vectors[:, :3]).save(tmp_path / "short", name)
    runs = []
    for name, flags in (("vectors", ["--dim=3"]), ("short", [])):
        given = ["retrieve", str(rfc_corpus), str(tmp_path / f"of-{name}" / "run")]
        flags += ["--vectors", str(tmp_path / name), "--splits=test", "--top=5"]
        assert cli.main([*given, *flags]) == 0
        runs.append((tmp_path / f"of-{name}" / "run" / "test.run").read_text())
    assert runs[0] == runs[1]
    given = ["retrieve", str(rfc_corpus), str(tmp_path / "out")]
    assert cli.main([*given, "--vectors", str(tmp_path / "vectors"), "--dim=9"]) == 2
    assert "--dim 9: the vectors have 8 dimensions; expected 1 to 8" in capsys.readouterr().err
    assert cli.main([*given, "--lexical=bm25", "--dim=3"]) == 2
    assert "--dim is of vectors; a lexical method has none" in capsys.readouterr().err


def test_words_on_disk_are_those_of_bm25_and_find_what_those_in_memory_do(
    rfc_corpus, tmp_path, capsys
):
    pytest.importorskip("tantivy", reason="tantivy is not installed, see tests/servers.txt")
    found = []
    for name, flags in (("memory", []), ("disk", ["--approximate"])):
        given = ["retrieve", str(rfc_corpus), str(tmp_path / name), "--lexical=bm25", "--top=5"]
        assert cli.main([*given, *flags]) == 0
        lines = [line.split() for line in (tmp_path / name / "test.run").open()]
        found.append([(query, paper) for query, _, paper, _, score, _ in lines if float(score)])
    assert found[0] and found[0] == found[1]
    capsys.readouterr()
    given = ["retrieve", str(rfc_corpus), str(tmp_path / "out"), "--approximate"]
    for flags, expected in (
        (["--lexical=tfidf"], "--approximate: found --lexical tfidf; expected bm25"),
        (["--lexical=bm25", "--add-cited"], "--add-cited ranks all papers, and --approximate a "),
        (["--lexical=bm25", "--engine=ray"], "--approximate: the index that it makes stays on one"),
    ):
        assert cli.main([*given, *flags]) == 2
        assert expected in capsys.readouterr().err


def test_words_in_memory_need_no_tantivy_and_words_on_disk_name_its_extra(
    rfc_corpus, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "tantivy", None)
    given = ["retrieve", str(rfc_corpus), str(tmp_path / "memory"), "--lexical=bm25", "--top=2"]
    assert cli.main(given) == 0
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    given[2] = str(tmp_path / "disk")
    assert cli.main([*given, "--approximate"]) == 2
    assert "found no package tantivy; expected that of the extra 'words'" in capsys.readouterr().err
    assert not (tmp_path / "disk").exists()
