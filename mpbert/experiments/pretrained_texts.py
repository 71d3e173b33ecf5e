"""What ready-made models of rows have read, and whether that may hold what a report measures."""

from collections.abc import Mapping

from mpbert.evaluation.tuned import Settings
from mpbert.experiments.rows import MODEL, Row, with_needs
from mpbert.experiments.steps import setting_words
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.reranking import RERANKERS

_RANDOM = "random:"  # models that start from random weights


def check_pretrained_on(row: Row, settings: Settings) -> None:
    """Check that a row says what its ready-made model has read, and that no other row does.

    :param settings: all that are in force, but for the defaults of the method.
    :raises ConfigError: it does not, or has no such model.
    """
    if row.run:  # nobody here knows its model
        return
    model = _ready_made(row, settings)
    if model and row.pretrained_on is None:
        raise ConfigError(
            f"row {row.name}: its model {model} was trained elsewhere; expected a line "
            f"'pretrained_on: {{texts: ..., holds_test: {{CORPUS: maybe}}}}', what it has read and "
            f"whether that may hold the citations of the test papers"
        )
    if not model and row.pretrained_on is not None:
        raise ConfigError(
            f"row {row.name}: found pretrained_on, but it takes no model that was trained "
            f"elsewhere; leave it out"
        )


def remarks_on_reading(rows: Mapping[str, Row], name: str, corpus: str) -> list[str]:
    """Return a remark for each ready-made model behind a row: its own, and those of what it needs.

    :param rows: by name, in the order of the report.
    """
    needed = with_needs(list(rows.values()), {name})
    read = [rows[each].pretrained_on for each in rows if each in needed]
    known = {found.texts: found.holds_test.get(corpus, "not known") for found in read if found}
    return [
        f"has read {texts}; that may hold citations of the test papers: {answer}"
        for texts, answer in known.items()
    ]


def _ready_made(row: Row, settings: Settings) -> str:
    """Return the name of the model of a row that was trained elsewhere; empty: there is none."""
    families = [family for family in (EMBEDDERS, RERANKERS) if row.method in family.names()]
    if row.method == MODEL:
        return "" if row.tunes_sentences else row.sentences
    if row.vectors or not families:
        return ""
    made = from_settings(families[0][row.method], setting_words(settings), row.method)
    model = str(getattr(made, "model", ""))
    return "" if model.startswith(_RANDOM) else model
