"""Each stage is killed at random moments and started again: the same bytes as if undisturbed."""

import signal

import pytest

from mpbert.foundation.seeding import named_rng


def test_a_killed_stage_starts_again_and_ends_as_if_undisturbed(
    stage_name, stage, workshop, request, capsys
):
    kills = request.config.getoption("--kills") or (20 if request.config.getoption("--all") else 1)
    undisturbed = workshop.place(stage, "undisturbed")
    code, seconds, said = workshop.run(stage, undisturbed)
    assert code == 0, said
    expected = stage.contents(undisturbed)
    rng = named_rng(1, f"kill {stage_name}")
    killed = tries = 0
    while killed < kills and tries < 3 * kills + 7:
        moment = (tries % kills + rng.random()) / kills * seconds  # spread over the whole run
        place = workshop.place(stage, f"killed-{tries}")
        tries += 1
        code, took, said = workshop.run(stage, place, kill_after=moment)
        if code == 0:  # it ended before, since the machine is less busy than it was
            seconds = min(seconds, took)
        killed += code == -signal.SIGKILL
        where = f"killed after {moment:.2f} s of {seconds:.2f}"
        assert code in (-signal.SIGKILL, 0), f"{where}: {said}"
        code, _, said = workshop.run(stage, place)
        assert code == 0 or (code == 2 and stage.done and stage.done in said), f"{where}: {said}"
        assert stage.contents(place) == expected, where
    assert killed, f"in {tries} tries it always ended before"
    with capsys.disabled():
        print(f" {stage_name}: {tries} tries, {killed} killed, all ended the same", end="")


@pytest.mark.exhaustive
def test_a_stage_killed_twice_still_ends_as_if_undisturbed(stage_name, stage, workshop, capsys):
    undisturbed = workshop.place(stage, "undisturbed")
    code, seconds, said = workshop.run(stage, undisturbed)
    assert code == 0, said
    killed = 0
    for turn, parts in enumerate([(0.7, 0.4), (0.4, 0.6), (0.2, 0.3)]):
        place = workshop.place(stage, f"killed-{turn}")
        codes = [workshop.run(stage, place, kill_after=part * seconds)[0] for part in parts]
        killed += codes == [-signal.SIGKILL] * 2
        code, _, said = workshop.run(stage, place)
        assert code == 0 or (code == 2 and stage.done and stage.done in said), said
        assert stage.contents(place) == stage.contents(undisturbed), parts
    assert killed, "it always ended before"
    with capsys.disabled():
        print(f" {stage_name}: killed twice in {killed} of 3 tries, all ended the same", end="")
