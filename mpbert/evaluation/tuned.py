"""What a report says of tuning: what each row might spend, and what was chosen for it."""

from collections.abc import Mapping
from dataclasses import dataclass

SettingValue = int | float | str
Settings = Mapping[str, SettingValue]


@dataclass(frozen=True)
class Budget:
    """What each row may spend.

    :param cpu_hours: of all trials of a row; the first one may take more.
    :param measure: the mean of which is to be largest, over the queries that are ranked.
    :param queries: task to the number of queries of the split that are ranked, a fixed sample.
    :param of: task to the number of queries there are.
    :param pool: candidates of a query, ``known`` or ``all``.
    :param start: corpus whose chosen settings are tried first; empty: none.
    """

    cpu_hours: float
    measure: str
    split: str
    queries: Mapping[str, int]
    of: Mapping[str, int]
    pool: str = "known"
    start: str = ""


@dataclass(frozen=True)
class TunedRow:
    """What tuning chose for a row.

    :param settings: those that go over the row's own; empty where these were the best.
    :param score: of the chosen settings.
    :param default: score of the row's own settings; None: they failed, or were not tried.
    :param trials: number of settings that were tried, ``failed`` ones among them.
    :param space_size: number of settings there are to try, the row's own among them.
    :param cpu_hours: that the trials took.
    :param most: trials that it might have; None: as many as the budget had room for.
    """

    settings: Settings
    score: float
    default: float | None
    trials: int
    space_size: int
    cpu_hours: float
    failed: int = 0
    most: int | None = None
