from types import MappingProxyType

import numpy as np
import pytest
import yaml

from mpbert.evaluation.tuned import Budget, TunedRow
from mpbert.experiments.tuning import (
    Trial,
    Tuned,
    as_plain,
    best_of,
    choose_trials,
    parse_tuned,
    read_tuned,
    still_fits,
    tuned_file,
)
from mpbert.foundation.errors import ConfigError

SPACE = {"k1": (1.2, 2, 3), "b": (0.5, 0.75)}
BUDGET = Budget(0.25, "MAP@10", "valid", {"local": 600, "global": 26}, {"local": 665, "global": 26})


def _choose(seed=1, start=MappingProxyType({})):
    own = {"k1": 2.0, "b": 0.75}
    rng = np.random.default_rng(seed)
    return choose_trials(SPACE, lambda s: tuple({**own, **s}.values()), rng, start)


def test_the_rows_own_settings_come_first_and_no_trial_amounts_to_another():
    trials = _choose()
    assert trials[0] == {}
    assert len({tuple(trial.items()) for trial in trials}) == len(trials) == 6
    assert {"k1": 2, "b": 0.75} not in trials


def test_what_was_chosen_elsewhere_comes_first_and_the_rows_own_settings_next():
    trials = _choose(start={"k1": 9})
    assert trials[:2] == [{"k1": 9}, {}] and len(trials) == 7
    trials = _choose(start={"k1": 3})
    assert trials[:2] == [{"k1": 3}, {}] and {"k1": 3, "b": 0.75} not in trials
    assert _choose(start={"b": 0.75}) == _choose()  # it is the row's own


def test_the_score_of_the_rows_own_settings_is_not_known_where_they_did_not_fit():
    first = Trial({"k1": 9}, 0.3, 36.0)
    assert best_of([first], 9).default is None
    assert best_of([first, Trial({}, 0.2, 36.0)], 9).default == 0.2


def test_a_seed_chooses_the_order_of_the_others():
    assert _choose(3) == _choose(3)
    assert len({str(_choose(seed)) for seed in range(8)}) > 1


def test_another_trial_is_begun_while_one_of_the_mean_cost_fits():
    assert still_fits([], 0)  # the row's own settings, whatever they cost
    assert still_fits([1200, 1200], 1)
    assert not still_fits([1200, 1201], 1)
    assert still_fits([3000, 0], 1.25) and not still_fits([3000], 1.25)


def test_trials_that_run_are_taken_to_cost_what_the_dearest_did():
    assert not still_fits([], 9, running=1)  # what one costs is not known yet
    assert still_fits([900, 900], 1, running=1)
    assert not still_fits([900, 900], 1, running=2)
    assert not still_fits([100, 1700], 1, running=1)


def test_the_best_trial_is_chosen_and_of_equal_ones_the_first():
    trials = [Trial({}, 0.2, 36.0), Trial({"k1": 3}, 0.3, 72.0), Trial({"k1": 1}, 0.3, 18.4)]
    assert best_of(trials, 9) == TunedRow({"k1": 3}, 0.3, 0.2, 3, 9, 0.0351)
    failed = best_of([Trial({}, None, 1.0), trials[1]], 9)
    assert (failed.default, failed.failed) == (None, 1)
    assert best_of([Trial({}, None, 1.0)], 9) is None


def test_the_outcome_survives_its_file_and_is_sorted(tmp_path):
    rows = {name: TunedRow({"k1": 3, "b": 1}, 0.3, None, 6, 9, 7.5, 0, 6) for name in ("z", "a")}
    path = tmp_path / "rfc.yaml"
    path.write_text(yaml.safe_dump(as_plain(Tuned(BUDGET, rows)), sort_keys=False))
    assert path.read_text().index("  a:") < path.read_text().index("  z:")
    assert path.read_text().index("b: 1") < path.read_text().index("k1: 3")
    found = read_tuned(path)
    assert found == Tuned(BUDGET, rows)
    assert (found.settings("a"), found.settings("b")) == ({"k1": 3, "b": 1}, {})


def test_without_a_file_nothing_is_tuned(tmp_path):
    assert tuned_file(None, "rfc") is None
    assert read_tuned(None) == Tuned()
    assert tuned_file(tmp_path, "rfc") is None  # a folder of CORPUS.yaml
    (tmp_path / "rfc.yaml").touch()
    assert tuned_file(tmp_path, "rfc") == tmp_path / "rfc.yaml"
    with pytest.raises(ConfigError, match=r"none.yaml: unreadable"):
        read_tuned(tuned_file(tmp_path / "none.yaml", "rfc"))


@pytest.mark.parametrize("text", ["rows: [", "budget: 2020-13-40", "rows: " + "[" * 2000])
def test_a_file_that_is_no_yaml_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "rfc.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"rfc.yaml: unreadable \(.*expected what mpbert tune"):
        read_tuned(tmp_path / "rfc.yaml")


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"budget": {}, "rows": {}},
        {"budget": vars(BUDGET), "rows": {"a": 3}},
        {"budget": {**vars(BUDGET), "queries": 665}, "rows": {}},
        {"budget": {"trials": 4, "minutes": 15, "measure": "MAP@10"}, "rows": {}},  # up to 0.20
    ],
)
def test_a_file_of_something_else_is_refused(content):
    with pytest.raises(ConfigError, match=r"tuned.yaml: found no budget and rows as mpbert tune w"):
        parse_tuned(content, "tuned.yaml")
