"""How a knob of a configuration is declared: default, bounds, help and the trainings it is for."""

import dataclasses
from typing import Any

from mpbert.foundation.errors import ConfigError

PRETRAIN, FINETUNE = STAGES = ("pretrain", "finetune")


def knob(
    default: object,
    help_text: str,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    stages: tuple[str, ...] = STAGES,
) -> Any:
    """Return a field of a section.

    :param least: smallest number; ``most`` the largest; None: any.
    :param choices: what a text may be; empty: anything.
    :param stages: trainings that have this knob; none: the binary corpus gives the value.
    """
    bounds = {"help": help_text, "least": least, "most": most, "choices": choices}
    about = {**bounds, "stages": stages}
    return dataclasses.field(default=default, metadata=about)


class Section:
    """A part of a configuration, whose values are checked when it is made."""

    def __post_init__(self) -> None:
        """Check every value against the bounds of its field.

        :raises ConfigError: one is outside.
        """
        for field in dataclasses.fields(self):
            if "help" in field.metadata:
                _check(field, getattr(self, field.name))


def _check(field: dataclasses.Field, value: object) -> None:
    least, most, choices = (field.metadata[key] for key in ("least", "most", "choices"))
    if choices and value not in choices:
        raise ConfigError(
            f"{field.name} is {value!r}; expected one of {', '.join(sorted(choices))}"
        )
    too_small = least is not None and not value >= least
    if too_small or (most is not None and not value <= most):
        bounds = [f"at least {least:g}"] if least is not None else []
        bounds += [f"at most {most:g}"] if most is not None else []
        raise ConfigError(f"{field.name} is {value}; expected {' and '.join(bounds)}")
