"""What a reranker has learnt of its features: told in the log, kept in a file, and remarked.

The file ``learnt.json`` holds what the numbers are, ``weight`` or ``gain``, and a pair of name and
number for each feature, in the order of the features.
"""

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

FILE = "learnt.json"
_DIGITS = 5
_MOST = 6  # features of a remark
logger = logging.getLogger(__name__)


def tell_learnt(what: str, names: Sequence[str], values: np.ndarray) -> None:
    """Tell the values that are not 0 in the log, the largest first."""
    for place in _by_size(values):
        value = round(float(values[place]), _DIGITS)
        if not value:
            break
        fields = {"feature": names[place], what: value}
        logger.info("%s of %s: %g", what, names[place], value, extra={"fields": fields})


def write_learnt(
    directory: Path, what: str, names: Sequence[str], values: np.ndarray, file: str = FILE
) -> None:
    """Write the file.

    :param what: of each feature, such as ``weight``.
    :param names: (F,), ``values`` (F,).
    :param file: its name, for a part of the reranker that is not remarked.
    """
    pairs = [
        [name, round(float(value), _DIGITS)] for name, value in zip(names, values, strict=True)
    ]
    text = json.dumps({"what": what, "features": pairs}, ensure_ascii=False, indent=1)
    (directory / file).write_text(text + "\n", encoding="utf-8")


def remark_on_learnt(directory: Path) -> list[str]:
    """Return one sentence on the largest values in the folder of a run; none without the file."""
    path = directory / FILE
    if not path.is_file():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    names = [name for name, _ in found["features"]]
    values = np.array([value for _, value in found["features"]])
    largest = [f"{names[place]} {values[place]:.3g}" for place in _by_size(values)[:_MOST]]
    return [f"largest {found['what']}s of its {len(names)} features: {', '.join(largest)}"]


def _by_size(values: np.ndarray) -> np.ndarray:
    return np.argsort(-np.abs(values), kind="stable")
