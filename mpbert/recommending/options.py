"""What a recommender may be asked for, by name."""

from mpbert.foundation.errors import ConfigError

RANKERS = ("both", "dense", "words")


def check_ranker(ranker: str) -> None:
    """Refuse what is none of :data:`RANKERS`.

    :raises ConfigError: it is none.
    """
    if ranker not in RANKERS:
        raise ConfigError(f"ranker {ranker!r}: expected one of {', '.join(RANKERS)}")
