import json
import logging
import shutil

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.commands import make_rows, report, retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels, read_run, run_of_matrix, write_run
from mpbert.evaluation import plots
from mpbert.evaluation.compare import compare
from mpbert.foundation.errors import ConfigError, OutputError, RunError
from mpbert.foundation.training_log import for_tensorboard, loss_fields
from mpbert.methods.learnt_features import write_learnt


def _rank(store, split, gain, seed):
    contexts = store.contexts(split)
    scores = np.random.default_rng(seed).random((len(contexts), store.num_papers))
    queries = np.repeat(np.arange(len(contexts)), np.diff(contexts.cited_offsets))
    scores[queries, contexts.cited_rows] += gain
    scores[np.arange(len(contexts)), contexts.citing_rows] = -1
    rows = np.argsort(-scores, axis=1)[:, :50]
    scores = np.take_along_axis(scores, rows, axis=1)
    return run_of_matrix(contexts.query_ids, store.paper_ids, rows, scores)


@pytest.fixture(scope="module")
def workplace(rfc_corpus, tmp_path_factory):
    """Runs of two systems and rows of three, beside a real corpus."""
    path = tmp_path_factory.mktemp("report")
    store = CorpusStore(rfc_corpus)
    for seed, (name, gain) in enumerate({"chance": 0.0, "better": 0.5, "absent": None}.items()):
        _write_row(path, name)
        if gain is not None:
            _write_run(path, name, _rank(store, "test", gain, seed))
    return path


def _write_row(place, name, **content):
    (place / "rows").mkdir(exist_ok=True)
    content = {"title": name, "method": "word2vec", **content}
    (place / "rows" / f"{name}.yaml").write_text(json.dumps(content))


def _write_run(place, name, run):
    """Write the run of a row as someone else's program would."""
    directory = place / "out" / "trec" / "rfc" / name
    directory.mkdir(parents=True)
    write_run(directory / "test.run", run, "x")
    return directory


def _config(rfc_corpus, workplace, output, **options):
    return report.Config(rfc_corpus, workplace / "rows", workplace / "out", output, **options)


@pytest.fixture
def no_plots(monkeypatch):
    """Leave out the pictures, which take the most time."""
    monkeypatch.setattr(plots, "plot_report", lambda *_: {})


@pytest.fixture(scope="module")
def written(rfc_corpus, workplace):
    report.run(_config(rfc_corpus, workplace, workplace / "written"))
    return workplace / "written"


def test_the_report_holds_every_format_and_the_rows_in_order(written):
    names = {path.name for path in written.iterdir()}
    assert {f"report.{s}" for s in ("txt", "md", "tex", "html", "json")} <= names
    assert {"recall.svg", "recall.png", "intervals.svg", "frequency.png"} <= names
    found = json.loads((written / "report.json").read_text())
    assert [row["name"] for row in found["rows"]] == ["better", "chance"]
    assert [row["name"] for row in found["not_run"]] == ["absent"]
    assert "its shortest list has 50 papers" in (written / "report.txt").read_text()


def test_two_reports_of_the_same_runs_have_the_same_bytes(rfc_corpus, workplace, written, tmp_path):
    report.run(_config(rfc_corpus, workplace, tmp_path / "again"))
    for path in written.iterdir():
        if path.name not in ("log.txt", "config.yaml"):  # seconds; paths
            assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_the_report_tells_how_a_row_ranks_papers_of_the_same_authors(
    rfc_corpus, workplace, written
):
    store = CorpusStore(rfc_corpus)
    text = (written / "report.txt").read_text()
    assert "Self-citation: papers that share an author" in text
    assert (written / "self_citation.svg").exists()
    found = json.loads((written / "report.json").read_text())["self_citation"]["better"]
    lines = (workplace / "out/trec/rfc/better/test.run").read_text().splitlines()
    distinct = store.contexts("test").distinct().query_ids
    sharing = {}  # query to ranks
    for query, _, paper, rank, *_ in map(str.split, lines):
        if query not in distinct:
            continue
        citing, cited = (store.row_of[each] for each in (query.rpartition("#")[0], paper))
        if {*map(str.lower, store.authors[citing])} & {*map(str.lower, store.authors[cited])}:
            sharing.setdefault(query, []).append(int(rank))
    num_queries = len(distinct)
    at_20 = found["cutoffs"].index(20)
    best = [min(ranks) for ranks in sharing.values() if min(ranks) <= 20]
    assert 0 < len(best) < num_queries
    assert found["share"][at_20] == pytest.approx(len(best) / num_queries, abs=1e-5)
    mean = (sum(best) + 21 * (num_queries - len(best))) / num_queries
    assert found["best_rank"][at_20] == pytest.approx(mean, abs=1e-4)


