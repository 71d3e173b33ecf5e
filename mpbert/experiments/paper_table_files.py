"""Read tables of papers from a file of YAML: their rows, ours, and what is printed.

An entry::

    mp-bert4cr-table-3:
      paper: MP-BERT4CR
      title: Table 3, ACL
      corpora: [acl]                        # ours that stand for its corpus
      columns: [Recall@10 P=1, MAP@10 P=1]
      baselines:                            # in the order of the paper
        - {title: HD2V, row: hyperdoc2vec, printed: [30.91, 16.40]}
      rows:
        - {title: MB4R triplet, row: mp_bert4cr_small_triplet, printed: [30.82, 13.23]}
      notes: [what a reader should know]    # optional

A row without ``printed`` is not in the paper's table; ``note`` says what is wrong with the numbers.
"""

import math
from pathlib import Path

from mpbert.evaluation.paper_tables import PaperRow, PaperTable
from mpbert.evaluation.subsets import SUBSETS
from mpbert.experiments.claim_files import query_measure
from mpbert.experiments.row_values import Keys, as_it_is, one_of, parse_entry, read_entries, texts
from mpbert.foundation.errors import ConfigError

_MAX_TITLE = 18  # characters, so that six columns fit beside it


def read_paper_tables(path: Path, corpus: str) -> list[PaperTable]:
    """Read the tables that are for a corpus; the others are checked, too.

    :raises ConfigError: one is wrong.
    """
    entries = read_entries(path, "tables of papers")
    tables = [_table(name, content, f"{path}, {name}") for name, content in entries.items()]
    return [table for table in tables if corpus in table.corpora]


def _columns(values: list[object], source: str) -> tuple[tuple[str, str], ...]:
    found = []
    for text in texts(values, source):
        measure, _, subset = text.partition(" ")
        query_measure(measure, source)
        found.append((measure, one_of(*SUBSETS)(subset, f"{source}, {text!r}: subset")))
    return tuple(found)


def _row_title(value: str, source: str) -> str:
    if len(value) > _MAX_TITLE:
        raise ConfigError(f"{source} is {value!r}; expected at most {_MAX_TITLE} characters")
    return value


def _numbers(values: list[object], source: str) -> tuple[float, ...]:
    for value in values:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 <= value <= 100):
            raise ConfigError(f"{source} holds {value!r}; expected percents, or null for none")
    return tuple(math.nan if value is None else float(value) for value in values)


_ROW: Keys = {
    "title": (str, _row_title),
    "row": (str, as_it_is),
    "printed": (list, _numbers),
    "note": (str, as_it_is),
}
_TABLE: Keys = {
    "paper": (str, as_it_is),
    "title": (str, as_it_is),
    "corpora": (list, texts),
    "columns": (list, _columns),
    "baselines": (list, as_it_is),
    "rows": (list, as_it_is),
    "notes": (list, texts),
}


def _table(name: str, content: object, source: str) -> PaperTable:
    values = parse_entry(content, _TABLE, [key for key in _TABLE if key != "notes"], source)
    values["rows"] = tuple(
        _row(row, f"{source}, {key} {i}", len(values["columns"]), key == "baselines")
        for key in ("baselines", "rows")
        for i, row in enumerate(values[key], start=1)
    )
    del values["baselines"]
    return PaperTable(name, **values)


def _row(content: object, source: str, size: int, is_baseline: bool) -> PaperRow:
    values = parse_entry(content, _ROW, ("title", "row"), source)
    printed = values.setdefault("printed", (math.nan,) * size)
    if len(printed) != size:
        raise ConfigError(
            f"{source}: printed holds {len(printed)} numbers; expected one of each of the {size} "
            f"columns, null for none"
        )
    return PaperRow(**values, is_baseline=is_baseline)
