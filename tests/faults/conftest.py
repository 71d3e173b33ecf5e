"""Stages of the work in processes of their own, which are killed, starved and started again."""

import dataclasses
import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from mpbert.foundation.manifest import fingerprint
from mpbert.model.config import ReadingConfig

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"
# what a forked process executes: a command of mpbert, or fairseq-train
_WORK = """
import os, resource, sys
file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.dup2(file, 1), os.dup2(file, 2)
os.chdir(place)
if most_bytes is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
os.cpu_count = lambda: threads
os.environ["RAYON_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)
import torch
torch.set_num_threads(threads)
if words[0] == "train":
    sys.argv = words
    import mpbert.model.fairseq_plugin.compat
    mpbert.model.fairseq_plugin.compat.main()
    sys.exit(0)
from mpbert.cli import main
sys.exit(main(words))
"""
# files that hold times, as events of TensorBoard do, and what a stage cost, which are of the moment
_DIFFERS = {"log.txt", "cost.txt", "cost.md", "cost.tex", "cost.json", "cost.svg", "cost.png"}


@dataclass(frozen=True)
class Stage:
    """A command line whose output is ``out`` in a place of its own.

    :param words: the command line; paths are of the fixtures, or relative to the place.
    :param prepare: what is done to the place before.
    :param contents: what of the place must be the same after a kill.
    :param done: what a second start says that finds all done, and ends with 2.
    """

    words: list[str]
    prepare: Callable[[Path], object] = lambda place: None
    contents: Callable[[Path], dict[str, str]] = field(default=lambda place: contents(place))
    done: str | None = None


@dataclass(frozen=True)
class Workshop:
    """Runs stages in forked processes."""

    server: BaseContext
    root: Path

    def place(self, stage: Stage, name: str) -> Path:
        """Return a new directory that is ready for a stage."""
        place = self.root / name
        place.mkdir()
        stage.prepare(place)
        return place

    def run(
        self,
        stage: Stage,
        place: Path,
        kill_after: float | None = None,
        most_bytes: int | None = None,
        threads: int = 1,
    ) -> tuple[int, float, str]:
        """Return exit code, seconds and what was printed.

        :param kill_after: seconds after which the process is killed, unless it has ended.
        :param most_bytes: of a file that is written; the disk is full then.
        :param threads: of every library, and processes that a command starts.
        """
        log = self.root / f"{place.name}.log"  # not on a full disk
        log.unlink(missing_ok=True)
        known = {"words": stage.words, "log": str(log), "place": str(place), "threads": threads}
        process = self.server.Process(
            target=exec, args=(_WORK, {**known, "most_bytes": most_bytes})
        )
        start = time.monotonic()
        process.start()
        if kill_after is not None:
            process.join(kill_after)
            process.kill()
        process.join(300)
        seconds = time.monotonic() - start
        return process.exitcode, seconds, log.read_text() if log.exists() else ""