def test_runs_of_other_seeds_give_mean_and_interval(rfc_corpus, no_plots, tmp_path):
    store = CorpusStore(rfc_corpus)
    suffixes = ("", "-seed-2", "-seed-3", "-seed-5")  # 4 lacks: 5 is not read
    for seed, suffix in enumerate(suffixes):
        _write_run(tmp_path, f"row{suffix}", _rank(store, "test", 0.5, seed))
    _write_row(tmp_path, "row")
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    scores = []
    for number, suffix in enumerate(suffixes[:3]):
        alone = tmp_path / f"alone{number}"
        _write_row(_made(alone), "row")
        shutil.copytree(tmp_path / f"out/trec/rfc/row{suffix}", alone / "out/trec/rfc/row")
        report.run(_config(rfc_corpus, alone, alone / "report"))
        content = json.loads((alone / "report" / "report.json").read_text())
        assert "Over seeds" not in (alone / "report" / "report.txt").read_text()
        scores.append(content["tables"]["main"]["scores"]["row"]["MAP@10 P>=2"]["mean"])
    mean, half = np.mean(scores), 4.302653 * np.std(scores, ddof=1) / 3**0.5  # t of 2 degrees
    assert half > 0
    assert found["seeds"]["row"]["num_seeds"] == found["rows"][0]["num_seeds"] == 3
    in_table = found["tables"]["main"]["scores"]["row"]["MAP@10 P>=2"]["mean"]
    assert in_table == pytest.approx(mean, abs=2e-6)
    assert found["seeds"]["row"]["MAP@10 P>=2"] == pytest.approx(
        {"mean": mean, "half_width": half}, abs=2e-6
    )
    text = (tmp_path / "report" / "report.txt").read_text()
    assert f"{100 * mean:.2f}+-{100 * half:.2f}" in text


def test_a_trained_row_of_one_seed_says_so_and_words_need_no_seed(
    rfc_corpus, no_plots, tmp_path, capsys
):
    run = _rank(CorpusStore(rfc_corpus), "test", 0.5, 1)
    trained = {"method": "word2vec", "title": "T" * 40, "order": 1}
    _write_row(tmp_path, "dense", **trained)
    _write_row(tmp_path, "words", title="Words", method="bm25", order=2)
    fused = {"method": "fusion", "order": 3}
    _write_row(tmp_path, "fused", title="Fused", inputs=["dense", "words"], **fused)
    _write_row(tmp_path, "other", title="Chance", method="chance", order=4)
    for name in ("dense", "words", "fused", "other", "dense-seed-2"):
        _write_run(tmp_path, name, run)
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert {row["name"]: (row["title"], row["family"]) for row in found["rows"]} == {
        "dense": ("T" * 40 + ", two seeds", "trained"),
        "words": ("Words", "lexical"),
        "fused": ("Fused, one seed", "fusion"),
        "other": ("Chance", "chance"),
    }
    assert max(map(len, shown.splitlines())) <= 100
    assert "each row minus the strongest lexical row, Words\n" in shown
    assert found["against_lexical"]["scores"]["fused"]["MAP@10 P>=2"]["other"] == "words"


def test_what_a_ready_made_model_has_read_is_remarked_of_all_rows_that_take_it(
    rfc_corpus, no_plots, tmp_path, capsys
):
    run = _rank(CorpusStore(rfc_corpus), "test", 0.5, 1)
    read = {"texts": "Wikipedia", "holds_test": {"acl": False, "rfc": "maybe"}}
    _write_row(tmp_path, "ready", method="sbert", title="Ready", pretrained_on=read, order=1)
    _write_row(tmp_path, "on", method="submodular", title="On it", inputs=["ready"], order=2)
    _write_row(tmp_path, "words", method="bm25", title="Words", order=3)
    for name in ("ready", "on", "words"):
        _write_run(tmp_path, name, run)
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    sentence = "has read Wikipedia; that may hold citations of the test papers: maybe"
    shown = " ".join(capsys.readouterr().out.split())
    for title in ("Ready, one seed", "On it, one seed"):
        assert f"{title}: {sentence}." in shown
    rows = json.loads((tmp_path / "report" / "report.json").read_text())["rows"]
    assert [sentence in row["remarks"] for row in rows] == [True, True, False]


