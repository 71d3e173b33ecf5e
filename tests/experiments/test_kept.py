import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from mpbert.corpus.trec import Qrels
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.reliability import reliability
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.kept import KeptRun, KeptRuns, recipe_of, subject_of
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import OutputError, RunError

SUBJECT = {"corpus": "rfc", "split": "test", "task": "local", "depth": 100, "queries": "ab" * 8}
COST = RowCost(1.5, None, 2.5, 300, 4, 2)


def _run(num_queries=50, depth=100, seed=1, rate=0.01):
    rng = np.random.default_rng(seed)
    depths = rng.integers(0, depth + 1, num_queries)
    hits = (rng.random((num_queries, depth)) < rate) & (np.arange(depth) < depths[:, None])
    hits[0, -1], depths[0] = True, depth  # the last rank
    own = SelfCitation(np.array([1, 10]), *np.arange(6.0).reshape(3, 2))
    sure = reliability(rng.random(num_queries), hits[:, 0])
    about = {"k1": 2.5}, {"a": "12"}, ("a – remark",)
    return KeptRun(Judged(hits, depths), *about, own, COST, reliability=sure)


@pytest.mark.parametrize("depth", [100, 1000])
def test_what_is_kept_comes_back(tmp_path, depth):
    run, subject = _run(depth=depth), {**SUBJECT, "depth": depth}
    path = tmp_path / "new" / "rfc.jsonl"
    KeptRuns(path).put("a", run, subject)
    found = KeptRuns(path).read("a", subject)
    assert np.array_equal(found.judged.hits, run.judged.hits)
    assert np.array_equal(found.judged.depths, run.judged.depths)
    for key in ("cutoffs", "mean_rank", "best_rank", "share"):
        kept, own = (getattr(each.self_citation, key) for each in (found, run))
        assert np.array_equal(kept, own)
    for key, own in vars(run.reliability).items():
        np.testing.assert_array_equal(getattr(found.reliability, key), own)
    assert (found.settings, found.recipe, found.remarks) == ({"k1": 2.5}, {"a": "12"}, run.remarks)
    assert found.cost == COST == KeptRuns(path).cost("a")
    KeptRuns(path).put("b", KeptRun(run.judged), subject)
    found = KeptRuns(path).read("b", subject)
    assert (found.self_citation, found.reliability, found.cost) == (None, None, None)
    assert "a" in KeptRuns(path) and "c" not in KeptRuns(path)
    assert {each.name for each in path.parent.iterdir()} == {path.name}


def test_the_same_results_have_the_same_bytes_and_few_of_them(tmp_path):
    runs = {name: _run(16_000, seed=seed, rate=0.015) for seed, name in enumerate("ab")}
    for path, names in ((tmp_path / "1.jsonl", "aba"), (tmp_path / "2.jsonl", "ba")):
        for name in names:
            KeptRuns(path).put(name, runs[name], SUBJECT)
    first, second = ((tmp_path / name).read_bytes() for name in ("1.jsonl", "2.jsonl"))
    assert first == second and first.count(b"\n") == 2
    assert len(first) < 2 * 75_000  # drawn ranks and depths hardly shrink


def test_of_two_lines_of_one_name_the_last_one_counts(tmp_path):
    path = tmp_path / "rfc.jsonl"
    lines = []
    for seed in (1, 2):
        KeptRuns(path).put("a", _run(seed=seed), SUBJECT)
        lines.append(path.read_text())
    path.write_text("".join(lines))
    found = KeptRuns(path).read("a", SUBJECT)
    assert np.array_equal(found.judged.hits, _run(seed=2).judged.hits)


@pytest.mark.parametrize("key", sorted(SUBJECT))
def test_a_result_of_something_else_is_refused(tmp_path, key):
    path = tmp_path / "rfc.jsonl"
    KeptRuns(path).put("a", _run(), SUBJECT)
    other = {**SUBJECT, key: 99 if key == "depth" else "cd" * 8}
    with pytest.raises(RunError) as error:
        KeptRuns(path).read("a", other)
    wanted = str(other[key])[:12]
    text = f"{path}, a: found a result of {key} {str(SUBJECT[key])[:12]}; expected {key} {wanted}: "
    assert str(error.value).startswith(text)


