"""Run fairseq in a process of its own and show how far it is; imports no fairseq itself."""

import dataclasses
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from mpbert.foundation.errors import ConfigError, MpbertError, StoppedError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.identity import told_values
from mpbert.foundation.logs import is_json
from mpbert.foundation.manifest import fingerprint
from mpbert.foundation.option_files import read_yaml
from mpbert.foundation.processes import TERMINATED, end_with_agent, end_with_parent, on_sigterm
from mpbert.foundation.progress import LINE_SECONDS, time_left
from mpbert.foundation.training_log import loss_fields
from mpbert.model.config import Configuration
from mpbert.model.fairseq_plugin.flags import flags_of

logger = logging.getLogger(__name__)
LAUNCHER = "mpbert.model.fairseq_plugin.compat"
_ERROR = "mpbert training: "  # what the launcher's line of wrong input begins with
# at 80 columns it holds the loss and the last validation, too
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
_LOADED = re.compile(r"Loaded checkpoint .*\(epoch (?P<epoch>\d+) @ (?P<updates>\d+) updates\)")
_MAY_GROW = ("max_epoch", "max_update")  # a training may go on for longer than it was meant to


@dataclass(frozen=True)
class Training:
    """A training of one stage.

    :param stage: ``pretrain`` or ``finetune``.
    :param data: binary corpus.
    :param directory: of its checkpoints, ``train.log`` and curves of TensorBoard.
    :param init: encoder directory that it starts from; None: at random.
    :param document_level: one that was pretrained on sentence vectors, to start from; None: none.
    :param sentence_vectors: of a pretrained encoder, which levels beside the bag read; None: they
        read tokens.
    :param known: splits whose contexts train.
    """

    stage: str
    data: Path
    configuration: Configuration
    directory: Path
    init: Path | None = None
    document_level: Path | None = None
    sentence_vectors: Path | None = None
    known: tuple[str, ...] = ("train",)

    @property
    def inputs(self) -> list[Path]:
        """All that it reads."""
        return [self.data, *(path for _, path in self._given())]

    def _given(self) -> list[tuple[str, Path]]:
        """Return the names and places of what it may read, and does."""
        names = ("init", "document_level", "sentence_vectors")
        return [(name, path) for name in names if (path := getattr(self, name)) is not None]

    def run(self, processes: int = 1) -> Path:
        """Train, or go on from the last checkpoint; return the best checkpoint.

        :param processes: how many train together, see ``--processes``.
        :raises ConfigError: the directory is that of a training with another configuration.
        :raises StoppedError: SIGTERM ended it, after an update whose checkpoint was written.
        :raises MpbertError: the training failed; ``train.log`` tells more.
        """
        end_with_agent()
        check_installed("fairseq")
        self.directory.mkdir(parents=True, exist_ok=True)
        if is_first_process():
            self._claim()
        log = self.directory / "train.log"
        logger.info("%s: training in %s; log: %s", self.stage, self.directory, log)
        try:
            _run([*_launcher(processes), *self._words()], log, self)
        except KeyboardInterrupt as error:
            is_kept = (self.directory / "checkpoint_last.pt").is_file()
            said = "the last checkpoint is kept: run this again, and it goes on"
            said = said if is_kept else "there was no checkpoint yet, nothing is kept"
            raise type(error)(str(error) or f"interrupted; {said}") from None
        return self.directory / "checkpoint_best.pt"

    def _words(self) -> list[str]:
        flags = flags_of(self.configuration, self.stage)
        flags += [f"--{name.replace('_', '-')}={path}" for name, path in self._given()]
        flags += [f"--known={' '.join(self.known)}"] if self.known != ("train",) else []
        curves = self.directory / "tensorboard"
        places = [f"--save-dir={self.directory}", f"--tensorboard-logdir={curves}"]
        return [str(self.data), *flags, *places, "--log-format=json"]

    def _claim(self) -> None:
        """Note in the directory what is trained there, or check that it is the same."""
        sections = dataclasses.asdict(self.configuration)
        found = {"stage": self.stage, **sections, "data": fingerprint(self.data)}
        found |= {"known": list(self.known)} if self.known != ("train",) else {}
        found |= {"init": ""} | {name: fingerprint(path) for name, path in self._given()}
        file = self.directory / "configuration.yaml"
        if file.exists():
            way_out = f"move {self.directory} away to train from the start"
            noted = read_yaml(file, f"what a training notes: {way_out}")
            different = sorted(_different(noted, found))
            if different:
                raise ConfigError(
                    f"{self.directory}: holds a training with another {', '.join(different)} (see "
                    f"{file}); move it away, or choose another --training"
                )
        unfinished = file.with_suffix(".partial")
        unfinished.write_text(yaml.safe_dump(found, sort_keys=False), encoding="utf-8")
        unfinished.replace(file)


def is_first_process() -> bool:
    """Whether this process speaks for all that ``torch.distributed.run`` has started, if any."""
    return os.environ.get("RANK", "0") == "0"


def _different(noted: Any, found: dict[str, Any]) -> list[str]:
    """Return the knobs whose values differ, and the values."""
    if not isinstance(noted, dict):
        return ["format"]
    names = []
    for key in noted.keys() | found.keys():
        a, b = noted.get(key), found.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            names += _different(a, b)
        elif a != b and not (key in _MAY_GROW and _is_longer(b, a)):
            names.append(told_values(a, b, key))
    return names


