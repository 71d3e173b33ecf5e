"""What a report says of tuning: what each row might spend, and what was chosen for it."""

from collections.abc import Mapping
from dataclasses import dataclass

SettingValue = int | float | str
Settings = Mapping[str, SettingValue]


@dataclass(frozen=True)
class Budget:
    """What each row may spend.

    :param trials: at most, with that of its own settings.
    :param minutes: after which no trial is begun; one that runs is not ended.
    :param measure: the mean of which is to be largest, over all queries of the split.
    :param queries: number of these.
    """

    trials: int
    minutes: float
    measure: str
    split: str
    queries: int


@dataclass(frozen=True)
class TunedRow:
    """What tuning chose for a row.

    :param settings: those that go over the row's own; empty where these were the best.
    :param score: of the chosen settings.
    :param default: score of the row's own settings; None: they failed.
    :param trials: number of settings that were tried, ``failed`` ones among them.
    """

    settings: Settings
    score: float
    default: float | None
    trials: int
    seconds: float
    failed: int = 0
