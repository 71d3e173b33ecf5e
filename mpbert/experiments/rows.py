"""Conditions: one row of the report each, with how it is made and the scores we expect of it.

A condition is ``eval/rows/NAME.yaml``; its name is the stem of the file. One that ranks by a
method of ours::

    title: BM25, title + abstract         # at most 40 characters
    method: bm25                          # a baseline or a lexical method
    settings: {fields: abstract, k1: 2}   # optional: of that method
    settings_on: {rfc: {k1: 1}}           # optional: other values on some corpora
    similarity: dot                       # optional, of baselines: cosine (default) or dot
    space: {k1: [1.2, 2, 3]}              # optional: values of settings that tuning may try
    note: stems                           # optional
    order: 20                             # optional: place in the table
    corpora: [rfc]                        # optional: the only corpora it is for
    optional: true                        # optional: it may fail, for lack of a download
    gpu: true                             # optional: left out without a GPU, unless it is named
    expected:                             # optional, of the test split
      rfc: {"Recall@10 P>=1": [0.283, 0.010]}  # value and tolerance

Its vectors are in ``runs/vectors/CORPUS/NAME``, its runs in ``runs/trec/CORPUS/NAME``. Further keys
of such a row, all optional::

    published: {corpus: AAN, MRR: 0.35}   # what its paper prints, of its own corpus
    task: global                          # ranks for whole papers; its tables are its own
    top: 1000                             # papers ranked per query
    vectors: nnselect                     # ranks with the vectors of another row
    inputs: [bm25_text, bm25_citing]      # of a reranker: rows whose runs it takes
    training: {lexical: bm25, top: 10}    # of one that learns from lists: how those are made, or
    training: {vectors: hatten, top: 20}  # with the vectors of which row

A row stands after those whose vectors or runs it takes. One that is
made by recipes has, in place of method and similarity::

    recipe:                               # a command line, or several in order
      - pretrain/train.sh {corpus} tiny   # each does nothing where its work is finished
      - eval/mp_bert4cr.sh {corpus} tiny mpt-src{variant} --objective mpt-src {flags}
    run: runs/trec/{corpus}/tiny-mpt-src{variant}  # what the last one makes
    settings: {--lr: 1e-3}                # optional: what {flags} stands for
    space: {--lr: [3e-4, 1e-3]}           # optional: needs {flags} and {variant}

``{variant}`` is empty for the settings of the file; for others it names them, so that each choice
of flags, and each seed of ``make-rows --seeds``, has directories of its own.
"""

import difflib
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from mpbert.corpus.store import TASKS
from mpbert.foundation.errors import ConfigError

SettingValue = int | float | str
MAX_TITLE = 40  # so that a table of six numbers fits a terminal of 100 columns
SIMILARITIES = ("cosine", "dot")
_KEYS: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "method": str,
    "settings": dict,
    "settings_on": dict,
    "similarity": str,
    "task": str,
    "top": int,
    "vectors": str,
    "inputs": list,
    "training": dict,
    "recipe": (str, list),
    "run": str,
    "space": dict,
    "corpora": list,
    "optional": bool,
    "gpu": bool,
    "note": str,
    "order": int,
    "published": dict,
    "expected": dict,
}


