"""``recommend``: an index and a manuscript -> ranked papers for each place, and why."""

import dataclasses
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError, ManuscriptError
from mpbert.recommending.options import RANKERS, Options
from mpbert.retrieval.stores.urls import store_option

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.manuscripts.sentences import Draft, Manuscript
    from mpbert.recommending.places import PlaceAnswer
    from mpbert.recommending.recommender import Recommender

FORMATS = ("bibtex", "json", "text")
_STDIN = Path("standard input")
_SHOWN = 5  # sentences to choose from at a question


@dataclass(frozen=True)
class Config:
    r"""Recommend papers for each \cite{...}, [CITATION], [?] or [@key] of a manuscript.

    Each citation is a place, asked with the clause in front of it. A manuscript that marks no place
    is asked at its end; on a terminal you may name the sentence. With --unmarked, sentences that
    cite nothing are asked.
    """

    index: Path = positional("index", "index made by mpbert index or build-index")
    manuscript: Path = positional(
        "manuscript",
        "file .tex, .md, .qmd, .Rmd, .ipynb, .org, .rst, .typ, .lyx, .txt, .json or .pdf, a LaTeX "
        "project as a folder or .zip, or - for text on standard input",
    )
    top: int = option(Options.top, "papers per place")
    year: Optional[int] = option(Options.year, "leave out papers of later years")
    since: Optional[int] = option(Options.since, "leave out papers of earlier years")
    filter: list[str] = option(
        Options.filters, "papers with these alone: tag:NAME, collection:NAME", nargs="+"
    )
    collection: Optional[str] = option(None, "papers of this collection of the library alone")
    ranker: str = option(Options.ranker, "rank by vectors, by words or by both", choices=RANKERS)
    whole: bool = option(
        False,
        "recommend papers for the whole manuscript, by its title and abstract, not for places",
    )
    unmarked: bool = option(
        False,
        "recommend papers for sentences that probably need a citation and have none, the likeliest "
        "first",
    )
    sentences: int = option(10, "such sentences at most, with --unmarked")
    keep_cited: bool = option(
        False,
        "also list papers that the place, or the whole manuscript, cites already; without it, they "
        "help to rank the others",
    )
    format: str = option("text", "what to print", choices=FORMATS)
    store: str = store_option()

    def __post_init__(self) -> None:
        check_least(self, top=1, sentences=1)
        if self.unmarked and (self.whole or self.keep_cited):
            other = "--whole" if self.whole else "--keep-cited"
            raise ConfigError(f"--unmarked {other}: found both; expected one of them")


def run(config: Config) -> None:
    """Print the papers, best first.

    :raises StoreUnavailableError: the store does not answer.
    :raises ManuscriptError: it cannot be read, or holds no word.
    """
    from mpbert.recommending.places import lines_of

    if config.unmarked:
        _print_unmarked(config)
        return
    recommender, answers = _answers(config)
    if config.format == "json":
        print(json.dumps([a.as_json() for a in answers], indent=1, ensure_ascii=False))
    elif config.format == "bibtex":
        print("\n".join(_bibtex(recommender, answers)))
    else:
        print("\n\n".join("\n".join(lines_of(answer, config.year)) for answer in answers))


def _answers(config: Config) -> "tuple[Recommender, list[PlaceAnswer]]":
    """Return the recommender, and its answer for each place or for the whole manuscript."""
    from mpbert.recommending.bibliography import known_papers
    from mpbert.recommending.manuscripts.project import root_of
    from mpbert.recommending.places import PlaceRecommender, whole_answer
    from mpbert.recommending.recommender import Recommender

    file = root_of(config.manuscript)
    manuscript, sentences = _read(file, config.whole)
    recommender = Recommender(config.index, config.store)
    known, options = known_papers(recommender, manuscript, file), _options(config)
    if config.whole:
        keys = [key for place in manuscript.keys for key in place]
        cited = dict.fromkeys(known[key] for key in keys if key in known)
        accepted = () if config.keep_cited else tuple(cited)
        asked = dataclasses.replace(options, accepted=accepted)
        return recommender, [whole_answer(recommender, sentences, asked)]
    places = PlaceRecommender(recommender, manuscript, known, config.keep_cited)
    numbers = range(len(manuscript.places))
    return recommender, [places.answer(number, options) for number in numbers]


def _options(config: Config) -> Options:
    filters = [*config.filter, *([f"collection:{config.collection}"] if config.collection else [])]
    return Options(
        config.top, config.year, ranker=config.ranker, since=config.since, filters=filters
    )


