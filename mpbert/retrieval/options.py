"""Options of several commands that rank papers; each is declared once."""

from typing import Any

from mpbert.foundation.config import option

POOLS = ("known", "all")
COSINE, DOT = SIMILARITIES = ("cosine", "dot")


def pool_option() -> Any:
    """Return the field of ``--pool``, the same in every command that has it."""
    return option(
        POOLS[0], "candidates: papers of the manuscript's year or earlier, or all", choices=POOLS
    )
