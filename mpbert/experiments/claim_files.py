"""Read claims from a file of YAML: names to what is said, and how it is measured.

An entry::

    multi-positive-above-triplet:
      paper: MP-BERT4CR
      where: Sec. 5.4.1, Table 3            # optional
      claim: The multi-positive objective is above the triplet.
      better: mp_bert4cr_small_mpt_src_tgt  # a row
      than: mp_bert4cr_small_triplet        # a row, a list whose best counts, or lexical
      measure: MAP@10
      subset: [P>=1, P>=2]                  # optional, one or several; P>=1
      rows_on:                              # optional: other rows on some corpora
        rfc: {better: mp_bert4cr_tiny_mpt_src_tgt, than: mp_bert4cr_tiny_triplet}

In place of ``subset``, ``more_in: rare`` and ``less_in: other`` say that the gain is larger there.
A row that is in no file of rows yet may be named: its claim is left out until there is one.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mpbert.evaluation.claims import STRONGEST, Claim
from mpbert.evaluation.measures import depth_needed, parse_query_measure
from mpbert.evaluation.report import DEPTH
from mpbert.evaluation.subsets import SUBSETS
from mpbert.experiments.row_values import (
    Keys,
    as_it_is,
    by_corpus,
    one_of,
    parse_entry,
    read_entries,
    texts,
)
from mpbert.experiments.rows import Row
from mpbert.foundation.errors import ConfigError

_NEEDED = ("paper", "claim", "better", "than", "measure")


def read_claims(path: Path, corpus: str) -> list[Claim]:
    """Read all claims, with the rows of a corpus; one of several subsets is several claims.

    :raises ConfigError: one is wrong.
    """
    entries = read_entries(path, "claims")
    return [
        claim
        for name, content in entries.items()
        for claim in _claims(name, content, f"{path}, {name}", corpus)
    ]


def claims_of_task(claims: Iterable[Claim], rows: Mapping[str, Row], task: str) -> list[Claim]:
    """Return the claims on rows of a task; ``local`` are those that name no row there is.

    :param rows: all there are, of any task.
    :raises ConfigError: a claim names rows of two tasks, or its cutoff is deeper than the task's.
    """
    chosen = [c for c in claims if task_of(c.rows, rows, f"claim {c.name}") == task]
    for claim in chosen:
        check_depth(claim.measure, task, f"claim {claim.name}")
    return chosen


def check_depth(name: str, task: str, source: str) -> None:
    """Check that a measure looks no deeper than rows of a task are looked at.

    :raises ConfigError: it does.
    """
    if depth_needed([name], 1) > DEPTH[task]:
        raise ConfigError(
            f"{source}: measure is {name}; expected a cutoff of at most {DEPTH[task]}, as deep as "
            f"rows of the {task} task are looked at"
        )


def task_of(names: Sequence[str], rows: Mapping[str, Row], source: str) -> str:
    """Return the task of the rows that there are; ``local`` where there is none.

    :raises ConfigError: they are of two tasks.
    """
    tasks = {name: rows[name].task for name in names if name in rows}
    if len(set(tasks.values())) > 1:
        words = ", ".join(f"{name} ({task})" for name, task in tasks.items())
        raise ConfigError(f"{source}: names rows of two tasks: {words}; expected rows of one")
    return next(iter(tasks.values()), "local")


def query_measure(value: str, source: str) -> str:
    """Return a measure that has a value for each query.

    :raises ConfigError: it is none.
    """
    try:
        parse_query_measure(value)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error
    return value


def _subsets(value: str | list, source: str) -> tuple[str, ...]:
    names = texts([value] if isinstance(value, str) else value, source)
    return tuple(one_of(*SUBSETS)(name, source) for name in names)


def _than(value: str | list, source: str) -> tuple[str, ...]:
    names = texts([value] if isinstance(value, str) else value, source)
    if not names or (STRONGEST in names and len(names) > 1):
        raise ConfigError(f"{source} is {value!r}; expected a row, a list of rows, or {STRONGEST}")
    return names


def _rows_there(value: object, source: str) -> dict[str, Any]:
    return parse_entry(value, {key: _KEYS[key] for key in ("better", "than")}, (), source)


_KEYS: Keys = {
    "paper": (str, as_it_is),
    "where": (str, as_it_is),
    "claim": (str, as_it_is),
    "better": (str, as_it_is),
    "than": ((str, list), _than),
    "measure": (str, query_measure),
    "subset": ((str, list), _subsets),
    "more_in": (str, one_of(*SUBSETS)),
    "less_in": (str, one_of(*SUBSETS)),
    "rows_on": (dict, by_corpus(_rows_there)),
}


def _claims(name: str, content: object, source: str, corpus: str) -> list[Claim]:
    values = parse_entry(content, _KEYS, _NEEDED, source)
    both = [key for key in ("more_in", "less_in") if key in values]
    if len(both) == 1 or (both and "subset" in values):
        raise ConfigError(
            f"{source}: found {' and '.join(key for key in ('subset', *both) if key in values)}; "
            f"expected subset, or more_in and less_in"
        )
    there = values.pop("rows_on", {}).get(corpus, {})
    subsets = values.pop("subset", ("",) if both else ("P>=1",))
    values["text"] = values.pop("claim")
    claim = Claim(name, **{"where": "", **values, **there})
    if claim.better in claim.than:
        raise ConfigError(f"{source}: {claim.better} is set against itself; name another row")
    return [dataclasses.replace(claim, subset=subset) for subset in subsets]
