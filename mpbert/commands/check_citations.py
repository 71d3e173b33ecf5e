"""``check-citations``: an index and a finished manuscript -> what is wrong with its citations."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError, FindingsError, listed

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.checking.checking import CheckedManuscript

FORMATS = ("github", "json", "sarif", "text")
SEVERITIES = ("error", "warning", "note")
NO_INDEX = Path("-")
_NAMED = 5  # keys that are not checked


@dataclass(frozen=True)
class Config:
    """Check what a finished manuscript cites, and its bibliography.

    Told are citations whose paper does not fit the sentence, the most doubtful first; keys that no
    bibliography defines; entries that are cited nowhere or are the same work; and papers that are
    newer than the manuscript.
    """

    index: Path = positional(
        "index", "index made by mpbert index or build-index; -: none, keys and entries alone"
    )
    manuscript: Path = positional(
        "manuscript", "file that recommend reads, or a LaTeX project as a folder or .zip"
    )
    bib: list[Path] = option(
        (), "bibliographies, instead of those that the manuscript names", nargs="+"
    )
    year: Optional[int] = option(
        None, "of the manuscript; without it, that of its date, or today's"
    )
    least_sure: int = option(0, "also print so many citations that fit, the least sure first")
    format: str = option(
        "text", "what to print; github: annotations of a workflow", choices=FORMATS
    )
    fail_on: Optional[str] = option(
        None, "end with exit code 3 where something as severe is found", choices=SEVERITIES
    )

    def __post_init__(self) -> None:
        check_least(self, least_sure=0)
        for path in self.bib:
            if not path.is_file():
                raise ConfigError(f"--bib {path}: there is no such file; name a .bib")


def run(config: Config) -> None:
    """Print what was found.

    :raises ManuscriptError: the manuscript cannot be read.
    :raises FindingsError: something was found that ``--fail-on`` names.
    """
    from mpbert.recommending.checking.reports import github, sarif
    from mpbert.recommending.manuscripts.project import root_of

    file = root_of(config.manuscript)
    found = _checked(config, file)
    if config.format == "json":
        print(json.dumps(found.as_json(), indent=1, ensure_ascii=False))
    elif config.format == "sarif":
        print(json.dumps(sarif(found.findings, file.parent), indent=1, ensure_ascii=False))
    elif config.format == "github":
        print("".join(f"{line}\n" for line in github(found.findings, file.parent)), end="")
    else:
        print("\n".join(_lines(found, config.least_sure)))
    if config.fail_on:
        severe = SEVERITIES[: SEVERITIES.index(config.fail_on) + 1]
        if number := sum(finding.severity in severe for finding in found.findings):
            raise FindingsError(f"{config.manuscript}: {number:,} findings ({' or '.join(severe)})")


def _checked(config: Config, file: Path) -> "CheckedManuscript":
    from mpbert.recommending.checking.checking import (
        CheckedManuscript,
        check_bibliography,
        check_file,
    )
    from mpbert.recommending.recommender import Recommender

    if config.index == NO_INDEX:
        return CheckedManuscript([], check_bibliography(file, config.bib, config.year), [], 0)
    return check_file(Recommender(config.index), file, config.bib, config.year)


def _lines(found: "CheckedManuscript", least_sure: int) -> list[str]:
    lines = list(map(str, found.findings))
    fitting = [one for one in found.citations if one.verdict == "fits"]
    lines += map(str, fitting[:least_sure])
    doubtful, known = len(found.doubtful), len(found.citations)
    if not known and not found.unchecked:
        return lines or ["nothing was found"]
    lines.append(f"citations of papers of the index: {known:,}, of them doubtful: {doubtful:,}")
    if found.unchecked:
        named = listed(found.unchecked, _NAMED)
        lines.append(f"papers that the index does not hold, not checked: {named}")
    return lines
