"""An index of a library that was trained on the library's own citations: one command line.

The steps are those of a row that ranks as its index answers, on a corpus of all papers of which a
tenth validates and none tests. Each is a process of its own and writes below one folder. What is
finished there is reused, and a training goes on at its last checkpoint, so that a killed command
goes on when it is started again.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

from mpbert.experiments.experiment import RECIPES, Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.options import TRAINED
from mpbert.experiments.outputs import is_done
from mpbert.experiments.processes import execute
from mpbert.experiments.rows import INDEX, MODEL, Row
from mpbert.experiments.steps import Step, steps_of
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.errors import MpbertError, StoppedError
from mpbert.foundation.manifest import read_manifest

logger = logging.getLogger(__name__)
READINGS = 5  # of a text, whose vectors are averaged, as in those rows
_FEW_PAPERS, _SMALL_VOCABULARY = 2000, 8000  # few words in so small a library
_CORPUS, _INDEX, _KNOWN = "library", "index", "known"
_NAMES = {
    "build corpus": "read the papers",
    "binarize": "learn a tokenizer",
    "finetune": "train",
    "embed": "embed, without what validation papers cite",
    "embed again": "embed with all citations",
    "build index": "learn to rank, and build the index",
}  # step -> what a user is told


@dataclass(frozen=True)
class LibraryTraining:
    """What is trained of a library.

    :param library: papers, and ``reader`` the name of what reads them.
    :param trained: one of :data:`mpbert.experiments.options.TRAINED`.
    :param place: folder for all that is made on the way.
    :param readings: of a text that is asked for, ``seed`` is theirs.
    :param grobid: address of a service that reads PDF files; empty: none.
    """

    library: Path
    reader: str
    trained: str
    place: Path
    readings: int = 3
    seed: int = 1
    grobid: str = ""

    @property
    def index(self) -> Path:
        """Where the index lies that is made."""
        return Layout(self.place).index(_CORPUS, _INDEX)

    @property
    def corpus(self) -> Path:
        """Where the corpus store lies that is made first."""
        return Layout(self.place).corpus(_CORPUS)

    def first_step(self) -> Step:
        """Return the step that makes the corpus store."""
        words = ["build-corpus", str(self.library), str(self.corpus), "--reader", self.reader]
        words += ["--split", "random", "--test-share", "0"]
        words += ["--grobid", self.grobid] if self.grobid else []
        return Step("build corpus", tuple(words))

    def further_steps(self, num_papers: int) -> list[Step]:
        """Return the steps from the corpus store to the index.

        :param num_papers: of the store.
        """
        size = {_CORPUS: _SMALL_VOCABULARY} if num_papers < _FEW_PAPERS else {}
        model = Row(
            self.trained,
            self.trained,
            MODEL,
            config="token_bag",
            settings=TRAINED[self.trained],
            readings=READINGS,
            vocab_size_on=size,
        )
        ranks = Row(_INDEX, _INDEX, INDEX, vectors=self.trained)
        layout = Layout(self.place)
        experiment = Experiment.of([model, ranks], self.corpus, layout, Tuned(), RECIPES)
        *training, embed, _ = steps_of(experiment, experiment.variant(self.trained))
        build, _ = steps_of(experiment, experiment.variant(_INDEX))
        known, vectors = ("--known", "train", "valid"), str(layout.vectors(_CORPUS, _KNOWN))
        command, data, encoder, _, *flags = embed.words
        again = Step("embed again", (command, data, encoder, vectors, *flags, *known, "--splits"))
        asked = ("--readings", str(self.readings), "--seed", str(self.seed), *known)
        asked += ("--known-vectors", vectors)
        return [*training, embed, again, Step(build.name, (*build.words, *asked))]


def train_on_library(training: LibraryTraining) -> Path:
    """Make what is not finished yet; return the index.

    :raises MpbertError: a step failed, or the library has no citations to learn from.
    :raises StoppedError: SIGTERM ended a step.
    """
    first = training.first_step()
    _make(first, 1, len(_NAMES))
    num_papers = read_manifest(training.corpus)["counts"]["papers"]
    for number, step in enumerate(training.further_steps(num_papers), start=2):
        _make(step, number, len(_NAMES))
    return training.index


def _make(step: Step, number: int, of: int) -> None:
    label = f"[{number}/{of}] {_NAMES[step.name]}"
    if is_done(step):
        logger.info("%s: finished before", label)
        return
    logger.info("%s ...", label)
    found = execute(step)
    if found.was_stopped:
        raise StoppedError(f"{label}: stopped; run this again, and it goes on")
    if found.exit_code:
        raise MpbertError(
            f"{label}: mpbert {step.words[0]} ended with {found.exit_code}: {found.last_line}; "
            f"what is finished is reused when you run this again"
        )
    logger.info("%s: %.0f s", label, found.seconds)