@dataclass(frozen=True)
class Row:
    """A row of the report.

    :param name: name of its file.
    :param title: what the tables call it.
    :param method: what makes it; empty where recipes do.
    :param settings: of the method, or flags of the recipes.
    :param settings_on: corpus to settings that replace or join these there.
    :param similarity: what dense vectors are compared by.
    :param task: ``local`` or ``global``.
    :param top: papers ranked per query; 0: as many as the command does.
    :param vectors: row with whose vectors it ranks; empty: its own.
    :param inputs: rows that a reranker takes the runs of.
    :param input_runs: patterns of their run directories, found by :func:`read_rows`.
    :param training: ``lexical`` method, ``top`` and settings of the lists a reranker learns from,
        or ``vectors``, the row whose vectors make them.
    :param recipe: command lines, in order.
    :param run: of recipes: pattern of the run directory.
    :param space: what tuning may try: name of a setting to its values.
    :param corpora: the only corpora it is for; empty: all.
    :param published: what its paper prints: its ``corpus``, and measure to value.
    :param optional: whether it may fail.
    :param gpu: whether it is left out where there is no GPU.
    :param expected: corpus to column name to (value, tolerance).
    """

    name: str
    title: str
    method: str = ""
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    settings_on: Mapping[str, Mapping[str, SettingValue]] = field(default_factory=dict)
    similarity: str = "cosine"
    task: str = "local"
    top: int = 0
    vectors: str = ""
    inputs: tuple[str, ...] = ()
    input_runs: tuple[str, ...] = ()
    training: Mapping[str, SettingValue] = field(default_factory=dict)
    recipe: tuple[str, ...] = ()
    run: str = ""
    space: Mapping[str, tuple[SettingValue, ...]] = field(default_factory=dict)
    corpora: tuple[str, ...] = ()
    optional: bool = False
    gpu: bool = False
    note: str = ""
    order: int = 1000
    published: Mapping[str, SettingValue] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def is_for(self, corpus: str) -> bool:
        """Whether the row is one of a corpus."""
        return not self.corpora or corpus in self.corpora

    def on(self, corpus: str) -> "Row":
        """Return the row with its settings on a corpus."""
        there = self.settings_on.get(corpus, {})
        return replace(self, settings={**self.settings, **there}, settings_on={})

    @property
    def needs(self) -> list[str]:
        """Names of the rows that it takes runs or vectors of."""
        learnt_from = str(self.training.get("vectors", ""))
        return list(dict.fromkeys(filter(None, [*self.inputs, self.vectors, learnt_from])))

    def vectors_directory(self, corpus: str) -> Path:
        """Return where the vectors of a dense method lie."""
        return Path("runs/vectors", corpus, self.vectors or self.name)

    def input_directories(self, corpus: str) -> list[Path]:
        """Return where the runs lie that a reranker takes."""
        return [Path(run.replace("{corpus}", corpus)) for run in self.input_runs]

    def training_directory(self, corpus: str) -> Path:
        """Return where the lists lie that a reranker learns from: equal ones are shared."""
        words = [f"{key}-{value}" for key, value in sorted(self.training.items())]
        return Path("runs/trec", corpus, "-".join(["training", self.task, *words]))

    def run_directory(self, corpus: str, settings: Mapping[str, SettingValue]) -> Path:
        """Return where ``SPLIT.run`` lies.

        :param settings: all that are in force, see :func:`effective_settings`.
        """
        if self.method:
            return Path("runs/trec", corpus, self.name)
        return Path(self._filled(self.run, corpus, settings))

    def commands(self, corpus: str, settings: Mapping[str, SettingValue]) -> list[str]:
        """Return the command lines of its recipes."""
        return [self._filled(line, corpus, settings) for line in self.recipe]

    def _filled(self, text: str, corpus: str, settings: Mapping[str, SettingValue]) -> str:
        flags = " ".join(f"{flag} {shlex.quote(str(v))}" for flag, v in settings.items())
        others = [f"{k}-{v}" for k, v in settings.items() if self.settings.get(k) != v]
        variant = "".join("-" + re.sub(r"[^\w.-]+", "_", text).lstrip("-") for text in others)
        for key, value in (("corpus", corpus), ("flags", flags), ("variant", variant)):
            text = text.replace("{" + key + "}", value)
        return text.strip()


def effective_settings(
    condition: Row, tuned: Mapping[str, SettingValue]
) -> dict[str, SettingValue]:
    """Return the settings of a condition under those that tuning chose, sorted by name."""
    return dict(sorted({**condition.settings, **tuned}.items()))


