"""``fill-tables``: pages of Markdown and results files -> the same pages, their tables filled.

What a marker says: :mod:`mpbert.experiments.page_tables`.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.experiments.page_tables import count_markers, fill_tables
from mpbert.foundation.config import positional
from mpbert.foundation.errors import ConfigError, OutputError


@dataclass(frozen=True)
class Config:
    """Fill the tables of pages from the results files that their markers name."""

    pages: list[Path] = positional(
        "pages", "Markdown pages, such as README.md docs/results/*.md", nargs="+"
    )


def run(config: Config) -> None:
    """Rewrite each page whose tables have changed; print what was done.

    :raises ConfigError: a page or a results file cannot be read, or a marker is wrong.
    :raises OutputError: a page cannot be written.
    """
    texts = {}
    for page in config.pages:  # all of them are made before one is written
        before = _text(page)
        texts[page] = before, filled(page)
    for page, (before, after) in texts.items():
        if after != before:
            try:
                page.write_text(after, encoding="utf-8")
            except OSError as error:
                raise OutputError(
                    f"{page}: cannot be written ({error.strerror}); change its permissions"
                ) from error
        state = "as they were" if after == before else "written"
        print(f"{page}: {count_markers(after)} tables, {state}")


def filled(page: Path) -> str:
    """Return the text of a page with its tables made anew.

    :raises ConfigError: it or a results file cannot be read, or a marker is wrong.
    """

    @functools.cache
    def load(name: str) -> Any:
        path = page.parent / name
        text = _text(path)
        if path.suffix != ".json":
            return text
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: is no JSON ({error}); expected a results file") from error

    return fill_tables(_text(page), load, str(page))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(
            f"{path}: unreadable ({reason}); expected a page, or a results file that one names"
        ) from error
