"""Paths that a command was given are looked at before it reads any of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.objects import url_of

_LONGEST_NAME, _LONGEST_PATH = 255, 4096  # bytes, on Linux


def check_paths(values: Mapping[str, Any], takes_urls: bool) -> None:
    """Refuse names that fail where it is asked whether the file exists, or where it is noted.

    :param values: of the fields, before the configuration is made of them: it may read files.
    :param takes_urls: whether the command does; otherwise these are refused, too.
    :raises ConfigError: one can be no path, or is a URL that is not taken.
    """
    for name, value in values.items():
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(path, Path):
                check_path(name, path, takes_urls)


def check_path(name: str, path: Path, takes_urls: bool) -> None:
    """Refuse one name, see :func:`check_paths`.

    :param name: of the field, or of the option, as messages call it.
    :raises ConfigError: it can be none, or is a URL that is not taken.
    """
    if not _can_be_a_file(path):
        raise ConfigError(
            f"{name}: found {str(path)[:60]!a}..., a name too long, with NUL or not "
            f"UTF-8; expected a path"
        )
    if not takes_urls and (url := url_of(path)):
        what = "this option" if name == "--config" else "this command"
        raise ConfigError(
            f"{name}: found the URL {url[:200]!a}; {what} expects a path of this machine: copy it "
            f"here first, or copy the output there afterwards"
        )


def _can_be_a_file(path: Path) -> bool:
    try:
        name = str(path).encode()
    except UnicodeEncodeError:
        return False
    longest = max(map(len, name.split(b"/")))
    return longest <= _LONGEST_NAME and len(name) < _LONGEST_PATH and b"\0" not in name
