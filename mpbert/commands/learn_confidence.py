"""``learn-confidence``: corpora -> how sure answers of libraries are that learnt nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import check_inputs

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.corpus.store import CorpusStore
    from mpbert.recommending.answering import AnsweringIndex
    from mpbert.recommending.confidence.learning import KnownAnswers

Library = tuple[str, str]
"""Names of a corpus and of a library of its papers."""
_PARTS = {"valid": (0, 30, 300), "test": (0, 100)}  # papers of a library, 0 for all


@dataclass(frozen=True)
class Config:
    """Learn how sure answers are of libraries that learnt nothing, and measure it on test.

    Each corpus is measured twice: by coefficients of all corpora, and by those of the other alone.
    """

    output: Path = positional("output", "folder to write confidence.json into, and that of wholes")
    acl: Path = option(Path("runs/corpus/acl"), "corpus store of the ACL")
    rfc: Path = option(Path("runs/corpus/rfc"), "corpus store of the RFCs")
    questions: int = option(1000, "questions to ask of each library, of each split at most")

    def __post_init__(self) -> None:
        check_least(self, questions=1)


def run(config: Config) -> None:
    """Write the coefficients; print Markdown: how far they can be relied upon.

    :raises ConfigError: there is no such folder.
    :raises CorpusError: a corpus is missing or broken.
    """
    from mpbert.corpus.store import CorpusStore
    from mpbert.recommending.confidence.libraries import libraries_of
    from mpbert.recommending.learnt import PLACES, WHOLES

    check_installed("sklearn")
    if not config.output.is_dir():
        raise ConfigError(f"{config.output}: found no folder; expected one, make it first")
    paths = {"acl": config.acl, "rfc": config.rfc}
    check_inputs(list(paths.values()))
    stores = {name: CorpusStore(path) for name, path in paths.items()}
    libraries = {
        (corpus, name): index
        for corpus, store in stores.items()
        for name, index in libraries_of(store).items()
    }
    for of, task in ((PLACES, "local"), (WHOLES, "global")):
        found = {
            split: _answers(stores, libraries, split, task, config.questions)
            for split in ("valid", "test")
        }
        _learn(config.output, of, task, found)


def _answers(
    stores: "dict[str, CorpusStore]",
    libraries: "dict[Library, AnsweringIndex]",
    split: str,
    task: str,
    most: int,
) -> "dict[Library, KnownAnswers]":
    """Return the answers of each library to questions of its corpus, and to some of the others."""
    from mpbert.corpus.queries import fixed_sample
    from mpbert.recommending.confidence.asking import (
        answers_to_learn_from,
        answers_to_measure,
        foreign_questions,
    )

    queries = {name: store.queries(split, task).distinct() for name, store in stores.items()}
    queries = {name: each.take(fixed_sample(each, most)) for name, each in queries.items()}
    found = {}
    for (corpus, name), index in libraries.items():
        others = [other for other in stores if other != corpus]
        foreign = [
            questions
            for other in others
            for questions in foreign_questions(
                libraries[other, name], stores[other], queries[other]
            )
        ]
        about = index, stores[corpus]
        for part in _PARTS[split]:
            found[corpus, f"{part} papers, {name}" if part else name] = (
                answers_to_learn_from(*about, queries[corpus], foreign, part)
                if split == "valid"
                else answers_to_measure(*about, split, queries[corpus], foreign, part)
            )
    return found


def _learn(
    output: Path, of: str, task: str, found: "dict[str, dict[Library, KnownAnswers]]"
) -> None:
    """Write the coefficients of all corpora; print those and the others' on each."""
    from functools import reduce

    from mpbert.recommending.confidence.learning import KnownAnswers, learn_confidence
    from mpbert.recommending.confidence.measuring import HEAD, cells_of, measured

    print(f"\n{'places' if task == 'local' else 'whole papers'}\n")
    print("| corpus | library | learnt from |", " | ".join(HEAD), "|")
    print("|:--|:--|:--|" + "--:|" * len(HEAD))
    corpora = sorted({corpus for corpus, _ in found["valid"]})
    for taught in (corpora, *([corpus] for corpus in corpora)):
        taken = [answers for (corpus, _), answers in found["valid"].items() if corpus in taught]
        confidence = learn_confidence(reduce(KnownAnswers.with_those, taken))
        if confidence is None:
            raise ConfigError(f"{', '.join(taught)}: found no answers that are right and wrong")
        if taught == corpora:
            confidence.write(output, of)
        for (corpus, name), answers in found["test"].items():
            if taught == corpora or corpus not in taught:
                cells = cells_of(measured(confidence, answers))
                print(f"| {corpus} | {name} | {', '.join(taught)} |", " | ".join(cells), "|")
