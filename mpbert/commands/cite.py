r"""``cite``: an index, a manuscript and papers -> their keys in the text, and their entries."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ManuscriptError

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.bibliography import OwnReferences
    from mpbert.recommending.insertion import FileChange
    from mpbert.recommending.manuscripts.marks import Mention
    from mpbert.recommending.manuscripts.sentences import Manuscript
    from mpbert.recommending.recommender import Recommender


@dataclass(frozen=True)
class Config:
    r"""Write citations of papers at a place of a manuscript, and what is missing into its .bib.

    [CITATION], [?] and \cite{todo} become a citation in the form of the file; keys of a \cite stay,
    and new ones stand behind them. The difference is shown first. No other byte of a file changes.
    """

    index: Path = positional("index", "index made by mpbert index or build-index")
    manuscript: Path = positional(
        "manuscript", "file that recommend reads, but for .json and .pdf, or a folder of LaTeX"
    )
    place: Optional[str] = option(
        None, "number as recommend prints it; without it, the only place, or the only open one"
    )
    papers: list[str] = option(
        (), "ids as recommend prints them; without it, you are asked", nargs="+"
    )
    bib: Optional[Path] = option(
        None, "file for new entries; without it, the .bib that the manuscript names"
    )
    undo: bool = option(False, "take the last insertion of this manuscript back, and its entries")
    yes: bool = option(False, "write without asking")


def run(config: Config) -> None:
    """Show the difference, ask, and write both files.

    :raises ManuscriptError: there is no such place, nothing can be written there, there is no .bib
        for new entries, or nobody can be asked.
    :raises UnknownPaperError: the index does not hold a paper.
    :raises OutputError: the disk refuses it.
    """
    from mpbert.recommending.bibliography import cited_papers, read_bibliography
    from mpbert.recommending.insertion import mention_at, site_of
    from mpbert.recommending.manuscripts.files import read_manuscript_file
    from mpbert.recommending.manuscripts.project import root_of
    from mpbert.recommending.manuscripts.sentences import check_places
    from mpbert.recommending.recommender import Recommender
    from mpbert.recommending.undoing import keep

    if config.undo:
        _undo(config)
        return
    file, name = root_of(config.manuscript), str(config.manuscript)
    if config.manuscript.suffix.lower() == ".zip":
        raise ManuscriptError(f"{name}: nothing is written into an archive; unpack and name it")
    manuscript = read_manuscript_file(file)
    check_places(manuscript, name)
    number, mention = mention_at(manuscript, config.place, name)
    site_of(mention, name)
    recommender = Recommender(config.index)
    keys = [key for place in manuscript.keys for key in place]
    bibliography = read_bibliography(manuscript.about, file, keys)
    known = cited_papers(recommender, bibliography, keys)
    chosen = list(config.papers) or _choose(recommender, manuscript, number, known)
    chosen = [recommender.paper(paper_id).paper_id for paper_id in dict.fromkeys(chosen)]
    listed = [(key, known[key]) for key in bibliography.references if key in known]
    key_of = {paper_id: key for key, paper_id in reversed(listed)}
    changes = _changes(config, recommender, bibliography, mention, chosen, key_of)
    if not changes:
        print(f"{name}: nothing to write, {', '.join(chosen) or 'no paper'} stands there already")
    elif _shown_and_agreed(config, changes):
        keep(file, changes)
        for change in changes:
            change.write()


def _changes(
    config: Config,
    recommender: "Recommender",
    bibliography: "OwnReferences",
    mention: "Mention",
    chosen: list[str],
    key_of: dict[str, str],
) -> "list[FileChange]":
    """Return the changes of the bibliography and of the manuscript; none if all stands there.

    :param key_of: keys of papers that the bibliography holds.
    """
    from mpbert.recommending.bibtex import citation_text
    from mpbert.recommending.insertion import EntryWriter, site_of, text_change

    site, changes = site_of(mention, str(config.manuscript)), []
    is_by_name = site.style.is_by_name  # in a word processor, which needs no entry
    absent = [paper_id for paper_id in chosen if paper_id not in key_of]
    if absent and (config.bib is not None or not is_by_name):
        writer = EntryWriter(_bib(config, bibliography), recommender, bibliography.references)
        key_of |= {paper_id: writer.add(paper_id) for paper_id in absent}
        changes += filter(None, [writer.change()])
    new = [paper_id for paper_id in chosen if key_of.get(paper_id) not in mention.keys]
    if not new:
        return []
    written = [
        citation_text(recommender.paper(paper_id)) if is_by_name else key_of[paper_id]
        for paper_id in new
    ]
    return [*changes, text_change(site, written)]  # behind the entries: without one, it is wrong


def _undo(config: Config) -> None:
    """Take the last insertion back."""
    from mpbert.recommending.manuscripts.project import root_of
    from mpbert.recommending.undoing import forget_last, last_insertion

    file = root_of(config.manuscript)
    changes = last_insertion(file)
    if _shown_and_agreed(config, changes):
        for change in changes:
            change.write()
        forget_last(file)


def _shown_and_agreed(config: Config, changes: "list[FileChange]") -> bool:
    """Show what changes, and return whether it shall be written."""
    print("".join(change.diff() for change in changes), end="", flush=True)
    if config.yes or _agreed():
        return True
    print("nothing was written", file=sys.stderr)
    return False


def _bib(config: Config, bibliography: "OwnReferences") -> Path:
    """Return the file of entries.

    :raises ManuscriptError: there is none.
    """
    if config.bib is not None:
        return config.bib
    if not bibliography.files:
        raise ManuscriptError(
            f"{config.manuscript}: names no .bib for new entries; expected --bib FILE, or "
            f"\\bibliography, \\addbibresource or, in Markdown, bibliography in the YAML block"
        )
    return bibliography.files[0]


def _choose(
    recommender: "Recommender", manuscript: "Manuscript", number: int, known: dict[str, str]
) -> list[str]:
    """Ask on the terminal for papers of the list of a place."""
    from mpbert.recommending.options import Options
    from mpbert.recommending.places import PlaceRecommender, lines_of

    if not sys.stdin.isatty():
        raise ManuscriptError("found no --papers; expected ids of papers, as recommend prints them")
    answer = PlaceRecommender(recommender, manuscript, known).answer(number, Options())
    print("\n".join(lines_of(answer, None)), flush=True)
    while True:
        print("Papers to cite, by rank (Enter for none): ", end="", file=sys.stderr, flush=True)
        words = sys.stdin.readline().replace(",", " ").split()
        if all(word.isascii() and word.isdigit() for word in words):
            ranks = list(map(int, words))
            if all(1 <= rank <= len(answer.papers) for rank in ranks):
                return [answer.papers[rank - 1].paper_id for rank in ranks]
        print(f"expected numbers of 1 to {len(answer.papers)}", file=sys.stderr)


def _agreed() -> bool:
    """Ask whether to write.

    :raises ManuscriptError: nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise ManuscriptError("nobody to ask on a terminal, nothing was written; pass --yes")
    print("Write this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
