"""``learn-checks``: corpora and indexes -> what tells a wrong citation, learnt and measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import check_inputs

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.checking.doubt import Doubt
    from mpbert.recommending.checking.learning import Examples, TellingApart


@dataclass(frozen=True)
class Config:
    """Measure how well check-citations finds wrong citations, where one in twenty is exchanged.

    Citations of test papers are exchanged for any paper, and for a near one. With --output the
    coefficients are learnt from validation papers first; without it, those that come with mpbert
    are measured.
    """

    pairs: list[Path] = positional(
        "pairs", "corpus store and its index, made by build-index, one pair or several", nargs="+"
    )
    output: Optional[Path] = option(None, "file of coefficients to write")
    contexts: int = option(1000, "contexts of each split of a corpus, about")

    def __post_init__(self) -> None:
        if len(self.pairs) % 2:
            raise ConfigError(
                f"found {len(self.pairs)} paths; expected a corpus and its index, or more pairs"
            )
        check_least(self, contexts=100)


def run(config: Config) -> None:
    """Print a table, and write the coefficients.

    :raises IndexFormatError: an index is of another corpus, or has no vectors.
    """
    from mpbert.recommending.checking.doubt import read_doubts, write_doubts
    from mpbert.recommending.checking.learning import learn
    from mpbert.recommending.checking.standing import FEATURES

    check_installed("sklearn")
    check_inputs(config.pairs)
    corpora = dict(zip(config.pairs[::2], config.pairs[1::2], strict=True))
    tests = {path: _examples(path, index, "test", config) for path, index in corpora.items()}
    ways = {"with mpbert": dict.fromkeys(corpora, read_doubts())} if not config.output else {}
    if config.output:
        taught = {p: _examples(p, index, "valid", config) for p, index in corpora.items()}
        doubts = {kind: learn(kind, taught.values()) for kind in FEATURES}
        ways["all"] = dict.fromkeys(corpora, doubts)
        if len(corpora) > 1:
            ways["others"] = {
                path: {k: learn(k, [t for p, t in taught.items() if p != path]) for k in FEATURES}
                for path in corpora
            }
        write_doubts(config.output, doubts)
    print("\n".join(_lines(tests, ways)))


def _examples(path: Path, index: Path, split: str, config: Config) -> "Examples":
    from mpbert.corpus.store import CorpusStore
    from mpbert.recommending.checking.learning import examples_of
    from mpbert.recommending.contexts import index_of_corpus

    store = CorpusStore(path)
    made = index_of_corpus(store, index, [split])
    if not made.vectors.shape[1]:
        raise ConfigError(f"{index}: has no vectors, by which papers are near; expected some")
    return examples_of(store, made, split, config.contexts)


def _lines(
    tests: "dict[Path, Examples]", ways: "dict[str, dict[Path, dict[str, Doubt]]]"
) -> Iterator[str]:
    """Yield the table; of two numbers one is of any paper, the other of a near one."""
    from mpbert.recommending.checking.learning import POOLS, told

    yield (
        f"{'corpus':<8} {'known':<10}{'library':>8}  {'learnt of':<11}{'citations':>9}"
        f"{'AUROC':>13}{'first 10':>12}{'doubtful':>12}{'found':>12}{'error':>8}"
    )
    for path, examples in tests.items():
        for kind, libraries in examples.items():
            for size, library in zip(POOLS, libraries, strict=True):
                for way, doubts in ways.items():
                    about = f"{path.name:<8} {kind:<10}{size or 'all':>8}  {way:<11}"
                    yield about + _numbers(told(doubts[path][kind], library))


def _numbers(found: "TellingApart") -> str:
    auroc, first, right, wrong = (
        f"{one:.{digits}f} {near:.{digits}f}".rjust(10 + digits)
        for (one, near), digits in (
            *((found.auroc, 3), (found.of_ten, 2)),
            *((found.right, 2), (found.found, 2)),
        )
    )
    return f"{found.citations:>9,}{auroc}{first}{right}{wrong}{found.error:>8.3f}"
