"""Options of several commands that work on rows; each is declared once."""

from pathlib import Path
from typing import Any

from mpbert.foundation.config import option


def tuned_option() -> Any:
    """Return the field of ``--tuned``, see :func:`mpbert.experiments.tuning.tuned_file`."""
    return option(None, "what mpbert tune chose: its file, or a folder of CORPUS.yaml", type=Path)


def configs_option() -> Any:
    """Return the field of ``--configs``; none: those of ``row_files.configs_beside``."""
    return option(
        None,
        "folder with pretrain/configs and finetune/configs; without it, two folders above ROWS",
        type=Path,
    )