def _is_longer(limit: Any, before: Any) -> bool:
    """Whether a limit of epochs or updates is above the one before; 0 is no limit."""
    return not limit or (bool(before) and isinstance(before, int) and limit > before)


def _launcher(processes: int) -> list[str]:
    several = ["torch.distributed.run", f"--nproc-per-node={processes}", "-m"]
    return [sys.executable, "-m", *(several if processes > 1 else []), LAUNCHER]


def _run(words: Sequence[str], log: Path, training: Training) -> None:
    """Run a command line whose output goes to a log; show a bar of its updates.

    :raises StoppedError: SIGTERM ended it, ours or its own.
    :raises MpbertError: it ended with another code than 0.
    """
    error = ""
    with (
        log.open("a", encoding="utf-8") as file,
        Progress(training) as bar,
        subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=end_with_parent,
        ) as process,
        on_sigterm(process.terminate),
    ):
        for line in process.stdout:
            file.write(line)
            file.flush()
            bar.take(line)
            if line.startswith(_ERROR):
                error = line.removeprefix(_ERROR).strip()
    if process.returncode in (TERMINATED, -signal.SIGTERM):  # the latter before its first update
        raise StoppedError(f"{log}: the training was stopped; start it again, and it goes on")
    if process.returncode:
        raise MpbertError(
            error or f"{log}: the training ended with code {process.returncode}; see its last lines"
        )


class Progress:
    """A bar of updates with the time that remains, from the lines that fairseq logs.

    Without a terminal it is a line every half a minute, whatever fairseq logs meanwhile.
    """

    def __init__(self, training: Training) -> None:
        self._stage, self._limits = training.stage, training.configuration.training
        self._bar: tqdm | None = None
        self._has_bar = sys.stderr.isatty() and not is_json()
        self._told = "no update yet"
        self._scores = ""  # of the last validation
        self._first: tuple[float, int] | None = None  # when the first line came, and its update
        self._ended = threading.Event()
        self._teller = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> "Progress":
        if not self._has_bar:
            self._teller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.close()

    def _tell(self) -> None:
        while not self._ended.wait(LINE_SECONDS):
            logger.info("%s: %s", self._stage, self._told)

    def _note(self, update: int, total: int | None, loss: float) -> None:
        """Keep what the next line of the log says."""
        now = time.monotonic()
        start, first = self._first = self._first or (now, update)
        left = None
        if total is not None and update > first:
            left = (now - start) * (total - update) / (update - first)
        of = "" if total is None else f" of {total:,}"
        self._told = f"update {update:,}{of}, loss {loss:.3f}{self._scores}{time_left(left)}"

    def take(self, line: str) -> None:
        """Move the bar if the line tells of updates, and keep what one tells of a validation."""
        if found := _LOADED.search(line):
            logger.info(
                "%s: goes on after %s updates, in epoch %s",
                self._stage,
                *found.group("updates", "epoch"),
            )
        try:
            if found := _logged(line, "valid"):
                self._scores = _valid_scores(found)
            if found := _logged(line, "train_inner"):
                update, epoch = int(found["num_updates"]), float(found["update"])
                self._move(update, epoch, float(found["loss"]))
        except (ValueError, KeyError):
            return

    def _move(self, update: int, epoch: float, loss: float) -> None:
        """Show how far the training is.

        :param epoch: a fraction.
        """
        total = expected_updates(update, epoch, self._limits.max_update, self._limits.max_epoch)
        self._note(update, total, loss)
        if self._bar is None:  # a resumed training does not begin with its first update
            self._bar = tqdm(
                desc=self._stage,
                total=total,
                initial=update,
                bar_format=_BAR,
                dynamic_ncols=True,
                disable=not self._has_bar,
                file=sys.stderr,
            )
        self._bar.total = total
        self._bar.set_postfix_str(f"loss {loss:.3f}{self._scores}", refresh=False)
        self._bar.update(update - self._bar.n)
        if is_json():
            message = "%s: update %d, loss %.3f"
            fields = loss_fields(self._stage, update, loss)
            logger.info(message, self._stage, update, loss, extra=fields)


def _logged(line: str, tag: str) -> dict[str, Any]:
    """Return the values that fairseq logs under a tag; none in other lines.

    :raises ValueError: the line was cut short.
    """
    place = line.find(f"| {tag} | {{")
    return {} if place < 0 else json.loads(line[line.index("{", place) :])


def _valid_scores(found: dict[str, Any]) -> str:
    """Return ``, valid 2.345, accuracy 0.61``: the loss of a validation, and what else it says."""
    scores = f", valid {float(found['valid_loss']):.3f}"
    if "valid_accuracy" in found:
        scores += f", accuracy {float(found['valid_accuracy']):.2f}"
    return scores


def expected_updates(update: int, epochs: float, max_update: int, max_epoch: int) -> int | None:
    """Return after how many updates a training will end, from how far it is.

    :param epochs: that ``update`` updates took, a fraction; limits of 0 are none.
    """
    ends = [max_update] if max_update else []
    if max_epoch and epochs > 0:
        ends.append(max(round(update * max_epoch / epochs), update))
    return min(ends, default=None)