def _print_unmarked(config: Config) -> None:
    from mpbert.recommending.bibliography import known_papers
    from mpbert.recommending.manuscripts.project import root_of
    from mpbert.recommending.manuscripts.sentences import manuscript_of
    from mpbert.recommending.recommender import Recommender
    from mpbert.recommending.unmarked.finding import find_unmarked

    file = root_of(config.manuscript)
    draft, source = _draft(file)
    manuscript = manuscript_of(draft)
    if not manuscript.sentences:
        raise ManuscriptError(f"{file}: holds no word; expected the text of a manuscript")
    recommender = Recommender(config.index, config.store)
    known, most = known_papers(recommender, manuscript, file), config.sentences
    found = find_unmarked(recommender, draft, source, known, most, _options(config))
    if config.format == "json":
        print(json.dumps([one.as_json() for one in found], indent=1, ensure_ascii=False))
    elif config.format == "bibtex":
        print("\n".join(_bibtex(recommender, [one.answer for one in found])))
    elif found:
        print("\n\n".join("\n".join(one.lines(config.year)) for one in found))
    else:
        print("every sentence cites, or is none of the text")


def _draft(path: Path) -> "tuple[Draft, str]":
    """Return the draft, and the text of the file; empty where it is no text."""
    from mpbert.recommending.manuscripts.files import draft_in, draft_with_text
    from mpbert.recommending.manuscripts.source_text import SourceText

    if str(path) == "-":
        source = SourceText(_STDIN, _read_stdin())
        return draft_in(source), source.text
    return draft_with_text(path)


def _bibtex(recommender: "Recommender", answers: "list[PlaceAnswer]") -> list[str]:
    """Return comments that tell which keys are of which place, and each entry once."""
    ids = dict.fromkeys(paper.paper_id for answer in answers for paper in answer.papers)
    entries = {paper_id: recommender.bibtex(paper_id) for paper_id in ids}
    key_of = {
        paper_id: entry[entry.index("{") + 1 : entry.index(",")]
        for paper_id, entry in entries.items()
    }
    lines = []
    for answer in answers:
        keys = ", ".join(key_of[paper.paper_id] for paper in answer.papers)
        lines.append(f"% place {answer.place}: {keys}")
    return lines + [f"\n{entry}" for entry in entries.values()]


def _read(path: Path, whole: bool) -> "tuple[Manuscript, list[str]]":
    """Return the manuscript, and the sentences of title and abstract where it is asked as a whole.

    :raises ManuscriptError: it cannot be read, or holds no word.
    """
    from mpbert.recommending.manuscripts.sentences import manuscript_of, whole_of, with_place

    is_stdin = str(path) == "-"
    name = str(_STDIN if is_stdin else path)
    draft, _ = _draft(path)
    manuscript = manuscript_of(draft)
    if whole:
        return manuscript, whole_of(draft, name)
    if not len(manuscript.places) and manuscript.sentences and not is_stdin and sys.stdin.isatty():
        manuscript = _ask(manuscript)
    return with_place(manuscript, name), []


def _read_stdin() -> str:
    """Return the text, strictly read: in the locale C Python lets bytes that are no text pass.

    :raises ManuscriptError: it is not in UTF-8.
    """
    data = io.BytesIO(sys.stdin.buffer.read())
    try:
        return io.TextIOWrapper(data, encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise ManuscriptError(
            f"{_STDIN}: byte {error.start} is not UTF-8; pass the text as UTF-8"
        ) from error


def _ask(manuscript: "Manuscript") -> "Manuscript":
    """Ask on the terminal for the sentence that needs a citation, until one is found."""
    import numpy as np

    from mpbert.recommending.manuscripts.marks import Mention

    print("No place is marked. Which sentence needs a citation?", file=sys.stderr)
    while True:
        print("Some words of it (Enter for its end): ", end="", file=sys.stderr, flush=True)
        words = sys.stdin.readline().strip().casefold()
        if not words:
            return manuscript
        found = [n for n, text in enumerate(manuscript.sentences) if words in text.casefold()]
        if len(found) == 1:
            return dataclasses.replace(manuscript, places=np.array(found), mentions=[Mention()])
        print(f"{len(found)} sentences hold these words; type other ones.", file=sys.stderr)
        for number in found[:_SHOWN]:
            print(f"  {manuscript.sentences[number]}", file=sys.stderr)
