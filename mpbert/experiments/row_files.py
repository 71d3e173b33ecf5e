"""Read rows from files: a folder of ``NAME.yaml``, or one file of several rows by name.

A row may take over another one and say what is different::

    base: token_bag          # a row of the same files, or a path beside this file without .yaml
    settings: {dim: 64}      # joins and replaces the settings of the base

Its other keys replace those of the base. Title, note, order and published scores, and the hours of
development are of one row alone, and are never taken over; nor is the space, by a row that ranks
with the vectors of another one.

Rows of a file ``appendix.yaml`` are made only where they are named, or others need them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mpbert.experiments.row_values import KEYS, as_it_is, parse_entry
from mpbert.experiments.rows import MAPS, MODEL, PAIRS, RUN, Row
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.option_files import read_yaml

_APPENDIX = "appendix"  # name of the file
_OWN = ("title", "note", "order", "published", "developed", "run")  # not those of the base
_MODEL_KEYS = ("config", "pretrained", "start", "sentences", "readings", "vocab_size_on")
# keys of a row whose run another system has made
_RUN_KEYS = ("run", "title", "note", "order", "task", "corpora", "optional", "published")
_RUN_KEYS += ("pretrained_on",)
Content = Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Read all rows, in the order of the tables.

    :param path: folder of files, or a file of several rows.
    :raises ConfigError: there is none, or one is wrong.
    """
    entries = {}  # name to content and place
    for file in row_files(path):
        for name, content, source in _entries(file):
            if name in entries:
                raise ConfigError(
                    f"{source}: there is a row of this name in {entries[name][1]}, too; rename one"
                )
            entries[name] = content, source, file
    if not entries:
        raise ConfigError(f"{path}: found no *.yaml; expected one file per row")
    rows = [
        _beside(file, parse_row(name, _with_base(content, source, file, entries), source))
        for name, (content, source, file) in entries.items()
    ]
    rows.sort(key=lambda row: (row.order, row.name))
    _check_order(rows, {name: source for name, (_, source, _) in entries.items()})
    return rows


def row_files(path: Path) -> list[Path]:
    """Return the files that hold rows."""
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]


def configs_beside(path: Path) -> Path:
    """Return the folder whose configurations rows name: two above them, as in a checkout.

    :param path: what :func:`read_rows` takes.
    """
    return path.absolute().parents[1] if len(path.parents) < 2 else path.parents[1]


def parse_row(name: str, content: object, source: str) -> Row:
    """Check what an entry says; methods and their settings are checked when they are used.

    :param content: of YAML, with all that it takes over.
    :param source: what the messages call it.
    :raises ConfigError: a key is missing, unknown or of the wrong kind.
    """
    is_given = isinstance(content, dict) and "run" in content
    needed = ("title", "run" if is_given else "method")
    values = parse_entry(content, {"base": (str, as_it_is), **KEYS}, needed, source)
    values.pop("base", None)  # the content holds what it takes over
    if is_given:
        _check_keys_beside_run(content, source)
        values["method"] = RUN
    row = Row(name=name, **values)
    _check_keys(row, content, source)
    return row


def _beside(file: Path, row: Row) -> Row:
    """Return a row that knows whether its file is the appendix, and a run beside that file."""
    run = str(file.parent / row.run) if row.run else ""
    return replace(row, run=run, appendix=file.stem == _APPENDIX)


def _entries(file: Path) -> list[tuple[str, object, str]]:
    """Return name, content and place of each row of a file."""
    content = read_yaml(file, "a row")
    if not _holds_several(content):
        return [(file.stem, content, str(file))]
    return [(str(name), each, f"{file}, {name}") for name, each in content.items()]


def _holds_several(content: object) -> bool:
    """Whether a file maps names to rows: a single row has a title or a base, which are texts."""
    if not isinstance(content, dict) or not content or {"title", "base", "method"} & set(content):
        return False
    return all(isinstance(value, dict) for value in content.values())


