"""Values of JSON and table records as they really come: null, of another type, or empty."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mpbert.foundation.errors import CorpusError, printable

_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20|21)\d\d(?!\d)")
_BAD_IN_ID = re.compile("[\\s\ud800-\udfff]")
_TOO_MUCH = (OverflowError, RecursionError)  # of infinity as a whole number; of JSON too deep
_ACL_ID = re.compile(r"[A-Z](\d\d)-\d{4}")
_NEW_ACL_ID = re.compile(r"((?:19|20)\d\d)\.[\w-]+\.\d+")
_ARXIV_ID = re.compile(r"(\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?:v\d+)?|[a-z.-]+/?(\d\d)\d{5}", re.I)


def decode(line: bytes | str) -> dict[str, Any]:
    """Return the JSON object of a line.

    :raises ValueError: it is none.
    """
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError(f"found a {type(found).__name__}, no object")
    return found


@contextmanager
def reading(place: str, expected: str) -> Iterator[None]:
    """Turn what goes wrong within into one line that names the place.

    :param place: ``path:line``.
    :param expected: what a record of the format is.
    :raises CorpusError: a field is missing or of a wrong type.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, *_TOO_MUCH) as error:
        reason = " ".join(str(error).split())
        place = printable(place)  # a key of the file is in it
        raise CorpusError(
            f"{place}: broken record ({type(error).__name__}: {reason}); expected {expected}: "
            f"correct the record or get a fresh copy of the file"
        ) from error


def text_of(value: object) -> str:
    """Return a text; empty for null.

    :raises TypeError: it is neither.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"found {value!r}, expected a text")
    return value.strip()


def printed(value: object) -> str:
    """Return what is written as a text or as a number, such as a volume; empty for all else."""
    return str(value).strip() if isinstance(value, str | int) else ""


def id_of(value: object) -> str:
    """Return an id as text; empty where there is none.

    :raises ValueError: it has white space within, which no id in a TREC file may have.
    """
    if value is None or isinstance(value, bool):
        return ""
    found = str(value).strip()
    if _BAD_IN_ID.search(found):
        raise ValueError(f"found the id {found!r}, expected one without white space")
    return found


def required_id(value: object) -> str:
    """Return an id that must be there.

    :raises ValueError: it is not.
    """
    if not (found := id_of(value)):
        raise ValueError(f"found {value!r} as the id of a paper, expected a text or a number")
    return found


def year_of(value: object) -> int | None:
    """Return a year, also from a date such as ``"2011-11"`` or ``"Mon, 2 Apr 2007"``."""
    found = _YEAR.search(str(value)) if value and not isinstance(value, bool) else None
    return int(found.group()) if found else None


def year_of_id(paper_id: str) -> int | None:
    """Return the year that an id of the ACL Anthology or of arXiv tells: ``P15-1001`` -> 2015."""
    if found := _NEW_ACL_ID.fullmatch(paper_id):
        return int(found[1])
    found = _ACL_ID.fullmatch(paper_id) or _ARXIV_ID.fullmatch(paper_id)
    if found is None:
        return None
    digits = int(next(filter(None, found.groups())))
    return digits + (1900 if digits > 60 else 2000)  # the Anthology begins in 1965


def names_of(authors: object) -> tuple[str, ...]:
    """Return the names of authors: texts, or objects with ``name`` or with parts of a name."""
    return tuple(name for author in authors or () if (name := _name(author)))


def _name(author: object) -> str:
    if not isinstance(author, dict):
        return text_of(author)
    if "name" in author:
        return text_of(author["name"])
    parts = [author.get("first"), *(author.get("middle") or ()), author.get("last")]
    return " ".join(filter(None, map(text_of, [*parts, author.get("suffix")])))
