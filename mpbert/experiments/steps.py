"""Steps: the command lines that make a condition, in order."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpbert
from mpbert.experiments.rows import Row, SettingValue


@dataclass(frozen=True)
class Step:
    """A command line.

    :param name: the command of mpbert, or the whole line of a recipe.
    :param words: after ``python -m mpbert``, or after ``bash``.
    """

    name: str
    words: tuple[str, ...]
    is_recipe: bool = False

    @property
    def command(self) -> list[str]:
        """The whole command line."""
        start = ["bash"] if self.is_recipe else [sys.executable, "-m", "mpbert"]
        return [*start, *self.words]


def dense_steps(
    condition: Row,
    corpus: Path,
    settings: Mapping[str, SettingValue],
    vectors: Path,
    run: Path,
    splits: Sequence[str] = (),
) -> list[Step]:
    """Return the steps of a method that makes vectors.

    :param splits: to rank for; empty: all.
    """
    fit = ["fit", str(corpus), str(vectors), "--method", condition.method]
    rank = ["retrieve", str(corpus), str(run), "--vectors", str(vectors), *_kind(condition)]
    if condition.similarity != "cosine":
        rank += ["--similarity", condition.similarity]
    fit_step = _step([*fit, *_flags("--settings", setting_words(settings))])
    return [*([] if condition.vectors else [fit_step]), _rank(rank, splits)]


def lexical_steps(
    condition: Row,
    corpus: Path,
    settings: Mapping[str, SettingValue],
    run: Path,
    splits: Sequence[str] = (),
) -> list[Step]:
    """Return the step of a method that compares words."""
    rank = ["retrieve", str(corpus), str(run), "--lexical", condition.method, *_kind(condition)]
    return [_rank([*rank, *_flags("--settings", setting_words(settings))], splits)]


def rerank_steps(
    condition: Row,
    corpus: Path,
    settings: Mapping[str, SettingValue],
    run: Path,
    splits: Sequence[str] = (),
) -> list[Step]:
    """Return the steps of a reranker: the lists that it learns from, if it does, and its own."""
    steps, words = [], ["rerank", str(corpus), str(run), "--reranker", condition.method]
    words += ["--runs", *map(str, condition.input_directories(corpus.name)), *_kind(condition)]
    if condition.training:
        lists = condition.training_directory(corpus.name)
        made = dict(condition.training)
        rank = ["retrieve", str(corpus), str(lists), "--task", condition.task]
        if row := made.pop("vectors", ""):
            rank += ["--vectors", str(Path("runs/vectors", corpus.name, str(row)))]
        else:
            rank += ["--lexical", str(made.pop("lexical", "bm25"))]
        rank += ["--top", str(made.pop("top", 10)), "--splits", "train"]
        steps.append(Step("training lists", (*rank, *_flags("--settings", setting_words(made)))))
        words += ["--training", str(lists)]
    return [*steps, _rank([*words, *_flags("--settings", setting_words(settings))], splits)]


def recipe_steps(condition: Row, corpus: str, settings: Mapping[str, SettingValue]) -> list[Step]:
    """Return the steps of a condition that is made by recipes."""
    lines = condition.commands(corpus, settings)
    return [Step(line, tuple(shlex.split(line)), is_recipe=True) for line in lines]


def setting_words(settings: Mapping[str, SettingValue]) -> list[str]:
    """Return settings as ``name=value``."""
    return [f"{name}={value}" for name, value in settings.items()]


def step_environment() -> dict[str, str]:
    """Return the environment of steps: this Python and this package, and lines as they come."""
    package = str(Path(mpbert.__file__).resolve().parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUNBUFFERED": "1",
        "MPBERT_PYTHON": sys.executable,
    }


def _kind(condition: Row) -> list[str]:
    task = ["--task", condition.task] if condition.task != "local" else []
    return [*task, *(["--top", str(condition.top)] if condition.top else [])]


def _rank(words: list[str], splits: Sequence[str]) -> Step:
    return _step([*words, *_flags("--splits", splits)])


def _step(words: list[str]) -> Step:
    return Step(words[0], tuple(words))


def _flags(flag: str, values: Sequence[str]) -> list[str]:
    return [flag, *values] if values else []