def test_the_largest_of_what_was_learnt_on_validation_are_remarked(
    rfc_corpus, no_plots, tmp_path, capsys
):
    run = _rank(CorpusStore(rfc_corpus), "test", 0.5, 1)
    _write_row(tmp_path, "words", method="bm25", title="Words", order=1)
    fused = {"method": "fusion", "inputs": ["words", "words"], "order": 2}
    _write_row(tmp_path, "fused", title="Fused", **fused)
    _write_run(tmp_path, "words", run)
    place = _write_run(tmp_path, "fused", run)
    names = ["words score", "words reciprocal_rank", "words has_it", "a", "b", "c", "age"]
    write_learnt(place, "weight", names, np.array([0.25, -1.5, 0.001, 3, 4, 5, -0.1]))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    sentence = (
        "largest weights of its 7 features: c 5, b 4, a 3, words reciprocal_rank -1.5, words score "
        "0.25, age -0.1"
    )
    assert f"Fused: {sentence}." in " ".join(capsys.readouterr().out.split())
    rows = json.loads((tmp_path / "report" / "report.json").read_text())["rows"]
    assert {row["name"]: sentence in row["remarks"] for row in rows} == {
        "words": False,
        "fused": True,
    }


def _made(folder):
    folder.mkdir()
    return folder


def test_what_is_wrong_with_the_run_of_another_seed_is_remarked(rfc_corpus, no_plots, tmp_path):
    store = CorpusStore(rfc_corpus)
    run, num_queries = _rank(store, "test", 0.5, 1), len(store.contexts("test").distinct())
    places = [_write_run(tmp_path, f"row{suffix}", run) for suffix in ("", "-seed-2", "-seed-3")]
    lines = (places[0] / "test.run").read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.split()[0] == run.query_ids[0]]
    (places[1] / "test.run").write_text("".join(kept))
    manifest = {"format": 1, "command": "retrieve", "inputs": {"rfc": "another"}, "files": {}}
    (places[2] / "manifest.json").write_text(json.dumps(manifest))
    _write_row(tmp_path, "row")
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())["rows"][0]["remarks"]
    assert f"seed 2: {num_queries - 1:,} queries are missing in its run and count 0" in found
    assert any(remark.startswith(f"seed 3: {places[2]}: made with other") for remark in found)


def test_numbers_that_papers_print_stand_beside_ours(rfc_corpus, no_plots, tmp_path):
    published = {"corpus": "AAN", "MRR": 0.3493, "F1@20": 0.14}
    _write_row(tmp_path, "row", title="From a paper", published=published)
    _write_run(tmp_path, "row", _rank(CorpusStore(rfc_corpus), "test", 0.5, 1))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    text = (tmp_path / "report" / "report.txt").read_text()
    own = json.loads((tmp_path / "report" / "report.json").read_text())["of_runs"]
    numbers = (own["MRR"]["row"], 0.3493, own["F1@20"]["row"], 0.14)
    line = [
        "From",
        "a",
        "paper,",
        "one",
        "seed",
        *(f"{100 * value:.2f}" for value in numbers),
        "AAN",
    ]
    assert line in [words.split() for words in text.splitlines()]
    assert "cannot be compared" in " ".join(text.split())


def test_a_row_of_other_corpora_is_in_the_report_where_it_was_made(rfc_corpus, no_plots, tmp_path):
    for name in ("made", "not_made"):
        _write_row(tmp_path, name, corpora=["acl"])
    _write_row(tmp_path, "ours")
    _write_run(tmp_path, "made", _rank(CorpusStore(rfc_corpus), "test", 0.5, 1))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [row["name"] for row in found["rows"]] == ["made"]
    assert [row["name"] for row in found["not_run"]] == ["ours"]


def test_the_run_of_another_system_stands_beside_ours_as_compare_measures_it(
    rfc_corpus, no_plots, tmp_path, caplog
):
    store = CorpusStore(rfc_corpus)
    _write_row(tmp_path, "ours", order=1)
    ours = _write_run(tmp_path, "ours", _rank(store, "test", 0.5, 1)) / "test.run"
    theirs, qrels = tmp_path / "theirs.run", rfc_corpus / "qrels.test.txt"
    theirs.write_text(_of_another_system(store, read_qrels(qrels)))
    row = {"title": "Theirs", "run": "../theirs.run", "order": 2}
    (tmp_path / "rows" / "theirs.yaml").write_text(json.dumps(row))
    caplog.set_level("INFO", "mpbert")
    make_rows.run(make_rows.Config(rfc_corpus, tmp_path / "rows", tmp_path / "out", ["theirs"]))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))

    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [(row["name"], row["family"]) for row in found["rows"]][1] == ("theirs", "elsewhere")
    scores = compare(read_qrels(qrels), {"a": read_run(ours), "b": read_run(theirs)}, ["MAP@10"])
    [expected] = [s for s in scores if (s.run, s.subset) == ("b", "P>=1")]
    cell = found["tables"]["main"]["scores"]["theirs"]["MAP@10 P>=1"]
    assert cell["mean"] == pytest.approx(expected.mean, abs=1e-6) and 0 < expected.mean < 0.5
    remarks = [
        f"{expected.missing:,} queries are missing in its run and count 0",
        "ranks 1 papers that the corpus lacks, such as RFC0, 9 times; they count as not relevant",
        "ranks papers newer than the manuscript for 9 queries",
        "1 queries of its run are none of the split, and do not count",
    ]
    assert expected.missing == len(read_qrels(qrels)) - 9
    assert set(remarks) < set(found["rows"][1]["remarks"])
    [said] = [message for message in caplog.messages if "made elsewhere" in message]
    assert said.startswith("[1/1] theirs: made elsewhere, ") and all(r in said for r in remarks)


