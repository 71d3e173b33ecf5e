"""An encoder directory that reads texts which stand in no corpus: one interface, two makers.

A token bag is read with numpy (:mod:`mpbert.model.bag_reader`). An encoder with a sentence or
document level is run by torch (:mod:`mpbert.model.level_reader`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.model.bag_reader import BagReader
from mpbert.model.description import EncoderDescription

if TYPE_CHECKING:  # torch, which a bag needs not
    from mpbert.model.level_reader import LevelReader


def open_text_encoder(path: Path, description: EncoderDescription) -> "BagReader | LevelReader":
    """Return what reads texts with an encoder.

    :param description: of the encoder directory ``path``.
    :raises EncoderError: the encoder is damaged.
    :raises ModuleNotFoundError: it has levels, and a package that runs them is not installed.
    """
    if description.is_bag:
        return BagReader(path, description)
    from mpbert.model.level_reader import LevelReader  # torch, a second or two

    return LevelReader(path, description)
