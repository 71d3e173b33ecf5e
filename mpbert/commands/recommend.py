"""``recommend``: an index and a manuscript -> ranked papers for each place, and why."""

import dataclasses
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError, ManuscriptError
from mpbert.recommending.manuscripts.files import read_manuscript, read_manuscript_file
from mpbert.recommending.manuscripts.marks import Mention
from mpbert.recommending.manuscripts.sentences import Manuscript, check_places
from mpbert.recommending.recommender import RANKERS, IndexRecommender
from mpbert.recommending.records import Recommendation

FORMATS = ("bibtex", "json", "text")
_SHOWN = 5  # sentences to choose from at a question


@dataclass(frozen=True)
class Config:
    r"""Recommend papers for each \cite{...}, [CITATION], [?] or [@key] of a manuscript.

    Where a manuscript marks no place, a terminal is asked for the sentence that needs a citation.
    """

    index: Path = positional("index", "index made by build-index")
    manuscript: Path = positional(
        "manuscript", "file .tex, .md, .txt or .json, or - for standard input"
    )
    top: int = option(10, "papers per place")
    year: Optional[int] = option(None, "leave out papers of later years; none: keep all")
    ranker: str = option("both", "rank by vectors, by words or by both", choices=RANKERS)
    format: str = option("text", "what to print", choices=FORMATS)

    def __post_init__(self) -> None:
        """Check what argparse cannot."""
        if self.top < 1:
            raise ConfigError(f"--top {self.top}; expected 1 or more")


@dataclass(frozen=True)
class PlaceAnswer:
    """The papers for one place."""

    place: int
    sentence: str
    keys: tuple[str, ...]
    papers: list[Recommendation]


def run(config: Config) -> None:
    """Print the papers, best first.

    :raises ManuscriptError: it cannot be read, or marks no place and nobody can be asked.
    """
    manuscript = _read(config.manuscript)
    recommender = IndexRecommender.open(config.index)
    answers = [
        PlaceAnswer(
            number + 1,
            manuscript.sentences[sentence],
            manuscript.keys[number],
            recommender.recommend_at(
                manuscript, number, config.top, year=config.year, ranker=config.ranker
            ),
        )
        for number, sentence in enumerate(manuscript.places)
    ]
    if config.format == "json":
        print(json.dumps([dataclasses.asdict(a) for a in answers], indent=1, ensure_ascii=False))
    elif config.format == "bibtex":
        ids = dict.fromkeys(paper.paper_id for answer in answers for paper in answer.papers)
        print("\n\n".join(map(recommender.bibtex, ids)))
    else:
        print("\n\n".join("\n".join(_lines(answer, config.year)) for answer in answers))


def _read(path: Path) -> Manuscript:
    if str(path) == "-":
        try:
            text = _read_stdin()
        except UnicodeDecodeError as error:
            raise ManuscriptError(
                f"standard input: byte {error.start} is not UTF-8; pass the text as UTF-8"
            ) from error
        manuscript, name = read_manuscript(text, Path("standard input")), "standard input"
    else:
        manuscript, name = read_manuscript_file(path), str(path)
        if not len(manuscript.places) and manuscript.sentences and sys.stdin.isatty():
            manuscript = _ask(manuscript)
    check_places(manuscript, name)
    return manuscript


def _read_stdin() -> str:
    """Return the text, strictly read: in the locale C Python lets bytes that are no text pass."""
    data = io.BytesIO(sys.stdin.buffer.read())
    return io.TextIOWrapper(data, encoding="utf-8-sig").read()


def _ask(manuscript: Manuscript) -> Manuscript:
    """Ask on the terminal for the sentence that needs a citation, until one is found."""
    print("No place is marked. Which sentence needs a citation?", file=sys.stderr)
    while True:
        print("Some words of it (Enter to stop): ", end="", file=sys.stderr, flush=True)
        words = sys.stdin.readline().strip().casefold()
        if not words:
            return manuscript
        found = [n for n, text in enumerate(manuscript.sentences) if words in text.casefold()]
        if len(found) == 1:
            return dataclasses.replace(manuscript, places=np.array(found), mentions=[(Mention(),)])
        print(f"{len(found)} sentences hold these words; type other ones.", file=sys.stderr)
        for number in found[:_SHOWN]:
            print(f"  {manuscript.sentences[number]}", file=sys.stderr)


def _lines(answer: PlaceAnswer, year: int | None) -> list[str]:
    """Return the text for one place; a year leaves out the papers of later ones."""
    keys = f" [{', '.join(answer.keys)}]" if answer.keys else ""
    lines = [f"place {answer.place}{keys}: {answer.sentence}"]
    if not answer.papers and year is not None:
        lines.append(f"  no paper of the index up to {year} matches this place")
    elif not answer.papers:
        lines.append("  no paper of the index shares a word with this place")
    for rank, paper in enumerate(answer.papers, start=1):
        authors = ", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
        about = ", ".join(part for part in (authors, str(paper.year or "")) if part)
        lines.append(f"{rank:>4}  {paper.score:.4f}  {paper.paper_id}  {paper.title} ({about})")
        for citing in paper.why.citing[:1]:
            lines.append(f"        {citing.citing_id}, {citing.similarity:.2f}: {citing.text}")
        if paper.why.companions:
            companions = [f"{c.paper_id} ({c.count})" for c in paper.why.companions]
            lines.append(f"        cited together with {', '.join(companions)}")
    return lines