def test_the_result_of_a_run_of_another_system_is_kept(rfc_corpus, no_plots, tmp_path):
    store, kept = CorpusStore(rfc_corpus), tmp_path / "kept.jsonl"
    theirs = tmp_path / "test.run"
    theirs.write_text(_of_another_system(store, read_qrels(rfc_corpus / "qrels.test.txt")))
    (tmp_path / "rows").mkdir()
    row = {"title": "Theirs", "run": "../{split}.run"}
    (tmp_path / "rows" / "theirs.yaml").write_text(json.dumps(row))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "first", kept=kept))
    theirs.unlink()
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "second", kept=kept))
    first, second = (
        json.loads((tmp_path / name / "report.json").read_text()) for name in ("first", "second")
    )
    assert first["tables"] == second["tables"]
    assert set(first["rows"][0]["remarks"]) <= set(second["rows"][0]["remarks"])


def _of_another_system(store, qrels):
    """Return a run of nine queries: an unknown paper first, then a cited one among equals."""
    newest, lines = store.paper_ids[int(np.argmax(store.years))], []
    first = [i for i in range(len(qrels)) if not qrels.query_ids[i].startswith(f"{newest}#")][:9]
    for place in first:
        cited = qrels.paper_ids[qrels.codes[qrels.offsets[place]]]
        larger = next(paper for paper in reversed(store.paper_ids) if paper != newest)
        for paper, score in (("RFC0", 3), (larger, 2), (cited, 2), (newest, 1)):
            lines.append(f"{qrels.query_ids[place]} Q0 {paper} 1 {score} theirs\n")
    return "".join([*lines, f"nobody#1 Q0 {newest} 1 1 theirs\n"])


def test_a_run_of_the_test_split_alone_is_not_in_the_report_of_the_other(
    rfc_corpus, no_plots, tmp_path, caplog
):
    _write_row(tmp_path, "ours")
    directory = _write_run(tmp_path, "ours", _rank(CorpusStore(rfc_corpus), "valid", 0.5, 1))
    (directory / "test.run").rename(directory / "valid.run")
    (tmp_path / "theirs.run").write_text("x")
    row = {"title": "Theirs", "run": str(tmp_path / "theirs.run")}
    (tmp_path / "rows" / "theirs.yaml").write_text(json.dumps(row))
    other = {"title": "Other", "run": str(tmp_path / "{split}.run"), "corpora": ["acl"]}
    (tmp_path / "rows" / "other.yaml").write_text(json.dumps(other))
    (tmp_path / "valid.run").write_text("nobody#1 Q0 nothing 1 1 t\n")
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report", split="valid"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [row["name"] for row in found["not_run"]] == ["theirs"]
    looked_for = tmp_path / "out" / "trec" / "rfc" / "theirs" / "valid.run"
    assert caplog.messages[0] == f"{looked_for}: no such file; the row that names it is not run"


def test_whole_papers_have_a_report_of_their_own_with_recall_further_down(
    rfc_corpus, no_plots, tmp_path
):
    _write_row(tmp_path, "row", method="bm25", task="global", top=60)
    make_rows.run(make_rows.Config(rfc_corpus, tmp_path / "rows", tmp_path / "out"))
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report", task="global"))
    tables = json.loads((tmp_path / "report" / "report.json").read_text())["tables"]
    assert set(tables) == {"main", "depth"}
    found = {name: cell["mean"] for name, cell in tables["depth"]["scores"]["row"].items()}
    names = [f"Recall@{k} P>=1" for k in (10, 100, 200, 500, 1000)]
    assert list(found) == names
    assert 0 < found[names[0]] < found[names[1]] == found[names[4]] < 1  # 60 papers are ranked


