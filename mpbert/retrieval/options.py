"""Options of several commands that rank papers; each is declared once."""

from collections.abc import Sequence
from typing import Any

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.config import option
from mpbert.foundation.errors import ConfigError

POOLS = ("known", "all")
COSINE, DOT = SIMILARITIES = ("cosine", "dot")


def pool_option() -> Any:
    """Return the field of ``--pool``, the same in every command that has it."""
    return option(
        POOLS[0], "candidates: papers of the manuscript's year or earlier, or all", choices=POOLS
    )


def known_option(
    told: str = "splits whose contexts say what cites a paper; those before the one that is asked",
) -> Any:
    """Return the field of ``--known``.

    :param told: in ``--help``.
    """
    return option(("train",), told, nargs="+", choices=SPLITS)


def check_known(known: Sequence[str], splits: Sequence[str]) -> None:
    """Refuse to ask for contexts that papers are read with: they would find what they cite.

    :raises ConfigError: a split is among those that are known.
    """
    for split in sorted(set(known) & set(splits)):
        raise ConfigError(
            f"--splits {split}: its contexts are known (--known {' '.join(known)}), and would find "
            f"what they cite; expected other splits"
        )
