"""What a report needs of runs, in one file: rows that were measured elsewhere or earlier.

A file of JSON Lines is of one corpus. A line is of one row and seed: its name, how it was made, its
cost, what it is of, self-citation where there are authors, reliability where it gave
probabilities, and its ``ranks``. These are unsigned
integers, of the least width that holds the depth, little-endian, in this order, packed by zlib and
written in base 85:

* (Q,) number of relevant papers that were found for each of the ``queries``
* (H,) their ranks, from 1
* (Q,) number of papers that were ranked, at most the depth of the task

The same results have the same bytes. Of two lines of one name the last one counts, so files are
joined by writing one behind the other.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mpbert.corpus.trec import Qrels
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.reliability import Reliability
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tuned import Settings
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.rows import with_needs
from mpbert.foundation.errors import OutputError, RunError
from mpbert.foundation.option_files import read_yaml
from mpbert.foundation.ragged import row_numbers

_Figures = TypeVar("_Figures", SelfCitation, Reliability)
# keys of a row, beside its settings, on which its run depends
_MAKING = ("method", "similarity", "task", "top", "vectors", "dim", "inputs", "training")
_NAMED = ("sentences", "start")  # those that a digest has where the row names them alone
# what json, base64, zlib and numpy raise where a line is damaged, and we where a part is missing
_BROKEN = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError),
    *(MemoryError, RecursionError, OverflowError, zlib.error),
)


@dataclass(frozen=True)
class KeptRun:
    """What a report needs of the run of one row and seed.

    :param judged: of all queries of the split.
    :param settings: that were in force, but for the defaults of the method.
    :param recipe: the row, and each that it needs, to a digest of all that its run depends on.
    :param remarks: what a reader should know of the run.
    :param counted: which queries remarks and figures are of, ``distinct`` or ``all``.
    :param cost: with that of the rows it needs; None where it is not known.
    """

    judged: Judged
    settings: Settings = field(default_factory=dict)
    recipe: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    self_citation: SelfCitation | None = None
    cost: RowCost | None = None
    counted: str = "distinct"
    reliability: Reliability | None = None


def subject_of(
    corpus: str,
    split: str,
    task: str,
    depth: int,
    qrels: Qrels,
    papers: Sequence[str],
    training: Sequence[str],
) -> dict[str, str | int]:
    """Return what a result is of: two with the same subject can stand in one report.

    :param depth: ranks of each query that are looked at.
    :param qrels: of all queries that the runs rank.
    :param papers: of the corpus, in order: their ids, and what else a run depends on.
    :param training: training queries, in order, with what they cite.
    """
    owners = row_numbers(np.diff(qrels.offsets))
    pairs = sorted(
        f"{qrels.query_ids[owner]} {qrels.paper_ids[code]}"
        for owner, code in zip(owners.tolist(), qrels.codes.tolist(), strict=True)
    )
    order = "\n".join(qrels.query_ids) + "\n"
    return {
        "corpus": corpus,
        "split": split,
        "task": task,
        "depth": depth,
        "queries": _digest(order + "\n".join(pairs)),
        "papers": _digest("\n".join(papers)),
        "training": _digest("\n".join(training)),
    }


def recipe_of(experiment: Experiment, variant: Variant) -> dict[str, str]:
    """Return a digest of all that the run of a row depends on; of each row that it needs, too.

    :returns: name of the row to digest; itself first.
    """
    names = with_needs(list(experiment.rows.values()), {variant.row.name})
    names = [variant.row.name, *sorted(names - {variant.row.name})]
    return {name: _digest_of_row(experiment, experiment.variant(name)) for name in names}


class KeptRuns:
    """The results in a file, by the names of their rows and seeds.

    :param path: of the file, which need not exist yet.
    :raises RunError: it is unreadable.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[str, dict[str, Any]] = {}
        place = str(path)
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            for number, line in enumerate(text.splitlines(), start=1):
                place = f"{path}, line {number}"
                content = json.loads(line)
                self._lines[str(content.pop("name"))] = content
        except _BROKEN as error:
            raise _unreadable(place, error) from error

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def cost(self, name: str) -> RowCost | None:
        """Return what a row took; None where it is not known.

        :raises RunError: its line is damaged.
        """
        try:
            found = self._lines[name]["cost"]
            return RowCost(**found) if found else None
        except _BROKEN as error:
            raise _unreadable(f"{self.path}, {name}", error) from error

    def read(self, name: str, subject: Mapping[str, str | int]) -> KeptRun:
        """Return the result of a row and seed.

        :param subject: that it is to be of.
        :raises RunError: its line is damaged, or it is of another corpus, split, task, or of other
            queries.
        """
        try:
            line = self._lines[name]
            self._check(name, line["subject"], subject)
            return KeptRun(
                _judged(line),
                line["settings"],
                line["recipe"],
                tuple(line["remarks"]),
                _figures(SelfCitation, line["self_citation"]),
                self.cost(name),
                line["counted"],
                _figures(Reliability, line.get("reliability")),
            )
        except _BROKEN as error:
            raise _unreadable(f"{self.path}, {name}", error) from error

    def _check(
        self, name: str, of: Mapping[str, str | int], subject: Mapping[str, str | int]
    ) -> None:
        if different := [key for key in subject if of.get(key) != subject[key]]:
            found = ", ".join(f"{key} {_short(of.get(key))}" for key in different)
            wanted = ", ".join(f"{key} {_short(subject[key])}" for key in different)
            raise RunError(
                f"{self.path}, {name}: found a result of {found}; expected {wanted}: take its line "
                f"away, and measure the row again with report --kept"
            )

    def put(self, name: str, run: KeptRun, subject: Mapping[str, str | int]) -> None:
        """Write the file with the result of a row and seed, in place of an older one.

        :param subject: of :func:`subject_of`.
        :raises OutputError: it cannot be written.
        """
        self._lines[name] = {
            **{"settings": dict(run.settings), "recipe": dict(run.recipe)},
            **{"remarks": list(run.remarks), "counted": run.counted},
            **{"cost": asdict(run.cost) if run.cost else None, "subject": dict(subject)},
            "self_citation": _as_lists(run.self_citation),
            **({"reliability": _as_lists(run.reliability)} if run.reliability else {}),
            "queries": len(run.judged.depths),
            "ranks": _packed(run.judged),
        }
        partial = self.path.with_name(self.path.name + ".partial")
        lines = (
            json.dumps({"name": each, **self._lines[each]}, ensure_ascii=False) + "\n"
            for each in sorted(self._lines)
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text("".join(lines), encoding="utf-8")
            partial.replace(self.path)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written ({error.strerror}); choose another file for --kept"
            ) from error