@pytest.mark.parametrize("method", ["learnt", "reciprocal"])
def test_a_row_that_learnt_from_the_queries_of_the_report_is_remarked(
    rfc_corpus, no_plots, tmp_path, capsys, method
):
    _write_row(tmp_path, "a", method="bm25", settings={"fields": "abstract"}, order=1)
    _write_row(tmp_path, "b", method="bm25", settings={"fields": "citing"}, order=2)
    fused = {"method": "fusion", "inputs": ["a", "b"], "settings": {"method": method}}
    _write_row(tmp_path, "c", title="Fused", order=3, **fused)
    _write_row(tmp_path, "d", title="Over it", order=4, method="navigation", inputs=["c"])
    make_rows.run(make_rows.Config(rfc_corpus, tmp_path / "rows", tmp_path / "out"))
    for split, is_remarked in (("valid", method == "learnt"), ("test", False)):
        capsys.readouterr()
        report.run(_config(rfc_corpus, tmp_path, tmp_path / split, split=split))
        shown = " ".join(capsys.readouterr().out.split())
        for title in ("Fused", "Over it"):
            assert (f"{title}: learnt from these very queries" in shown) == is_remarked


def test_a_finished_report_is_reused_and_with_replace_written_anew(
    rfc_corpus, workplace, no_plots, tmp_path, capsys
):
    output = tmp_path / "out"
    for replace, shown in ((False, None), (False, f"{output} exists, reused\n"), (True, None)):
        report.run(_config(rfc_corpus, workplace, output, replace=replace))
        assert capsys.readouterr().out == (shown or (output / "report.txt").read_text())


def _copy(workplace, tmp_path):
    """Return a place with the rows and runs of the workplace."""
    for folder in ("rows", "out"):
        shutil.copytree(workplace / folder, tmp_path / folder)
    return tmp_path


def _files(directory):
    """Names of the files of a report."""
    return {path.name for path in directory.iterdir()}


def test_what_rows_cost_is_printed_and_stands_apart(
    rfc_corpus, workplace, written, tmp_path, capsys
):
    place = _copy(workplace, tmp_path)
    (place / "out" / "cost" / "rfc").mkdir(parents=True)
    ended = {"seconds": 12.5, "cpu_seconds": 20, "peak_mib": 345, "exit_code": 0, "cores": 2}
    record = json.dumps({"step": "retrieve", **ended})
    (place / "out" / "cost" / "rfc" / "better.jsonl").write_text(record + "\n")
    report.run(_config(rfc_corpus, place, tmp_path / "report"))
    assert _files(tmp_path / "report") - _files(written) == {
        *(f"cost.{suffix}" for suffix in ("txt", "md", "json", "svg", "png"))
    }
    ours, theirs = (
        json.loads((folder / "report.json").read_text())["tables"]
        for folder in (tmp_path / "report", written)
    )
    assert ours == theirs
    shown = capsys.readouterr().out
    assert "WHAT THE ROWS COST" in shown
    assert ["better,", "one", "seed", "-", "12.5", "20.0", "345", "2", "0"] in [
        line.split() for line in shown.splitlines()
    ]


def test_losses_of_trainings_are_drawn_apart_from_the_report(
    rfc_corpus, workplace, written, tmp_path
):
    place = _copy(workplace, tmp_path)
    (place / "out" / "vectors" / "rfc").mkdir(parents=True)
    with for_tensorboard(place / "out" / "vectors" / "rfc" / "better", goes_on=False):
        logger = logging.getLogger("mpbert.test")
        for update in (10, 20):
            logger.info("a loss", extra=loss_fields("test", update, 1 / update))
    report.run(_config(rfc_corpus, place, tmp_path / "report"))
    assert _files(tmp_path / "report") - _files(written) == {"training.svg", "training.png"}


def test_settings_chosen_by_tuning_are_reported(rfc_corpus, no_plots, tmp_path):
    budget = {"cpu_hours": 1, "measure": "MAP@10", "split": "valid"}
    budget |= {"queries": {"local": 9}, "of": {"local": 12}, "pool": "known", "start": ""}
    row = {"settings": {"window": 3}, "score": 0.2, "default": 0.1, "trials": 2}
    row |= {"space_size": 5, "cpu_hours": 0.5}
    row |= {"failed": 1, "most": 2}
    _write_row(tmp_path, "x", settings={"window": 2, "epochs": 5})
    _write_run(tmp_path, "x", _rank(CorpusStore(rfc_corpus), "test", 0.5, 1))
    (tmp_path / "tuned").write_text(json.dumps({"budget": budget, "rows": {"x": row}}))
    config = _config(rfc_corpus, tmp_path, tmp_path / "report", tuned=tmp_path / "tuned")
    report.run(config)
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert found["budget"] == budget
    assert found["rows"][0]["settings"] == {"epochs": 5, "window": 3}
    assert found["rows"][0]["tuned"] == row


