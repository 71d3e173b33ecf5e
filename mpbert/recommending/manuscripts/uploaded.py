"""A file as a text: its title, its abstract, and its words with a mark at each citation.

``python -m mpbert.recommending.manuscripts.uploaded FILE`` prints it as JSON. A server asks a
process of its own for it, which has a limit of memory: files come from anybody, and may unpack to
more than they seem.
"""

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from mpbert.foundation.errors import MpbertError
from mpbert.recommending.manuscripts.files import draft_at
from mpbert.recommending.manuscripts.marks import MARK, PLACE
from mpbert.recommending.manuscripts.project import root_of
from mpbert.recommending.manuscripts.sites import PANDOC

try:
    import resource
except ImportError:  # Windows
    resource = None

_MOST_MEMORY = 2 << 30  # bytes of addresses, of the process
_GAPS = re.compile(r"(?<![ \t\n])[ \t\n]*\n[ \t]*\n\s*")


@dataclass(frozen=True)
class PlainManuscript:
    """What a writer needs of a file.

    :param text: paragraphs, with ``[CITATION]`` or ``[@key]`` at each citation.
    :param places: how many of these there are.
    """

    title: str
    abstract: str
    text: str
    places: int


def plain_manuscript(path: Path) -> PlainManuscript:
    """Return what a file holds.

    :raises ManuscriptError: it cannot be read.
    :raises ModuleNotFoundError: a package that reads such files is not installed.
    """
    draft = draft_at(root_of(path))

    def shown(mark: re.Match[str]) -> str:
        keys = draft.marks.mention_at(mark[0]).keys
        listed = PANDOC.between.join(map(PANDOC.of_key, keys))
        return f" {PANDOC.before}{listed}{PANDOC.behind}" if keys else f" {PLACE}"

    parts = (draft.title, draft.abstract, draft.text)
    marked = (re.sub(rf"\s*({MARK.pattern})", lambda m: m[1], part) for part in parts)
    title, abstract, text = (MARK.sub(shown, part).strip() for part in marked)
    return PlainManuscript(title, abstract, _GAPS.sub("\n\n", text), len(MARK.findall(draft.text)))


def main(path: Path) -> dict[str, object]:
    """Return what is printed: the manuscript, or ``error``, one line that names no file."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    try:
        return asdict(plain_manuscript(path))
    except (MpbertError, MemoryError) as error:
        return {"error": told(path, error)}


def told(path: Path, error: Exception) -> str:
    """Return one line that does not name the file, whose place is ours."""
    said = re.sub(r"\S*mpbert-\w+/", "", str(error).removeprefix(f"{path}: "))
    return said or "needs too much memory; send the text"


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
