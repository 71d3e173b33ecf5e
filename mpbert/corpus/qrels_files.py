"""Writes which papers the queries of a corpus cite, as TREC has it."""

from contextlib import ExitStack
from pathlib import Path

from mpbert.corpus.queries import qrels_name
from mpbert.corpus.splits import SPLITS


class QrelsFiles:
    """A file for each split, and one without repeats.

    :param task: ``local`` or ``global``.
    """

    def __init__(self, directory: Path, task: str) -> None:
        self._stack = ExitStack()
        self._all = {split: qrels_name(task, split, "all") for split in SPLITS}
        self._distinct = {split: qrels_name(task, split) for split in SPLITS}
        names = {*self._all.values(), *self._distinct.values()}
        self._files = {
            name: self._stack.enter_context((directory / name).open("w", encoding="utf-8"))
            for name in sorted(names)
        }

    def __enter__(self) -> "QrelsFiles":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def add(self, split: str, query: str, cited: list[str], is_repeat: bool) -> None:
        """Add a query and the ids of what it cites."""
        lines = "".join(f"{query} 0 {cited_id} 1\n" for cited_id in cited)
        names = {self._all[split]} if is_repeat else {self._all[split], self._distinct[split]}
        for name in names:
            self._files[name].write(lines)
