import io
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mpbert.corpus.trec import Qrels
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.kept import KeptRun, read_kept, recipe_of, subject_of, write_kept
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import OutputError, RunError

SUBJECT = {"corpus": "rfc", "split": "test", "task": "local", "depth": 100, "queries": "ab" * 32}
COST = RowCost(1.5, None, 2.5, 300, 4, 2)


def _run(num_queries=50, depth=100, seed=1, rate=0.01):
    rng = np.random.default_rng(seed)
    depths = rng.integers(0, depth + 1, num_queries)
    hits = (rng.random((num_queries, depth)) < rate) & (np.arange(depth) < depths[:, None])
    hits[0, -1], depths[0] = True, depth  # the last rank
    own = SelfCitation(np.array([1, 10]), *np.arange(6.0).reshape(3, 2))
    return KeptRun(Judged(hits, depths), {"k1": 2.5}, {"a": "12"}, ("a – remark",), own, COST)


@pytest.mark.parametrize("depth", [100, 1000])
def test_what_is_kept_comes_back(tmp_path, depth):
    run, subject = _run(depth=depth), {**SUBJECT, "depth": depth}
    write_kept(tmp_path / "new" / "a.npz", run, subject)
    found = read_kept(tmp_path / "new" / "a.npz", subject)
    assert np.array_equal(found.judged.hits, run.judged.hits)
    assert np.array_equal(found.judged.depths, run.judged.depths)
    for key in ("cutoffs", "mean_rank", "best_rank", "share"):
        kept, own = (getattr(each.self_citation, key) for each in (found, run))
        assert np.array_equal(kept, own)
    assert (found.settings, found.recipe, found.remarks) == ({"k1": 2.5}, {"a": "12"}, run.remarks)
    assert found.cost == COST
    write_kept(tmp_path / "b.npz", KeptRun(run.judged), subject)
    found = read_kept(tmp_path / "b.npz", subject)
    assert (found.self_citation, found.cost, found.remarks) == (None, None, ())


def test_the_same_result_has_the_same_bytes_and_few_of_them(tmp_path, monkeypatch):
    run = _run(16_000, rate=0.015)
    write_kept(tmp_path / "a.npz", run, SUBJECT)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    write_kept(tmp_path / "b.npz", run, SUBJECT)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "a.npz").stat().st_size < 60_000  # drawn ranks and depths hardly shrink
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", "b.npz"}


@pytest.mark.parametrize("key", sorted(SUBJECT))
def test_a_result_of_something_else_is_refused(tmp_path, key):
    path = tmp_path / "a.npz"
    write_kept(path, _run(), SUBJECT)
    other = {**SUBJECT, key: 99 if key == "depth" else "cd" * 32}
    with pytest.raises(RunError) as error:
        read_kept(path, other)
    wanted = str(other[key])[:12]
    text = f"{path}: found a result of {key} {str(SUBJECT[key])[:12]}; expected {key} {wanted}: "
    assert str(error.value).startswith(text)


def _spoiled(content, name, array):
    """Return the bytes of a file with another array in the place of one."""
    with np.load(io.BytesIO(content)) as arrays:
        found = {**arrays, name: array}
    made = io.BytesIO()
    np.savez_compressed(made, **found)
    return made.getvalue()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: b"no archive",
        lambda content: content[: len(content) // 2],
        lambda content: _spoiled(content, "ranks", np.array([1], dtype=np.uint8)),
        lambda content: _spoiled(content, "num_hits", np.ones(50, dtype=np.uint8)),
        lambda content: _spoiled(content, "depths", np.full(50, 101, dtype=np.uint8)),
        lambda content: _spoiled(content, "depths", np.array(["x"] * 50)),
        lambda content: _spoiled(content, "about", np.frombuffer(b"{}", dtype=np.uint8)),
        lambda content: _spoiled(content, "about", np.frombuffer(b"[1", dtype=np.uint8)),
        lambda content: _spoiled(content, "depths", np.array([{}], dtype=object)),
    ],
)
def test_a_spoiled_file_is_refused_in_one_line(tmp_path, spoil):
    path = tmp_path / "a.npz"
    write_kept(path, _run(), SUBJECT)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(RunError, match=r"^.*a.npz: unreadable \(\w+\); expected a file that repor"):
        read_kept(path, SUBJECT)


def test_every_flipped_byte_is_read_or_refused(tmp_path):
    path = tmp_path / "a.npz"
    write_kept(path, _run(), SUBJECT)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        try:
            read_kept(path, SUBJECT)
        except RunError as error:
            assert "\n" not in str(error)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"a.npz: cannot be written .* another folder for --kept"):
        write_kept(tmp_path / "file" / "a.npz", _run(), SUBJECT)


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


def test_parts_of_a_file_bear_no_time(tmp_path):
    write_kept(tmp_path / "a.npz", _run(), SUBJECT)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
