"""Whether what a step makes is there, and was made as it would be made now.

A step is a command line, and its command is asked: its ``Config`` says what the words mean and
where the output goes, its ``inputs_of`` on what the output depends. Commands are found by their
name, as members of registries are.
"""

import importlib
from pathlib import Path
from typing import Any

from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.steps import Step, steps_of
from mpbert.foundation.config import parse_config
from mpbert.foundation.errors import MpbertError, OutputError
from mpbert.foundation.identity import differences
from mpbert.foundation.manifest import is_finished, read_manifest

_COMMANDS = "mpbert.commands"


def output_of(step: Step) -> Path:
    """Return what a step writes."""
    return _config_of(step).output


def is_done(step: Step) -> bool:
    """Return whether the output of a step is finished.

    :raises OutputError: it exists, but was made with other settings or inputs.
    """
    config = _config_of(step)
    inputs = _command_of(step).inputs_of(config)
    return is_finished(config.output, step.words[0], config, inputs)


def differences_of(step: Step) -> list[str]:
    """Return in what the output of a step differs from what would be made now; none if unknown."""
    config = _config_of(step)
    try:
        noted = read_manifest(config.output)
    except MpbertError:
        return []
    return differences(noted, step.words[0], config, _command_of(step).inputs_of(config))


def outdated(experiment: Experiment, variant: Variant) -> str:
    """Return what is wrong with outputs of a row that exist but were made otherwise, or nothing."""
    found: list[Path] = []
    different: list[str] = []
    for step in steps_of(experiment, variant):
        output = output_of(step)
        try:
            if found and output.exists():  # what it was made from has to be made anew
                found.append(output)
            is_done(step)
        except OutputError:
            found.append(output)
            different += [] if different else differences_of(step)
    if not found:
        return ""
    here = Path.cwd()  # a remark that is kept names no folder of this machine
    near = [path.relative_to(here) if path.is_relative_to(here) else path for path in found]
    places = " and ".join(map(str, dict.fromkeys(near)))
    told = f": {', '.join(different)}" if different else ""
    return f"{places}: made with other settings or inputs than these{told} (see config.yaml there)"


def _command_of(step: Step) -> Any:
    return importlib.import_module(f"{_COMMANDS}.{step.words[0].replace('-', '_')}")


def _config_of(step: Step) -> Any:
    return parse_config(_command_of(step).Config, step.words[0], step.words[1:])