def test_a_run_that_was_made_with_other_settings_is_remarked(
    rfc_corpus, no_plots, tmp_path, capsys
):
    for name, k1 in (("same", 2), ("other", 3)):
        path = tmp_path / "out" / "trec" / "rfc" / name
        retrieve.run(retrieve.Config(rfc_corpus, path, lexical="bm25", settings=["k1=2"]))
        _write_row(tmp_path, name, title=f"The {name}", method="bm25", settings={"k1": k1})
    report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))
    shown = " ".join(capsys.readouterr().out.split())
    assert "The other: the settings of this report are not those of its run;" in shown
    rows = json.loads((tmp_path / "report" / "report.json").read_text())["rows"]
    remarks = {row["name"]: " ".join(row["remarks"]) for row in rows}
    assert f"{path}: made with other settings or inputs" in remarks["other"]
    assert "The same: the settings" not in shown


def test_a_run_of_another_pool_is_remarked(rfc_corpus, no_plots, tmp_path):
    settings = {"fields": "abstract"}
    _write_row(tmp_path, "words", method="bm25", settings=settings)
    run = tmp_path / "out" / "trec" / "rfc" / "words"
    retrieve.run(
        retrieve.Config(rfc_corpus, run, lexical="bm25", settings=["fields=abstract"], pool="all")
    )
    for pool in ("known", "all"):
        report.run(_config(rfc_corpus, tmp_path, tmp_path / pool, pool=pool))
        text = " ".join((tmp_path / pool / "report.txt").read_text().split())
        assert ("made with other settings or inputs" in text) == (pool == "known")
        assert ("ranks papers newer than the manuscript for" in text) == (pool == "known")
        assert ("its shortest list" in text) is False
    with pytest.raises(RunError, match="words: found a run of pool all; expected known: give --po"):
        report.run(_config(rfc_corpus, tmp_path, tmp_path / "third", kept=tmp_path / "kept.jsonl"))
    assert not (tmp_path / "kept.jsonl").exists()
    store, known = CorpusStore(rfc_corpus), (tmp_path / "known" / "report.txt").read_text()
    years = np.sort(store.years)
    counts = [np.searchsorted(years, year, "right") - 1 for year in store.contexts("test").years]
    assert f"from {min(counts)} to {max(counts)} candidates" in " ".join(known.split())
    assert "Pool: all 120 papers of the corpus except the manuscript itself, 119" in " ".join(
        (tmp_path / "all" / "report.txt").read_text().split()
    )


def test_replace_does_not_remove_what_is_no_report(rfc_corpus, workplace):
    with pytest.raises(ConfigError, match="was made by mpbert build-corpus; --replace replaces re"):
        report.run(_config(rfc_corpus, workplace, rfc_corpus, replace=True))
    assert (rfc_corpus / "papers.parquet").exists()


def test_a_difference_from_an_earlier_report_ends_with_2(
    rfc_corpus, workplace, written, no_plots, tmp_path, capsys
):
    earlier, table = json.loads((written / "report.json").read_text()), "main"
    cell = earlier["tables"][table]["scores"]["better"]["MAP@10 P>=1"]
    right, file = cell["mean"], tmp_path / "earlier.json"
    places = [rfc_corpus, workplace / "rows", workplace / "out", tmp_path / "report"]
    for shift, verdict, code in ((0.0, "OK", 0), (0.03, "CLOSE", 0), (0.05, "DIFFERENT", 2)):
        cell["mean"] = right + shift
        file.write_text(json.dumps(earlier))
        assert main(["report", *map(str, places), "--expected", str(file)]) == code
        out, err = capsys.readouterr()
        lines = {line.split()[1]: line.split()[0] for line in out.splitlines()[-4:] if line}
        assert (lines["better"], lines["chance"]) == (verdict, "OK")
        assert ("1 scores or rows differ from" in err) == (code == 2)


def test_an_expected_file_that_is_no_report_is_refused_first(rfc_corpus, workplace, tmp_path):
    config = _config(rfc_corpus, workplace, tmp_path / "out", expected=tmp_path / "none.json")
    with pytest.raises(ConfigError, match=r"none.json: unreadable \(FileNotFoundError\)"):
        report.run(config)
    assert not (tmp_path / "out").exists()


