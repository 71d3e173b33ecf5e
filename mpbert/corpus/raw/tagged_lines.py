"""Records whose lines are a tag and a value: RIS, PubMed's nbib, plain text of the Web of Science.

The parser is our own: it tells the line of what is broken, which no library does.
"""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.errors import CorpusError

Tags = dict[str, list[str]]


@dataclass(frozen=True)
class TagForm:
    """How the lines of a format look.

    :param line: matches a line with a tag: its tag, and its value or None.
    :param first: tag that begins a record.
    :param last: tag behind a record; empty: the next one ends it.
    :param outside: tags that may stand between records.
    :param lists: tags whose further lines are values of their own; those of the others go on.
    :param expected: a first line, for messages.
    """

    line: re.Pattern[str]
    first: str
    last: str
    expected: str
    outside: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()


def tagged_records(
    file: Path, text: str, form: TagForm, noted: Counter[str]
) -> Iterator[tuple[str, Tags]]:
    """Yield (place, values by tag) of all records; one that lacks its end ends with the next.

    Lines without a tag between records are left out: databases number their records so.

    :param noted: receives how many these are.
    :raises CorpusError: a line with a tag belongs to no record, or no record begins.
    """
    tags: Tags = {}
    place, tag = "", ""
    wrong: CorpusError | None = None  # of a line before the first record
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        found = form.line.match(line.rstrip())
        is_end = found is not None and found[1] == form.last
        is_first = found is not None and found[1] == form.first
        if (is_end or is_first) and tags:
            yield place, tags
            tags = {}
        if is_first:
            tags, place = defaultdict(list), f"{file}:{number}"
        if not tags and not is_first:
            if found and not is_end and found[1] not in form.outside:
                raise _outside(f"{file}:{number}", line, form)
            if line.strip() and not found:
                noted["lines_between_records"] += 1
                if not place:
                    wrong = wrong or _outside(f"{file}:{number}", line, form)
        elif found:
            tag = found[1]
            tags[tag].append((found[2] or "").strip())
        elif line.strip():
            if tag in form.lists:
                tags[tag].append(line.strip())
            else:
                tags[tag][-1] += f" {line.strip()}"
    if tags:
        yield place, tags
    elif wrong and not place:
        raise wrong


def first_of(tags: Tags, names: tuple[str, ...]) -> str:
    """Return the first value that is not empty, of the first of these tags that has one."""
    return next((value for name in names for value in tags.get(name, ()) if value), "")


def _outside(place: str, line: str, form: TagForm) -> CorpusError:
    return CorpusError(
        f"{place}: found {line.strip()[:40]!a} outside of a record; expected {form.expected}: "
        f"correct the file or export it again"
    )