def read_rows(directory: Path) -> list[Row]:
    """Read all conditions of a directory, in the order of the tables.

    :raises ConfigError: there is none, or one is wrong.
    """
    conditions = []
    for path in sorted(directory.glob("*.yaml")):
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            reason = " ".join(str(error).split())
            raise ConfigError(f"{path}: unreadable ({reason}); expected a condition") from error
        conditions.append(parse_row(path.stem, content, str(path)))
    if not conditions:
        raise ConfigError(f"{directory}: found no *.yaml; expected one file per row")
    conditions.sort(key=lambda condition: (condition.order, condition.name))
    _check_order(conditions, directory)
    runs = {
        row.name: row.run.replace("{variant}", "") or f"runs/trec/{{corpus}}/{row.name}"
        for row in conditions
    }
    return [
        replace(condition, input_runs=tuple(runs[name] for name in condition.inputs))
        for condition in conditions
    ]


def choose_rows(conditions: Sequence[Row], corpus: str, only: Sequence[str]) -> list[Row]:
    """Return the conditions that are for a corpus, in order, with their settings there.

    :param only: names of the wanted; empty: all.
    :raises ConfigError: there is none of a name.
    """
    known = [condition.on(corpus) for condition in conditions if condition.is_for(corpus)]
    names = [condition.name for condition in known]
    for name in only:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"--only {name}: there is no such row of {corpus}; expected one of "
                f"{', '.join(names)}{hint}"
            )
    return [condition for condition in known if not only or condition.name in only]


def parse_row(name: str, content: object, source: str) -> Row:
    """Check what a condition's file says; the methods and their settings are checked when used.

    :param content: the YAML document.
    :param source: what the messages call the file.
    :raises ConfigError: a key is missing, unknown or of the wrong kind.
    """
    if not isinstance(content, dict):
        raise ConfigError(
            f"{source}: found {type(content).__name__}; expected keys title and method"
        )
    for key, value in content.items():
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise ConfigError(f"{source}: unknown key {key!r}; expected one of {known}")
        if not isinstance(value, _KEYS[key]):
            kinds = _KEYS[key] if isinstance(_KEYS[key], tuple) else (_KEYS[key],)
            raise ConfigError(
                f"{source}: {key} is {value!r}; expected {' or '.join(k.__name__ for k in kinds)}, "
                f"as in the other conditions"
            )
    if not content.get("title", "").strip():
        raise ConfigError(f"{source}: found no title; expected a line 'title: ...'")
    if len(content["title"]) > MAX_TITLE or "\n" in content["title"]:
        raise ConfigError(
            f"{source}: the title has {len(content['title'])} characters; expected one line of at "
            f"most {MAX_TITLE}, put the rest into the note"
        )
    parsed: dict[str, Any] = {**content, "name": name}
    if isinstance(content.get("recipe"), str):
        parsed["recipe"] = [content["recipe"]]
    for key in ("recipe", "corpora", "inputs"):
        parsed[key] = tuple(parsed.get(key, ()))
        if wrong := [value for value in parsed[key] if not isinstance(value, str)]:
            raise ConfigError(f"{source}: {key} holds {wrong[0]!r}; expected text")
    for key in ("settings", "training", "published"):
        parsed[key] = _parse_settings(content.get(key, {}), f"{source}: {key}")
    parsed["settings_on"] = {
        str(corpus): _parse_settings(settings, f"{source}: settings_on, {corpus}")
        for corpus, settings in content.get("settings_on", {}).items()
    }
    parsed["space"] = {
        str(key): _parse_values(values, f"{source}: space, {key}")
        for key, values in content.get("space", {}).items()
    }
    parsed["expected"] = {
        str(corpus): _parse_scores(scores, f"{source}: expected, {corpus}")
        for corpus, scores in content.get("expected", {}).items()
    }
    _check_published(parsed["published"], f"{source}: published")
    condition = Row(**parsed)
    _check_maker(condition, content, source)
    return condition


def _check_order(conditions: Sequence[Row], directory: Path) -> None:
    """Check that rows stand after those they take something of."""
    made: dict[str, Row] = {}
    for condition in conditions:
        for name in condition.needs:
            row = made.get(name)
            only_run = name not in (condition.vectors, condition.training.get("vectors"))
            # of recipes that are tuned no one knows where the run of the best settings lies
            if row is None or not (row.method or (only_run and not row.space)):
                raise ConfigError(
                    f"{directory / condition.name}.yaml: takes something of {name!r}; expected a "
                    f"row of a smaller order, with a method (or, for inputs, recipes without space)"
                )
            if name in condition.inputs and made[name].task != condition.task:
                raise ConfigError(
                    f"{directory / condition.name}.yaml: inputs names {name!r}, a row of the "
                    f"{made[name].task} task; expected one of the {condition.task} task"
                )
        made[condition.name] = condition