def _changed(**values):
    """Return what changes keys of a line."""
    return lambda line: json.dumps({**json.loads(line), **values}) + "\n"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: "no JSON\n",
        lambda line: "[1]\n",
        lambda line: "{}\n",
        lambda line: line[: len(line) // 2] + "\n",
        lambda line: json.dumps({"name": "a"}) + "\n",
        _changed(ranks="no rank"),
        _changed(ranks=base64.b85encode(zlib.compress(b"x" * 100)).decode()),
        _changed(queries=49),
        _changed(queries=0),
        _changed(queries=[]),
        _changed(subject={**SUBJECT, "depth": 99}),
        _changed(cost={"seconds": 1}),
        _changed(self_citation=[1]),
    ],
)
def test_a_spoiled_line_is_refused_in_one_line(tmp_path, spoil):
    path = tmp_path / "rfc.jsonl"
    KeptRuns(path).put("a", _run(), SUBJECT)
    path.write_text(spoil(path.read_text()))
    place = r"rfc.jsonl, (line 1|a): unreadable \(\w+\); expected a line that report --kept wrote"
    with pytest.raises(RunError, match=place):
        KeptRuns(path).read("a", {})


def test_every_flipped_byte_is_read_or_refused(tmp_path):
    path = tmp_path / "rfc.jsonl"
    KeptRuns(path).put("a", _run(), SUBJECT)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        try:
            KeptRuns(path).read("a", SUBJECT)
        except RunError as error:
            assert "\n" not in str(error)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"l: cannot be written .* another file for --kept"):
        KeptRuns(tmp_path / "file" / "rfc.jsonl").put("a", _run(), SUBJECT)


def test_a_subject_tells_queries_citations_and_papers_apart():
    def subject(queries=("a#1", "b#1"), codes=(0, 1, 2), papers=("x", "y", "z"), training=("c#1",)):
        qrels = Qrels(list(queries), np.array([0, 2, 3]), ["x", "y", "z"], np.array(codes))
        return subject_of("rfc", "test", "local", 100, qrels, papers, training)

    assert subject() == subject(codes=(1, 0, 2))  # the order of cited papers is nothing
    others = [
        subject(queries=("b#1", "a#1")),
        subject(codes=(0, 2, 1)),
        subject(papers=("x", "y")),
        subject(training=("c#2",)),
    ]
    assert all(other != subject() for other in others)


def test_a_recipe_changes_with_settings_of_the_row_and_of_what_it_needs(tmp_path):
    def recipe(k1=2, note="", dim=64, weight=1, **row):
        (tmp_path / "finetune" / "configs").mkdir(parents=True, exist_ok=True)
        (tmp_path / "finetune" / "configs" / "bag.yaml").write_text(f"dim: {dim} # {note}\n")
        contents = {
            "words": {"method": "bm25", "settings": {"k1": k1}, "note": note},
            "bag": {"method": "mp_bert4cr", "config": "bag"},
            "other": {"method": "bm25", "settings": {"k1": weight}},
            "fused": {"method": "fusion", "inputs": ["words", "bag"], **row},
        }
        rows = [parse_row(name, {"title": "x", **c}, name) for name, c in contents.items()]
        tuned, layout = Tuned(), Layout(Path("out"))
        experiment = Experiment.of(rows, Path("data/rfc"), layout, tuned, tmp_path)
        return recipe_of(experiment, experiment.variant("fused"))

    own = recipe()
    assert list(own) == ["fused", "bag", "words"]
    assert recipe(note="other words", weight=5) == own
    for changed, names in (
        (recipe(k1=3), {"words"}),
        (recipe(dim=65), {"bag"}),
        (recipe(settings={"method": "reciprocal"}), {"fused"}),
    ):
        assert {name for name in own if own[name] != changed[name]} == names


def test_a_recipe_tells_the_encoder_of_sentences_and_the_row_it_starts_from():
    def recipe(**row):
        contents = {
            "bag": {"method": "mp_bert4cr", "config": "bag"},
            "ours": {"method": "mp_bert4cr", "config": "levels", **row},
        }
        rows = [parse_row(name, {"title": "x", **c}, name) for name, c in contents.items()]
        experiment = Experiment.of(rows, Path("data/rfc"), Layout(Path("out")), Tuned(), Path())
        return recipe_of(experiment, experiment.variant("ours"))["ours"]

    rows = ({}, {"sentences": "a/b"}, {"sentences": "a/c"}, {"start": "bag"})
    assert len({recipe(**row) for row in rows}) == len(rows)