def _as_lists(figures: SelfCitation | Reliability | None) -> dict[str, Any] | None:
    return figures and {key: np.asarray(value).tolist() for key, value in vars(figures).items()}


def _figures(kind: type[_Figures], found: Mapping[str, Any] | None) -> _Figures | None:
    if found is None:
        return None
    numbers = [found[each.name] for each in fields(kind)]
    return kind(*(np.array(each) if isinstance(each, list) else float(each) for each in numbers))


def _packed(judged: Judged) -> str:
    """Return ranks as the text that a line holds."""
    kind = _kind(judged.hits.shape[1])
    owner, place = np.nonzero(judged.hits)
    num_hits = np.bincount(owner, minlength=len(judged.hits))
    values = np.concatenate([num_hits, place + 1, judged.depths]).astype(kind)
    return base64.b85encode(zlib.compress(values.tobytes(), 9)).decode()


def _judged(line: Mapping[str, Any]) -> Judged:
    """Return the ranks of a line as a matrix.

    :raises ValueError: they do not fit together.
    """
    depth, num_queries = int(line["subject"]["depth"]), int(line["queries"])
    packed = zlib.decompress(base64.b85decode(line["ranks"]))
    values = np.frombuffer(packed, dtype=_kind(depth)).astype(int)
    counts, depths = values[:num_queries], values[len(values) - num_queries :]
    ranks = values[num_queries : len(values) - num_queries]
    fits = 0 < 2 * num_queries <= len(values) and counts.sum() == len(ranks)
    if not fits or ranks.min(initial=1) < 1 or max(ranks.max(initial=1), depths.max()) > depth:
        raise ValueError("ranks do not fit")
    hits = np.zeros((num_queries, depth), dtype=bool)
    hits[row_numbers(counts), ranks - 1] = True
    return Judged(hits, depths)


def _kind(depth: int) -> np.dtype:
    return np.min_scalar_type(depth).newbyteorder("<")


def _unreadable(place: str, error: Exception) -> RunError:
    return RunError(
        f"{place}: unreadable ({type(error).__name__}); expected a line that report --kept wrote: "
        f"take it away, and measure the row again"
    )


def _digest_of_row(experiment: Experiment, variant: Variant) -> str:
    row, corpus = variant.row, experiment.corpus.name
    configs = [
        read_yaml(file, "a configuration")
        for stage, name in (("finetune", row.config), ("pretrain", row.pretrained))
        if name and (file := experiment.config_file(stage, name)).is_file()
    ]
    content = {
        **{key: getattr(row, key) for key in _MAKING},
        **{key: value for key in _NAMED if (value := getattr(row, key))},
        "settings": dict(variant.settings),
        "readings": row.readings,
        "vocab_size": row.vocab_size_on.get(corpus),
        "configs": configs,
    }
    return _digest(json.dumps(content, sort_keys=True, default=str))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(value: object) -> str:
    return str(value)[:12]
