"""What a step is told that runs beside others."""

import pytest

from mpbert.experiments import processes
from mpbert.experiments.measured import Stop
from mpbert.experiments.processes import Beside, execute
from mpbert.experiments.steps import Step
from mpbert.foundation.errors import StoppedError


def test_a_step_beside_others_has_its_share_of_threads_unless_it_was_given_a_number(monkeypatch):
    found = []
    monkeypatch.setattr(processes, "run_measured", lambda *words, **_: found.append(words[1]))
    names = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    step = Step("retrieve", ("retrieve", "corpus", "output"))
    for beside in (Beside("a", 3, Stop()), None):
        execute(step, beside=beside)
    given = [[environment.get(name) for name in names] for environment in found]
    assert given == [["7", "3", "3"], ["7", None, None]]


def test_a_step_whose_turn_comes_after_the_end_was_asked_for_is_not_begun(tmp_path):
    stop = Stop()
    stop.ask()
    step = Step("retrieve", ("retrieve", "corpus", str(tmp_path / "out"), "--lexical", "bm25"))
    with pytest.raises(StoppedError, match="stopped; run this again"):
        execute(step, tmp_path / "log", Beside("a", 1, stop))
    assert not (tmp_path / "log").exists()
