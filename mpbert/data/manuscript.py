"""A manuscript in the making: text in which ``[CITATION]`` marks where papers are to be cited."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.data.author_year import find_citations
from mpbert.data.markers import markers_of
from mpbert.data.records import Marker
from mpbert.data.text import MARKER_LIKE, clean_characters, cut_markers, split_sentences
from mpbert.errors import CorpusError

PLACE = "[CITATION]"
_MARK = "\ue000"  # a private character: it stands for the place and survives the cleaning


@dataclass(frozen=True)
class Manuscript:
    """Sentences without citation markers, title first where there is one.

    :param places: (Q,) number of the sentence of each ``[CITATION]``, ascending.
    """

    sentences: list[str]
    places: np.ndarray


def read_manuscript(text: str, name: str) -> Manuscript:
    """Return the manuscript in a text, or in a JSON object with ``title``, ``abstract``, ``text``.

    Citations that are already there are cut out, as in training.

    :param name: what messages call it, such as its path.
    :raises CorpusError: it marks no place, or the JSON is no such object.
    """
    parts = [text]
    if text.lstrip().startswith("{"):
        parts = _parts_of_json(text, name)
    sentences: list[str] = []
    places: list[int] = []
    for part in parts:
        for paragraph in re.split(r"\n\s*\n", part.replace(PLACE, _MARK)):
            for sentence in split_sentences(clean_characters(_without_markers(paragraph))):
                places += [len(sentences)] * sentence.count(_MARK)
                sentences.append(re.sub(rf"\s*{_MARK}", "", sentence).strip())
    if not places:
        raise CorpusError(
            f"{name}: found no {PLACE}; put {PLACE} where papers are to be recommended"
        )
    return Manuscript(sentences, np.array(places))


def read_manuscript_file(path: Path) -> Manuscript:
    """Return the manuscript in a file.

    :raises CorpusError: it cannot be read as UTF-8, or holds no manuscript.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}: byte {error.start} is not UTF-8; save the text as UTF-8"
        ) from error
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror}; expected a text or JSON file") from error
    return read_manuscript(text, str(path))


def _parts_of_json(text: str, name: str) -> list[str]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise CorpusError(f"{name}: starts like JSON but is none ({error}); mend it") from error
    parts = []
    for key in ("title", "abstract", "text"):
        value = content.get(key, "")
        if not isinstance(value, str):
            raise CorpusError(f"{name}: {key!r} is a {type(value).__name__}; expected a string")
        parts.append(value)
    return parts


def _without_markers(text: str) -> str:
    """Cut out whatever is certain to be, or looks like, a citation marker."""
    text = cut_markers(text, markers_of(text, find_citations(text)))
    for pattern in MARKER_LIKE.values():
        text = cut_markers(text, [Marker(*match.span()) for match in pattern.finditer(text)])
    return text