def _with_base(
    content: object,
    source: str,
    file: Path,
    entries: Mapping[str, tuple[object, str, Path]],
    seen: tuple[str, ...] = (),
) -> object:
    """Return the content of a row with what it takes over."""
    if not isinstance(content, dict) or "base" not in content:
        return content
    own = {key: value for key, value in content.items() if key != "base"}
    base = content["base"]
    if not isinstance(base, str) or source in seen:
        raise ConfigError(
            f"{source}: base is {base!r}; expected the name of another row that is not based on "
            f"this one"
        )
    if base in entries and entries[base][1] != source:
        found, place, beside = entries[base]
    else:
        beside = file.parent / f"{base}.yaml"
        if not beside.is_file():
            raise ConfigError(
                f"{source}: base is {base!r}; expected one of {', '.join(sorted(entries))}, or a "
                f"path without .yaml; there is no {beside}"
            )
        [(_, found, place), *_] = _entries(beside)
    found = _with_base(found, place, beside, entries, (*seen, source))
    if not isinstance(found, dict):
        return own
    joined = {
        key: {**found[key], **own[key]}
        for key in ("settings",)
        if isinstance(found.get(key), dict) and isinstance(own.get(key), dict)
    }
    left = (*_OWN, "space") if "vectors" in own else _OWN  # whose vectors these are is tuned
    return {**{key: v for key, v in found.items() if key not in left}, **own, **joined}


def _check_keys(row: Row, content: Content, source: str) -> None:
    """Check keys that belong together."""
    if row.vectors and (row.settings or row.settings_on) and not row.inputs:
        raise ConfigError(
            f"{source}: found settings beside vectors; those of {row.vectors} are in force"
        )
    if row.vectors and row.space and not row.inputs:
        raise ConfigError(f"{source}: found space beside vectors; {row.vectors} is tuned instead")
    theirs = {"start"} if row.method in (MAPS, PAIRS) else set()
    wrong = [key for key in _MODEL_KEYS if key in content and key not in theirs]
    if row.method == MAPS and not (row.start or row.vectors):
        raise ConfigError(f"{source}: found no start; {MAPS} needs a line 'start: hatten'")
    if row.method != MODEL and wrong:
        raise ConfigError(f"{source}: found {wrong[0]}; it belongs to method {MODEL}")
    if row.method != MODEL:
        return
    if not row.config and not row.vectors:
        raise ConfigError(f"{source}: found no config; {MODEL} needs a line 'config: token_bag'")
    for key in ("similarity", "inputs", "training"):
        if key in content:
            raise ConfigError(f"{source}: found {key}; {MODEL} has none, leave it out")
    if row.start and row.pretrained and not row.sentences:
        raise ConfigError(
            f"{source}: found start and pretrained; expected one of them, since both hold a bag; "
            f"a document level over sentences joins a start"
        )
    if row.task != "local":
        raise ConfigError(f"{source}: task is {row.task}; {MODEL} embeds contexts, leave it out")


def _check_keys_beside_run(content: Content, source: str) -> None:
    if wrong := [key for key in content if key not in _RUN_KEYS]:
        raise ConfigError(
            f"{source}: found {wrong[0]} beside run, which another system has made; expected no "
            f"keys but {', '.join(sorted(_RUN_KEYS))}"
        )


def _check_order(rows: Sequence[Row], sources: Mapping[str, str]) -> None:
    """Check that rows stand after those they take something of."""
    made: dict[str, Row] = {}
    for row in rows:
        for name in row.needs:
            if name not in made:
                raise ConfigError(
                    f"{sources[row.name]}: takes something of {name!r}; expected a row of "
                    f"these files, of a smaller order"
                )
            if made[name].run:
                raise ConfigError(
                    f"{sources[row.name]}: takes something of {name!r}, whose run another system "
                    f"has made; expected a row of ours: rerank --runs fuses any runs"
                )
            if name in row.inputs and made[name].task != row.task:
                raise ConfigError(
                    f"{sources[row.name]}: inputs names {name!r}, a row of the "
                    f"{made[name].task} task; expected one of the {row.task} task"
                )
        made[row.name] = row