def _kept(rfc_corpus, tmp_path):
    """Return a place with rows a, fitted, and b, with seeds, and the report that kept them."""
    store, place = CorpusStore(rfc_corpus), tmp_path / "first"
    for name, gain in (("a", 0.2), ("b", 0.5), ("b-seed-2", 0.4)):
        _write_run(place, name, _rank(store, "test", gain, len(name)))
    _write_row(place, "a", order=1)
    _write_row(place, "b", order=2)
    ended = {"seconds": 12.5, "cpu_seconds": 20, "peak_mib": 345, "exit_code": 0, "cores": 2}
    (place / "out" / "cost" / "rfc").mkdir(parents=True)
    record = json.dumps({"step": "retrieve", **ended})
    (place / "out" / "cost" / "rfc" / "b.jsonl").write_text(record + "\n")
    report.run(_config(rfc_corpus, place, place / "report", kept=tmp_path / "kept.jsonl"))
    return place


def test_rows_of_another_machine_are_as_if_they_had_been_made_here(
    rfc_corpus, no_plots, monkeypatch, tmp_path
):
    monkeypatch.setattr(plots, "plot_cost", lambda *_: b"")
    place = _kept(rfc_corpus, tmp_path)
    lines = map(json.loads, (tmp_path / "kept.jsonl").read_text().splitlines())
    assert [line["name"] for line in lines] == ["a", "b", "b-seed-2"]
    here = tmp_path / "here"
    shutil.copytree(place / "rows", here / "rows")
    shutil.copytree(place / "out" / "trec" / "rfc" / "a", here / "out" / "trec" / "rfc" / "a")
    report.run(_config(rfc_corpus, here, here / "report", kept=tmp_path / "kept.jsonl"))
    ours, theirs = (
        json.loads((each / "report" / "report.json").read_text().replace(str(here), str(place)))
        for each in (here, place)
    )
    line = "Measured earlier, on these very queries: b, two seeds."
    assert (line in ours["caption"], line in theirs["caption"]) == (True, False)
    ours["caption"].remove(line)
    assert ours == theirs  # seeds, remarks and self-citation among it
    assert ours["seeds"]["b"]["num_seeds"] == 2
    costs = [(each / "report" / "cost.json").read_text() for each in (here, place)]
    assert costs[0] == costs[1] and json.loads(costs[0])["b"]["peak_mib"] == 345
    shutil.rmtree(here / "out")  # and of none of the runs
    report.run(_config(rfc_corpus, here, here / "none", kept=tmp_path / "kept.jsonl"))
    none = json.loads((here / "none" / "report.json").read_text())
    assert none["tables"] == theirs["tables"]
    assert "Measured earlier, on these very queries: a, one seed; b, two seeds." in none["caption"]


def test_a_kept_row_of_other_settings_is_remarked_and_what_is_made_anew_is_kept_anew(
    rfc_corpus, no_plots, monkeypatch, tmp_path
):
    monkeypatch.setattr(plots, "plot_cost", lambda *_: b"")
    place = _kept(rfc_corpus, tmp_path)
    shutil.rmtree(place / "out" / "trec")
    _write_row(place, "b", settings={"window": 3}, order=2)
    report.run(_config(rfc_corpus, place, place / "second", kept=tmp_path / "kept.jsonl"))
    rows = json.loads((place / "second" / "report.json").read_text())["rows"]
    remarks = {row["name"]: row["remarks"] for row in rows}
    remark = "measured earlier with other settings than these of b"
    assert remark in remarks["b"] and f"seed 2: {remark}" in remarks["b"]
    assert remark.replace("b", "a") not in remarks["a"]
    a, before, _ = (tmp_path / "kept.jsonl").read_text().splitlines(keepends=True)
    _write_run(place, "b", _rank(CorpusStore(rfc_corpus), "test", 0.3, 9))
    report.run(_config(rfc_corpus, place, place / "third", kept=tmp_path / "kept.jsonl"))
    now = (tmp_path / "kept.jsonl").read_text().splitlines(keepends=True)
    assert (now[0], len(now)) == (a, 3) and now[1] != before
    report.run(_config(rfc_corpus, place, place / "third", kept=tmp_path / "kept.jsonl"))  # reused
    (tmp_path / "kept.jsonl").write_text("".join(now) + before)  # what it was made from is another
    with pytest.raises(OutputError, match="was made with another"):
        report.run(_config(rfc_corpus, place, place / "third", kept=tmp_path / "kept.jsonl"))


