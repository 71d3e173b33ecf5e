"""Options of commands that work on rows or train one; each is declared once."""

from collections.abc import Mapping
from typing import Any

from mpbert.evaluation.tuned import Settings
from mpbert.foundation.config import option

# what ``index`` may train, under the names of its rows -> settings over those of the recipe
TRAINED: Mapping[str, Settings] = {"token_bag": {}, "token_bag_matches": {"exact_matches": True}}
BEST = "token_bag_matches"  # of them, on validation of both corpora


def tuned_option() -> Any:
    """Return the field of ``--tuned``, see :func:`mpbert.experiments.tuning.tuned_file`."""
    return option(None, "what mpbert tune chose: its file, or a folder of CORPUS.yaml")


def configs_option() -> Any:
    """Return the field of ``--configs``; none: those of ``row_files.configs_beside``."""
    return option(
        None,
        "folder with pretrain/configs and finetune/configs; without it, two folders above ROWS; "
        "what lacks there is taken from the package",
    )
