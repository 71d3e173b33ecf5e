import json

import pytest

from mpbert.experiments.cost import RowCost, append_record, read_records, render_cost, row_cost

STEPS = ["fit", "retrieve"]


def _started(step):
    return {"step": step, "event": "started"}


def _ended(step, seconds, peak=100, code=0):
    return {
        **{"step": step, "seconds": seconds, "cpu_seconds": 2 * seconds, "peak_mib": peak},
        **{"exit_code": code, "cores": 2},
    }


def test_of_a_method_the_last_time_that_each_step_ended_well_counts():
    records = [
        *(_started("fit"), _ended("fit", 50.0, code=-9)),
        *(_started("fit"), _ended("fit", 4.0, 300)),
        _started("retrieve"),  # killed
        *(_started("retrieve"), _ended("retrieve", 1.0)),
    ]
    records.append(_ended("tune", 70.0))
    found = row_cost(records, STEPS)
    assert found == RowCost(4.0, 1.0, 10.0, 300, 4, 2)
    assert found.seconds == 5.0


def test_where_training_resumes_all_attempts_count():
    records = [*(_ended("fit", 50.0, code=-9), _ended("fit", 4.0))]
    records += [_ended("retrieve", 1.0)]
    assert row_cost(records, STEPS, resumes=True) == RowCost(54.0, 1.0, 110.0, 100, 0, 2)


def test_of_our_model_all_times_a_step_ended_count_since_training_resumes():
    records = [_ended("a.sh", 4.0, code=1), _ended("b.sh", 9.0), _ended("a.sh", 3.0)]
    assert row_cost(records, ["a.sh"], resumes=True) == RowCost(7.0, None, 14.0, 100, 0, 2)


def test_a_step_that_was_made_anew_counts_once_with_the_attempts_that_led_to_it():
    records = [*(_ended("fit", 50.0, code=-9), _ended("fit", 4.0, 900), _ended("retrieve", 1.0))]
    records += [*(_ended("fit", 7.0, code=-9), _ended("fit", 5.0), _ended("retrieve", 2.0))]
    assert row_cost(records, STEPS, resumes=True) == RowCost(12.0, 2.0, 28.0, 100, 0, 2)
    records.append(_ended("fit", 80.0, code=-9))  # another making that did not end well
    assert row_cost(records, STEPS, resumes=True) == RowCost(12.0, 2.0, 28.0, 100, 0, 2)


PARTS = [*STEPS, *STEPS, *STEPS, "training lists", "rerank"]


@pytest.mark.parametrize("resumes", [False, True])
def test_the_steps_of_each_part_of_a_training_count(resumes):
    parts = [_ended(step, seconds) for seconds in (3.0, 4.0, 5.0) for step in STEPS]
    records = [*parts, _ended("training lists", 1.0), _ended("rerank", 7.0)]
    found = RowCost(32.0, None, 64.0, 100, 0, 2)  # lists to learn from rank nothing of the row
    assert row_cost(records, PARTS, resumes) == found
    again = [_ended("rerank", 7.0)]
    assert row_cost([*records, *again], PARTS, resumes) == found
    assert row_cost([*records, *records], PARTS, resumes) == found


def test_of_records_that_tell_outputs_the_last_of_each_output_counts():
    def parts(*seconds):
        return [{**_ended("fit", each), "output": f"part {i}"} for i, each in enumerate(seconds)]

    steps = ["fit", "fit", "fit", "rerank"]
    last = _ended("rerank", 1.0)
    records = [*parts(10.0, 20.0, 30.0), last, parts(0, 25.0)[1]]
    assert row_cost(records, steps, resumes=True).make_seconds == 10.0 + 25.0 + 30.0 + 1.0
    older = [_ended("fit", each) for each in (11.0, 21.0, 31.0)]
    assert row_cost([*older, *records], steps).make_seconds == 66.0
    assert row_cost([*older, *parts(10.0), last], steps).make_seconds == 21.0 + 31.0 + 10.0 + 1.0


def test_a_row_saw_a_gpu_where_a_step_of_it_or_of_a_row_that_it_takes_did():
    records = [{**_ended("fit", 3.0), "gpu": True}, {**_ended("retrieve", 1.0), "gpu": False}]
    with_gpu, without = row_cost(records, STEPS), row_cost(records[1:], STEPS[1:])
    assert with_gpu.gpu and not without.gpu
    assert without.with_others([with_gpu]).gpu and with_gpu.with_others([without]).gpu
    assert not without.with_others([without]).gpu


def test_a_row_whose_last_step_did_not_end_well_has_no_cost():
    assert row_cost([_started("retrieve")], STEPS) is None
    assert row_cost([_ended("fit", 3.0), _ended("retrieve", 1.0, code=2)], STEPS) is None
    assert row_cost([_ended("a.sh", 1.0)], ["a.sh", "b.sh --lr 1"]) is None


def test_the_table_fits_100_columns_and_says_what_is_counted():
    rows = [
        ("x", "x" * 40, RowCost(123456.78, 1.0, 1e6, 12345, 12, 16, gpu=True)),
        ("a", "a | b", RowCost(None, 1, 2, 3, 4, 1)),
        ("b", "by hand", None),
    ]
    texts = render_cost(rows)
    lines = texts["txt"].splitlines()
    assert max(map(len, lines)) <= 100
    cells = ["123,456.8", "1.0", "1,000,000.0", "12,345", "16+GPU", "12"]
    assert lines[3].split() == ["x" * 40, *cells]
    assert r"| a \| b | - | 1.0 | 2.0 | 3 | 1 | 4 |" in texts["md"]
    assert lines[5].split() == ["by", "hand", *"------"]
    for text in (texts["txt"], texts["md"]):
        assert "at most 277.8 CPU hours" in text and "Wall seconds" in text
    assert {name: cost["peak_mib"] for name, cost in json.loads(texts["json"]).items()} == {
        "x": 12345,
        "a": 3,
    }


def test_a_record_that_was_cut_short_is_left_out_and_the_next_is_kept(tmp_path):
    path = tmp_path / "cost" / "row.jsonl"
    assert read_records(path) == []
    append_record(path, {"step": "fit"})
    with path.open("a") as file:
        file.write('{"step": "ra')
    append_record(path, {"step": "rank"})
    assert read_records(path) == [{"step": "fit"}, {"step": "rank"}]
