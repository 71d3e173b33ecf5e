"""How long rows will take yet, and how often that reads what they took."""

import json
from pathlib import Path

from mpbert.experiments import remaining
from mpbert.experiments.cost import append_record
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.outputs import output_of
from mpbert.experiments.remaining import Remaining
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.steps import steps_of
from mpbert.experiments.tuning import Tuned

NAMES = ("a", "b", "c")


def _experiment(root):
    rows = [parse_row(name, {"title": name, "method": "chance"}, name) for name in NAMES]
    return Experiment.of(rows, Path("rfc"), Layout(root), Tuned(), Path())


def _took(experiment, variant, seconds):
    path = experiment.cost(variant)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"seconds": seconds, "cpu_seconds": 1.0, "peak_mib": 9, "cores": 1, "exit_code": 0}
    steps = [(step.name, str(output_of(step))) for step in steps_of(experiment, variant)]
    lines = [json.dumps({"step": name, "output": output, **record}) for name, output in steps]
    path.write_text("\n".join(lines))


def test_costs_are_read_once_and_again_of_a_row_that_has_ended(tmp_path, monkeypatch):
    experiment, read = _experiment(tmp_path), []

    def cost_of(*of):
        read.append(of[1].name)
        return found(*of)

    found = remaining.cost_of
    monkeypatch.setattr(remaining, "cost_of", cost_of)
    planned = [experiment.variant(name, seed) for seed in (1, 2) for name in NAMES]
    a, b = planned[:2]
    _took(experiment, a, 10.0)
    left = Remaining(experiment, planned)
    assert read == [variant.name for variant in planned]
    left.end(a)
    steps = steps_of(experiment, b)
    # a row of both seeds takes 20 s, the others what is known on average
    assert left.seconds(b, steps, 0.0) == left.seconds(b, steps, 0.0) == (5 * 20.0, 0)
    _took(experiment, b, 20.0)
    left.end(b)
    assert read[len(planned) :] == ["a", "b"]
    assert left.seconds(planned[2], steps_of(experiment, planned[2]), 0.0) == (30 + 20 + 40 + 30, 0)


def test_steps_of_one_name_are_told_apart_by_their_outputs(tmp_path):
    lists = {"method": "nnrank", "inputs": ["b"], "training": {"row": "b", "parts": 2}}
    rows = {"b": {"method": "bm25"}, "x": lists}
    parsed = [parse_row(name, {"title": name, **row}, name) for name, row in rows.items()]
    experiment = Experiment.of(parsed, Path("rfc"), Layout(tmp_path), Tuned(), Path())
    variant = experiment.variant("x")
    steps = steps_of(experiment, variant)
    assert len({step.name for step in steps}) < len(steps)
    path = experiment.cost(variant)
    path.parent.mkdir(parents=True)
    record = {"cpu_seconds": 1.0, "peak_mib": 9, "cores": 1, "exit_code": 0}
    for number, step in enumerate(steps):
        told = {"step": step.name, "output": str(output_of(step)), "seconds": 2.0**number}
        append_record(path, {**told, **record})
    left = Remaining(experiment, [variant])
    assert left.seconds(variant, steps, 0.0) == (2.0 ** len(steps) - 1, 0)
    assert left.seconds(variant, steps[1:2], 0.0) == (2.0, 0)


def test_rows_that_are_made_at_once_share_what_is_left_and_none_takes_less_than_its_own(tmp_path):
    experiment = _experiment(tmp_path)
    planned = [experiment.variant(name) for name in NAMES]
    for variant, seconds in zip(planned, (10.0, 20.0, 100.0), strict=True):
        _took(experiment, variant, seconds)
    left = Remaining(experiment, planned, at_once=2)
    first, steps = planned[0], steps_of(experiment, planned[0])
    assert left.seconds(first, steps, 0.0) == ((20 + 40 + 200) / 2, 0)
    last, its_steps = planned[2], steps_of(experiment, planned[2])
    left.end(planned[1])
    assert left.seconds(last, its_steps, 0.0) == (200, 0)
    left.end(last)
    assert left.seconds(first, steps, 0.0) == (20, 0)


def test_a_row_of_a_method_that_was_never_made_is_counted_and_not_guessed(tmp_path):
    rows = {"a": {"method": "chance"}, "b": {"method": "chance"}, "c": {"method": "bm25"}}
    parsed = [parse_row(name, {"title": name, **row}, name) for name, row in rows.items()]
    experiment = Experiment.of(parsed, Path("rfc"), Layout(tmp_path), Tuned(), Path())
    planned = [experiment.variant(name) for name in rows]
    steps = steps_of(experiment, planned[1])
    assert Remaining(experiment, planned).seconds(planned[1], steps, 0.0) == (0, 3)
    _took(experiment, planned[0], 10.0)
    left = Remaining(experiment, planned)
    left.end(planned[0])
    assert left.seconds(planned[1], steps, 0.0) == (20.0, 1)
    assert left.seconds(planned[2], steps_of(experiment, planned[2]), 0.0) == (20.0, 1)
