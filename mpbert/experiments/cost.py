"""What rows cost: sums over the records of make-rows, as a table."""

import json
import logging
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)
Record = Mapping[str, Any]
NOTE = (
    "Wall seconds of the last time each step ended well; where training resumes after a kill, of "
    "the killed attempts that led to it, too. A row that takes runs or vectors of other rows costs "
    "what they do, too; another stage that rows share counts for the row that was made first. Peak "
    "memory is that of the largest process, without that of a GPU. +GPU: steps saw one, whose time "
    "is not counted. Begun: steps, killed and failed ones among them. Of several seeds the first "
    "is told. -: not made by make-rows."
)
_TITLE = 40  # characters of a line of the text; longer titles are broken
_HEADS = {  # to its width in characters
    "fit, embed, s": 14,
    "rank, s": 9,
    "CPU, s": 13,
    "peak MiB": 10,
    "cores": 8,
    "begun": 6,
}


@dataclass(frozen=True)
class RowCost:
    """What one row took.

    :param make_seconds: to fit and embed; None where nothing of it was recorded.
    :param rank_seconds: to rank; None where it is not told apart.
    :param begun: number of steps.
    :param cores: that the steps could use, at most.
    :param gpu: whether one of the steps saw a GPU, whose time is not counted.
    """

    make_seconds: float | None
    rank_seconds: float | None
    cpu_seconds: float
    peak_mib: int
    begun: int
    cores: int
    gpu: bool = False

    @property
    def seconds(self) -> float:
        """Both together."""
        return (self.make_seconds or 0.0) + (self.rank_seconds or 0.0)

    def with_others(self, others: Sequence["RowCost"]) -> "RowCost":
        """Return the cost of a row with that of the rows that it takes something of."""
        if not others:
            return self
        return RowCost(
            (self.make_seconds or 0.0) + sum(other.seconds for other in others),
            self.rank_seconds,
            self.cpu_seconds + sum(other.cpu_seconds for other in others),
            max(self.peak_mib, *(other.peak_mib for other in others)),
            self.begun + sum(other.begun for other in others),
            max(self.cores, *(other.cores for other in others)),
            self.gpu or any(other.gpu for other in others),
        )


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, a line each; none where there is no file.

    A line that a kill or a full disk cut short ended nothing, and is left out.
    """
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            logger.warning("%s: left out a line that was cut short", path)
    return records


def append_record(path: Path, record: Record) -> None:
    """Write a record on a line of its own at the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_short = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * cut_short + json.dumps(record) + "\n")


def row_cost(
    records: Sequence[Record], steps: Sequence[str], resumes: bool = False
) -> RowCost | None:
    """Sum up the records of a row; None where its last step is not known to have ended well.

    :param records: in the order in which they were written.
    :param steps: names of the steps that make the row; a name stands once for each such step.
    :param resumes: whether a step goes on where a killed one was, so that its attempts count.
    """
    counted = _counted([r for r in records if "exit_code" in r], steps, resumes)
    if steps[-1] not in {record["step"] for record in counted}:
        return None
    seconds: dict[bool, float] = {}
    for record in counted:
        ranks = record["step"] == steps[-1] and steps[-1] in ("retrieve", "answer")
        seconds[ranks] = seconds.get(ranks, 0.0) + record["seconds"]
    return RowCost(
        seconds.get(False),
        seconds.get(True),
        sum(record["cpu_seconds"] for record in counted),
        max(record["peak_mib"] for record in counted),
        sum(r.get("event") == "started" and r["step"] in steps for r in records),
        max(record["cores"] for record in counted),
        any(record.get("gpu", False) for record in counted),
    )


def _counted(ended: Sequence[Record], steps: Sequence[str], resumes: bool) -> list[Record]:
    """Return the records of the last making of each step, in order.

    A making is a record of exit code 0, and the failed ones of this name between it and the making
    before. Of makings with the same output the last counts. Older records tell no output, so of
    each name no more makings count than there are steps of it, the last ones.
    """
    left, seen, counts, found = Counter(steps), set(), {}, []
    for record in reversed(ended):
        name, output = record["step"], record.get("output")
        if not record["exit_code"]:
            counts[name] = left[name] > 0 and (output is None or (name, output) not in seen)
            left[name] -= counts[name]
            seen.add((name, output))
        if counts.get(name) and (resumes or not record["exit_code"]):
            found.append(record)
    return found[::-1]


def render_cost(rows: Sequence[tuple[str, str, RowCost | None]]) -> dict[str, str]:
    """Return the table by the suffix of its format.

    :param rows: name, title and cost, None where it is not known, in the order of the report.
    """
    heads, widths = list(_HEADS), list(_HEADS.values())
    lines = [(title, _cells(cost)) for _, title, cost in rows]
    text = ["WHAT THE ROWS COST", "-" * 100, " " * _TITLE + _right(heads, widths)]
    for title, cells in lines:
        first, *more = textwrap.wrap(title, _TITLE, subsequent_indent="  ")
        text += [first.ljust(_TITLE) + _right(cells, widths), *more]
    hours = sum(cost.cpu_seconds for _, _, cost in rows if cost) / 3600
    note = f"All rows: at most {hours:,.1f} CPU hours a seed; what they share is in each. {NOTE}"
    markdown = ["| | " + " | ".join(heads) + " |", "|:--" + "|--:" * len(heads) + "|"]
    markdown += [f"| {_escaped(title)} | " + " | ".join(cells) + " |" for title, cells in lines]
    return {
        "txt": "\n".join([*text, "", textwrap.fill(note, 100)]) + "\n",
        "md": "\n".join([*markdown, "", note]) + "\n",
        "json": json.dumps({name: asdict(cost) for name, _, cost in rows if cost}, indent=1) + "\n",
    }


def _cells(cost: RowCost | None) -> list[str]:
    if cost is None:
        return ["-"] * len(_HEADS)
    return [
        *("-" if s is None else f"{s:,.1f}" for s in (cost.make_seconds, cost.rank_seconds)),
        f"{cost.cpu_seconds:,.1f}",
        f"{cost.peak_mib:,}",
        f"{cost.cores}" + "+GPU" * cost.gpu,
        f"{cost.begun}",
    ]


def _right(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _escaped(title: str) -> str:
    return title.replace("|", r"\|")