def test_a_kept_row_serves_distinct_queries_and_all_of_them(
    rfc_corpus, no_plots, monkeypatch, tmp_path
):
    monkeypatch.setattr(plots, "plot_cost", lambda *_: b"")
    place = _kept(rfc_corpus, tmp_path)
    report.run(_config(rfc_corpus, place, place / "all", queries="all"))
    shutil.rmtree(place / "out" / "trec")
    config = _config(rfc_corpus, place, place / "kept", queries="all", kept=tmp_path / "kept.jsonl")
    report.run(config)
    kept, own, distinct = (
        json.loads((place / name / "report.json").read_text()) for name in ("kept", "all", "report")
    )
    assert kept["tables"] == own["tables"] != distinct["tables"]
    assert own["self_citation"] and not kept["self_citation"]  # its means are of distinct ones


def test_a_kept_row_of_another_split_is_refused(rfc_corpus, no_plots, monkeypatch, tmp_path):
    monkeypatch.setattr(plots, "plot_cost", lambda *_: b"")
    place = _kept(rfc_corpus, tmp_path)
    with pytest.raises(RunError, match=r"l, a: found a result of split test, queries \w+; expect"):
        report.run(
            _config(rfc_corpus, place, place / "valid", split="valid", kept=tmp_path / "kept.jsonl")
        )


def test_without_any_run_the_error_says_where_it_looked(rfc_corpus, workplace, tmp_path):
    with pytest.raises(ConfigError, match=r"none of 3 rows was run on rfc \(looked for .*run"):
        report.run(_config(rfc_corpus, workplace, tmp_path / "out", split="valid"))
    assert not (tmp_path / "out").exists()


def test_without_rows_of_the_task_the_error_says_so(rfc_corpus, workplace, tmp_path):
    with pytest.raises(ConfigError, match="found no row of task global for rfc"):
        report.run(_config(rfc_corpus, workplace, tmp_path / "out", task="global"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "nobody#1 Q0 RFC2119 1 1 t",
            r"found none of the \d+ queries of the qrels, but 'nobody#1'",
        ),
        ("{query} Q0 RFC0 1 1 t", r"unknown paper ids \('RFC0'\)"),
    ],
)
def test_a_run_of_another_corpus_is_refused(rfc_corpus, tmp_path, line, message):
    query = CorpusStore(rfc_corpus).contexts("test").query_ids[0]
    _write_row(tmp_path, "other")
    (tmp_path / "out/trec/rfc/other").mkdir(parents=True)
    (tmp_path / "out/trec/rfc/other/test.run").write_text(line.format(query=query) + "\n")
    with pytest.raises(RunError, match=message):
        report.run(_config(rfc_corpus, tmp_path, tmp_path / "report"))


def test_claims_and_tables_of_papers_stand_beside_our_rows(
    rfc_corpus, workplace, no_plots, tmp_path
):
    claim = {"paper": "P", "claim": "Better is above chance.", "measure": "MAP@10"}
    claims = {
        "found": {**claim, "better": "better", "than": "chance"},
        "absent": {**claim, "better": "absent", "than": "chance", "subset": "P>=2"},
        "later": {**claim, "better": "better", "than": "planned"},
    }
    line = {"title": "A", "row": "better", "printed": [12.34]}
    table = {
        **{"paper": "P", "title": "Table 1", "columns": ["MAP@10 P>=1"], "rows": [line]},
        "baselines": [{"title": "B", "row": "chance"}],
    }
    (tmp_path / "claims.yaml").write_text(json.dumps(claims))
    tables = {"here": {**table, "corpora": ["rfc"]}, "elsewhere": {**table, "corpora": ["acl"]}}
    (tmp_path / "tables.yaml").write_text(json.dumps(tables))
    options = {"claims": tmp_path / "claims.yaml", "paper_tables": tmp_path / "tables.yaml"}
    report.run(_config(rfc_corpus, workplace, tmp_path / "report", **options))
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    reasons = {each["name"]: each["reason"] for each in found["claims"]}
    # both rows are trained ones, and there is one run of each
    assert reasons == {"found": "one seed"}
    main = found["tables"]["main"]["scores"]["better"]["MAP@10 P>=1"]
    assert found["claims"][0]["difference"] == pytest.approx(main["difference"], abs=1e-6)
    assert list(found["paper_tables"]) == ["here"]
    assert "(rfc, split by year)" in found["paper_tables"]["here"]["title"]
    text = (tmp_path / "report" / "report.txt").read_text()
    assert "A, printed" in text and "12.34" in text and "Better is above chance" in text
    del claims["later"]
    (tmp_path / "claims.yaml").write_text(json.dumps(claims))
    with pytest.raises(OutputError, match="was made with another inputs"):
        report.run(_config(rfc_corpus, workplace, tmp_path / "report", **options))