def _check_maker(condition: Row, content: Mapping[str, object], source: str) -> None:
    if bool(condition.method) == bool(condition.recipe):
        found = "both method and recipe" if condition.method else "neither method nor recipe"
        raise ConfigError(f"{source}: found {found}; expected one of them")
    if condition.method and "run" in content:
        raise ConfigError(
            f"{source}: found run beside method; leave it out, it is "
            f"runs/trec/CORPUS/{condition.name}"
        )
    if condition.similarity not in SIMILARITIES:
        raise ConfigError(
            f"{source}: similarity is {condition.similarity!r}; expected one of "
            f"{', '.join(SIMILARITIES)}"
        )
    if condition.task not in TASKS:
        raise ConfigError(
            f"{source}: task is {condition.task!r}; expected one of {', '.join(TASKS)}"
        )
    if condition.vectors and (condition.settings or condition.settings_on):
        raise ConfigError(
            f"{source}: found settings beside vectors; those of {condition.vectors} are in force"
        )
    if condition.task != "local" and condition.space:
        raise ConfigError(f"{source}: found space; tuning is for rows of the local task only")
    if not condition.recipe:
        return
    for key in ("similarity", "task", "top", "vectors", "inputs", "training"):
        if key in content:
            raise ConfigError(f"{source}: found {key} beside recipe; it belongs to a method")
    if not condition.run.strip():
        raise ConfigError(f"{source}: found no run; a recipe needs a line 'run: runs/trec/...'")
    lines = " ".join(condition.recipe)
    if (condition.settings or condition.settings_on) and "{flags}" not in lines:
        raise ConfigError(f"{source}: found settings, but no {{flags}} in recipe; add it there")
    if condition.space and not ("{flags}" in lines and "{variant}" in condition.run):
        raise ConfigError(
            f"{source}: found space, but not {{flags}} in recipe and {{variant}} in run; expected "
            f"both, so that each choice has a run of its own"
        )


def _checked(value: object, source: str) -> SettingValue:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ConfigError(f"{source}: found {value!r}; expected a number or a text")
    return value


def _parse_settings(settings: object, source: str) -> dict[str, SettingValue]:
    if not isinstance(settings, dict):
        raise ConfigError(f"{source}: found {settings!r}; expected names of settings and values")
    return {str(key): _checked(value, f"{source}, {key}") for key, value in settings.items()}


def _check_published(published: Mapping[str, SettingValue], source: str) -> None:
    for key, value in published.items():
        if (key == "corpus") != isinstance(value, str):
            raise ConfigError(
                f"{source}, {key}: found {value!r}; expected 'corpus: NAME' and numbers of measures"
            )


def _parse_values(values: object, source: str) -> tuple[SettingValue, ...]:
    if not isinstance(values, list) or not values:
        raise ConfigError(f"{source}: found {values!r}; expected a list of values to try")
    return tuple(_checked(value, source) for value in values)


def _parse_scores(scores: object, source: str) -> dict[str, tuple[float, float]]:
    if not isinstance(scores, dict):
        raise ConfigError(f"{source}: found {scores!r}; expected 'Recall@10 P>=1: [0.283, 0.010]'")
    for column, pair in scores.items():
        numbers = isinstance(pair, list) and len(pair) == 2
        numbers = numbers and all(
            isinstance(x, int | float) and math.isfinite(x) and x >= 0 for x in pair
        )
        if not numbers:
            raise ConfigError(
                f"{source}, {column}: found {pair!r}; expected [value, tolerance], value as a "
                f"fraction from 0 to 1"
            )
    return {
        column: (float(value), float(tolerance)) for column, (value, tolerance) in scores.items()
    }