def contents(place: Path) -> dict[str, str]:
    """Return the checksums of all files, and the names of directories, but for those of times."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "a directory"
        for path in place.rglob("*")
        if path.name not in _DIFFERS and not path.name.startswith("events.out.tfevents")
    }


def trained(place: Path) -> dict[str, str]:
    """Return the checksums of weights and moments of a training: its files hold times."""
    import torch

    state = torch.load(place / "out" / "checkpoint_last.pt", weights_only=True)
    tensors = {f"model {name}": tensor for name, tensor in state["model"].items()}
    for number, moments in state["last_optimizer_state"]["state"].items():
        tensors |= {f"{name} {number}": moments[name] for name in ("exp_avg", "exp_avg_sq")}
    assert len(tensors) > 10
    iterator = {"iterator": str(state["extra_state"]["train_iterator"])}
    return iterator | {
        name: hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
        for name, tensor in tensors.items()
    }


def _rows(place: Path) -> None:
    (place / "rows").mkdir()
    for name in ("bm25", "again"):
        (place / "rows" / f"{name}.yaml").write_text(f"title: {name}\nmethod: bm25\n")
        shutil.copytree(FORMATS / "runs", place / "root" / "trec" / "corpus" / name)


def _index(place: Path) -> None:
    shutil.copytree(FORMATS / "index", place / "out")


def _checkpoint(place: Path) -> None:
    import torch

    from mpbert.model.description import read_description
    from mpbert.model.directory import read_state

    path = FORMATS / "pretrained"
    model = dataclasses.asdict(read_description(path).model)
    noted = {"model": model, "tokenizer": fingerprint(FORMATS / "binary" / "tokenizer.json")}
    checkpoint = {
        "model": {f"model.{name}": tensor for name, tensor in read_state(path).items()},
        "task_state": noted,
        "optimizer_history": [{"num_updates": 2}],
        "cfg": {
            "model": {"_name": "mpbert_hibert", "autocast_bf16": False},
            "task": {**dataclasses.asdict(ReadingConfig()), "max_valid": 5},
            "criterion": {"label_smoothing": 0.1},
            "optimization": {"update_freq": [1], "lr": [0.1], "clip_norm": 1.0}
            | {"max_epoch": 1, "max_update": 2},
            "optimizer": {"adam_betas": "(0.9, 0.98)", "weight_decay": 0.0},
            "lr_scheduler": {"_name": "fixed", "warmup_updates": 0},
            "dataset": {"max_tokens": 100},
            "checkpoint": {"save_interval_updates": 1},
            "common": {"seed": 1},
        },
    }
    torch.save(checkpoint, place / "checkpoint.pt")


def _training(task: str, arch: str, criterion: str, *flags: str) -> Stage:
    words = [
        *("train", str(FORMATS / "binary")),
        *(f"--task={task}", f"--arch={arch}", f"--criterion={criterion}", "--save-dir=out"),
        *("--optimizer=adam", "--lr=0.01", "--lr-scheduler=fixed", "--cpu", "--num-workers=0"),
        *("--max-update=12", "--max-tokens=800", "--save-interval-updates=3", "--log-format=none"),
        *("--no-epoch-checkpoints", "--keep-interval-updates=1", *flags),
    ]
    return Stage(words, contents=trained)


def _stages() -> dict[str, Stage]:
    corpus, binary, encoder, vectors, runs = (
        str(FORMATS / name) for name in ("corpus", "binary", "encoder", "vectors", "runs")
    )
    years = ["--valid-year=2011", "--test-year=2013"]
    fit = ["fit", corpus, "out"]
    learnt = ["--settings", "dim=8", "epochs=3", "triplets=2000", "neighbours=5"]
    sizes = ["--dim=4", "--ffn-dim=4", "--num-heads=1", "--sentence-layers=1"]
    reads = ["--manuscript-sentences=4", "--abstract-sentences=1", "--body-sentences=1"]
    return {
        "build-corpus": Stage(["build-corpus", str(FORMATS / "papers.jsonl"), "out", *years]),
        "binarize": Stage(["binarize", corpus, "out", "--vocab-size=300", "--sentence-tokens=12"]),
        "export-encoder": Stage(["export-encoder", "checkpoint.pt", binary, "out"], _checkpoint),
        "embed": Stage(["embed", binary, encoder, "out", "--device=cpu"]),
        "fit": Stage([*fit, "--method=nnselect", *learnt]),
        "rerank": Stage(["rerank", corpus, "out", "--runs", runs, runs]),
        "build-index": Stage(["build-index", corpus, encoder, vectors, "out"]),
        "add": Stage(["add", "out", str(FORMATS / "more.jsonl")], _index),
        "remove": Stage(["remove", "out", "P03"], _index, done="no paper 'P03' among"),
        "export-vectors": Stage(["export-vectors", vectors, "out", "--format=parquet"]),
        "export-data": Stage(["export-data", corpus, "out"]),
        "report": Stage(["report", corpus, "rows", "root", "out"], _rows),
        "pretraining": _training(
            *("mpbert_pretrain", "mpbert_hibert", "mpbert_masked_sentences", *sizes),
            *("--document-layers=1", "--decoder-layers=1"),
        ),
        "fine-tuning": _training(
            *("mpbert_finetune", "mpbert_two_tower", "mpbert_multi_positive", *reads),
            f"--init={FORMATS / 'pretrained'}",
        ),
    }


STAGES = _stages()
SLOW = {"report", "pretraining", "fine-tuning"}  # seconds each: all of them with --all


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every stage to the tests that ask for one."""
    if "stage_name" in metafunc.fixturenames:
        marks = {name: [pytest.mark.exhaustive] if name in SLOW else [] for name in STAGES}
        names = [pytest.param(name, marks=marks[name]) for name in STAGES]
        metafunc.parametrize("stage_name", names)


@pytest.fixture
def stages() -> dict[str, Stage]:
    """All stages by name."""
    return STAGES


@pytest.fixture
def stage(stage_name: str) -> Stage:
    """A stage of the work."""
    return STAGES[stage_name]


@pytest.fixture
def workshop(fork_server: BaseContext, tmp_path: Path) -> Workshop:
    """Runs stages in an empty directory."""
    started = fork_server.Process(target=exec, args=("", {}))  # its first start imports a lot
    started.start()
    started.join()
    return Workshop(fork_server, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Function that mounts a disk of so many bytes, or read-only; skips where it may not."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        path = tmp_path / f"disk-{len(mounted)}"
        path.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(path)]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("mounting a small disk needs root")
        mounted.append(path)
        return path

    yield mount
    for path in mounted:
        subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture
def formats(tmp_path: Path) -> Path:
    """A copy of one directory of each format, to damage."""
    return Path(shutil.copytree(FORMATS, tmp_path / "formats"))
