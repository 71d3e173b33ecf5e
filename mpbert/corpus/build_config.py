"""What a corpus store is built of, and how."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.splits import SPLITS, TEST_SHARE
from mpbert.foundation.config import option, positional
from mpbert.foundation.engine_choice import engine_option
from mpbert.foundation.errors import ConfigError

_WAYS = ("given", "random", "year")
_UNKNOWN = ("drop", "error")


@dataclass(frozen=True)
class BuildConfig:
    """Build a corpus store: clean text without citation markers, contexts, citations, qrels."""

    input: Path = positional("input", "papers, a file or folder in the format of --reader")
    output: Path = positional("output", "corpus store to write, a new directory")
    reader: str = option("jsonl", "format of the papers", choices=READERS.names())
    split: str = option(
        "year", "split papers by year, at random, or as the papers themselves say", choices=_WAYS
    )
    valid_year: Optional[int] = option(
        None, "first year of the validation papers; without it, that of the reader"
    )
    test_year: Optional[int] = option(
        None, "first year of the test papers; without it, that of the reader"
    )
    unknown_cited: str = option(
        "drop", "what to do about cited ids outside the corpus", choices=_UNKNOWN
    )
    seed: int = option(1, "seed of --split random")
    test_share: Optional[float] = option(
        None,
        f"share of test papers of --split random; 0: no test papers; without it, {TEST_SHARE:g}",
    )
    grobid: Optional[str] = option(
        None, "address of a GROBID server to read the PDF files; without it, mpbert reads them"
    )
    engine: str = engine_option()

    def __post_init__(self) -> None:
        """Check the choices, which a command line has checked before, and what excludes what."""
        for name, choices in (("split", _WAYS), ("unknown_cited", _UNKNOWN)):
            if getattr(self, name) not in choices:
                found = getattr(self, name)
                raise ConfigError(f"{name} is {found!r}; expected one of {', '.join(choices)}")
        if self.split != "year" and (self.valid_year or self.test_year):
            raise ConfigError(f"--valid-year and --test-year need --split year, found {self.split}")
        if self.test_share is not None and self.split != "random":
            raise ConfigError(f"--test-share needs --split random, found {self.split}")
        if not 0 <= (self.test_share or 0) < 1:
            raise ConfigError(f"--test-share {self.test_share:g}; expected 0 or more, less than 1")

    @property
    def needed(self) -> tuple[str, ...]:
        """Splits that may not be empty."""
        if self.split == "given":
            return ("train", "test")
        return tuple(split for split in SPLITS if split != "test" or self.test_share != 0)
