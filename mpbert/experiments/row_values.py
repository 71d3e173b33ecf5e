"""Entries of files of YAML, such as rows and claims: known keys, whose values are checked.

A wrong value is named with its place.
"""

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from mpbert.corpus.tasks import TASKS
from mpbert.evaluation.tuned import SettingValue
from mpbert.experiments.rows import PretrainedOn
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.option_files import read_yaml
from mpbert.retrieval.options import SIMILARITIES

MAX_TITLE = 40  # characters, so that a table of six columns fits a terminal of 100
_MAY_HOLD = ("yes", "maybe", "no")  # whether texts may hold the citations of test papers
Parser = Callable[[Any, str], Any]
Keys = Mapping[str, tuple[type | tuple[type, ...], Parser]]  # key to type and parser


def one_of(*choices: str) -> Parser:
    """Return a parser of a text that is one of some."""

    def parse(value: str, source: str) -> str:
        if value not in choices:
            raise ConfigError(
                f"{source} is {value!r}; expected one of {', '.join(sorted(choices))}"
            )
        return value

    return parse


def as_it_is(value: Any, source: str) -> Any:
    """Return a value whose type says all."""
    return value


def title(value: str, source: str) -> str:
    """Return a title of one line that fits its column."""
    if len(value) > MAX_TITLE or "\n" in value:
        raise ConfigError(
            f"{source.removesuffix(': title')}: the title has {len(value)} characters; expected "
            f"one line of at most {MAX_TITLE}, put the rest into the note"
        )
    return value


def texts(values: list[object], source: str) -> tuple[str, ...]:
    """Return a list of texts."""
    if wrong := [value for value in values if not isinstance(value, str)]:
        raise ConfigError(f"{source} holds {wrong[0]!r}; expected text")
    return tuple(values)


def settings(value: object, source: str) -> dict[str, SettingValue]:
    """Return names of settings with their values; yes and no are texts, as on a command line."""
    if not isinstance(value, dict):
        raise ConfigError(f"{source}: found {value!r}; expected names of settings and values")
    words = {True: "true", False: "false"}
    plain = {k: words[v] if isinstance(v, bool) else v for k, v in value.items()}
    return {str(key): _setting(each, f"{source}, {key}") for key, each in plain.items()}


def by_corpus(parse: Parser) -> Parser:
    """Return a parser of values by the name of a corpus."""
    return lambda value, source: {
        str(corpus): parse(each, f"{source}, {corpus}") for corpus, each in value.items()
    }


def space(value: Mapping[object, object], source: str) -> dict[str, tuple[SettingValue, ...]]:
    """Return names of settings with the values to try."""
    return {str(key): _values(values, f"{source}, {key}") for key, values in value.items()}


def published(value: object, source: str) -> dict[str, SettingValue]:
    """Return what a paper prints: its corpus, and numbers by measure."""
    found = settings(value, source)
    for key, each in found.items():
        if (key == "corpus") != isinstance(each, str):
            raise ConfigError(
                f"{source}, {key}: found {each!r}; expected 'corpus: NAME' and numbers of measures"
            )
    return found


def pretrained_on(value: Mapping[object, object], source: str) -> PretrainedOn:
    """Return what a ready-made model has read, and by corpus whether that may hold the test."""
    form = "'{texts: Wikipedia, holds_test: {acl: maybe, rfc: no}}'"
    texts, holds = value.get("texts"), value.get("holds_test")
    if set(value) != {"texts", "holds_test"} or not isinstance(texts, str) or not texts.strip():
        raise ConfigError(f"{source}: found {dict(value)!r}; expected {form}")
    answers = settings(holds, f"{source}, holds_test")
    words = {"true": "yes", "false": "no"}  # as YAML reads yes and no
    plain = {corpus: words.get(str(answer), answer) for corpus, answer in answers.items()}
    for corpus, answer in plain.items():
        if answer not in _MAY_HOLD:
            raise ConfigError(
                f"{source}, holds_test, {corpus}: found {answer!r}; expected one of "
                f"{', '.join(_MAY_HOLD)}"
            )
    return PretrainedOn(" ".join(texts.split()), plain)


def count(value: object, source: str) -> int:
    """Return a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{source} is {value!r}; expected a whole number of 1 or more")
    return value


def hours(value: object, source: str) -> float:
    """Return a number of hours, above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ConfigError(f"{source}: found {value!r}; expected a number of CPU hours above 0")
    return float(value)


def _setting(value: object, source: str) -> SettingValue:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ConfigError(f"{source}: found {value!r}; expected a number or a text")
    return value


def _values(values: object, source: str) -> tuple[SettingValue, ...]:
    if not isinstance(values, list) or not values:
        raise ConfigError(f"{source}: found {values!r}; expected a list of values to try")
    return tuple(_setting(value, source) for value in values)


def path_of_run(value: str, source: str) -> str:
    """Return the path of a run that another system has made."""
    if not value.strip():
        raise ConfigError(f"{source} is empty; expected a file, such as theirs.run")
    return value


KEYS: dict[str, tuple[type, Parser]] = {
    "title": (str, title),
    "method": (str, as_it_is),
    "settings": (dict, settings),
    "settings_on": (dict, by_corpus(settings)),
    "similarity": (str, one_of(*SIMILARITIES)),
    "task": (str, one_of(*TASKS)),
    "top": (int, count),
    "vectors": (str, as_it_is),
    "dim": (int, count),
    "inputs": (list, texts),
    "training": (dict, settings),
    "config": (str, as_it_is),
    "pretrained": (str, as_it_is),
    "start": (str, as_it_is),
    "sentences": (str, as_it_is),
    "readings": (int, count),
    "vocab_size_on": (dict, by_corpus(count)),
    "space": (dict, space),
    "developed": (dict, by_corpus(hours)),
    "corpora": (list, texts),
    "run": (str, path_of_run),
    "optional": (bool, as_it_is),
    "gpu": (bool, as_it_is),
    "note": (str, as_it_is),
    "order": (int, as_it_is),
    "published": (dict, published),
    "pretrained_on": (dict, pretrained_on),
}


def read_entries(path: Path, what: str) -> dict[str, object]:
    """Return the entries of a file by name.

    :param what: they are, for the messages: such as ``claims``.
    :raises ConfigError: it is unreadable, or maps no names to entries.
    """
    content = read_yaml(path, f"{what} by name")
    if not isinstance(content, dict) or not content:
        raise ConfigError(f"{path}: found {type(content).__name__}; expected {what} by name")
    return {str(name): entry for name, entry in content.items()}


def parse_entry(content: object, keys: Keys, needed: Collection[str], source: str) -> dict:
    """Return the values of an entry, each checked.

    :param needed: keys that it must have.
    :param source: what the messages call it.
    :raises ConfigError: a key is missing, unknown or of the wrong kind.
    """
    if not isinstance(content, dict):
        raise ConfigError(
            f"{source}: found {type(content).__name__}; expected keys {', '.join(needed)}"
        )
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in keys:
            raise ConfigError(
                f"{source}: unknown key {key!r}; expected one of {', '.join(sorted(keys))}"
            )
        kind, parse = keys[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(each.__name__ for each in kinds)
            raise ConfigError(f"{source}: {key} is {value!r}; expected {names}")
        values[key] = parse(value, f"{source}: {key}")
    for key in needed:
        value = values.get(key)
        if not (value.strip() if isinstance(value, str) else value):
            raise ConfigError(f"{source}: found no {key}; expected a line '{key}: ...'")
    return values
