import numpy as np

from mpbert import cli
from mpbert.data.store import CorpusStore
from mpbert.seeding import named_rng
from mpbert.vectors.store import VectorStore


def random_vectors(corpus, path):
    store, rng = CorpusStore(corpus), named_rng(1, "vectors")
    names = {"papers": store.paper_ids, "contexts.test": store.queries("test", "local").query_ids}
    path.mkdir()
    for name, ids in names.items():
        vectors = rng.standard_normal((len(ids), 8)).astype(np.float32)
        VectorStore(ids, vectors).save(path, name)


def test_an_approximate_run_holds_most_of_the_exact_one(rfc_corpus, tmp_path, capsys):
    random_vectors(rfc_corpus, tmp_path / "vectors")
    flags = [f"--vectors={tmp_path / 'vectors'}", "--splits=test", "--top=3"]
    for name, more in (("exact", []), ("part", ["--approximate"])):
        assert cli.main(["retrieve", str(rfc_corpus), str(tmp_path / name), *flags, *more]) == 0
        assert ("nearest papers found" in capsys.readouterr().err) == (name == "part")
    exact, part = (
        {(row[0], row[2]) for row in map(str.split, (tmp_path / name / "test.run").open())}
        for name in ("exact", "part")
    )
    assert len(exact) == len(part)
    assert len(exact & part) >= 0.9 * len(exact)


def test_words_are_never_searched_in_part(rfc_corpus, tmp_path, capsys):
    flags = ["--lexical=bm25", "--approximate"]
    assert cli.main(["retrieve", str(rfc_corpus), str(tmp_path / "out"), *flags]) == 2
    assert "--approximate is of vectors; a lexical method has none" in capsys.readouterr().err
