"""What papers are ranked for: citation contexts (local task) or whole papers (global task)."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.seeding import named_rng


def qrels_name(task: str, split: str, queries: str = "distinct") -> str:
    """Return the name of the file that says which papers the queries of a task cite.

    :param queries: ``distinct``, without contexts that repeat another of the split, or ``all``. For
        whole papers and for training contexts, of which none is a repeat, both are one file.
    """
    if task != "local":
        return f"qrels.{task}.{split}.txt"
    return f"qrels.{split}{'.all' * (queries == 'all' and split != 'train')}.txt"


@dataclass(frozen=True)
class Queries:
    """What papers are ranked for, as arrays in the order of citing row.

    :param query_ids: (Q,).
    :param citing_rows: (Q,), row of the citing paper.
    :param cited_offsets: (Q + 1,), query i owns ``cited_rows[offsets[i]:offsets[i + 1]]``.
    :param cited_rows: rows of the cited papers, which are to be found.
    :param years: (Q,), year of the citing paper.
    :param is_repeat: (Q,), bool, whether an earlier query of the split has the same words and cites
        the same papers, see :mod:`mpbert.corpus.repeats`; False for whole papers and in training.
    """

    query_ids: list[str]
    citing_rows: np.ndarray
    cited_offsets: np.ndarray
    cited_rows: np.ndarray
    years: np.ndarray
    is_repeat: np.ndarray

    def __len__(self) -> int:
        return len(self.query_ids)

    def cited(self, i: int) -> np.ndarray:
        """Rows of the papers which query ``i`` cites."""
        return self.cited_rows[self.cited_offsets[i] : self.cited_offsets[i + 1]]

    def distinct(self) -> Self:
        """Return the queries that repeat no other; measures count these."""
        return self.take(np.flatnonzero(~self.is_repeat)) if self.is_repeat.any() else self

    def take(self, places: np.ndarray) -> Self:
        """Return some of the queries, in the order given.

        :param places: (M,) which ones, as int64.
        """
        counts = np.diff(self.cited_offsets)[places]
        cited = ranges(self.cited_offsets[places], counts)
        ragged = {
            "query_ids": [self.query_ids[place] for place in places],
            "cited_offsets": offsets_of(counts),
            "cited_rows": self.cited_rows[cited],
        }
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ragged}
        return replace(self, **ragged, **{name: each[places] for name, each in plain.items()})


@dataclass(frozen=True)
class Contexts(Queries):
    """Local queries: citation contexts, ordered by position in their paper.

    An id is ``citing_id#position``; cited papers stand in order of appearance in the sentence.

    :param positions: (Q,), position of the citing sentence among the sentences of its paper.
    """

    positions: np.ndarray


@dataclass(frozen=True)
class Manuscripts(Queries):
    """Global queries: whole papers, known by title and abstract; all that they cite is sought.

    An id is that of the paper; cited papers stand in order of rows.
    """


def sample_of(queries: Queries, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places of a random sample of the distinct queries, each as likely as the others.

    :param size: how many; all where there are no more.
    :returns: (M,) int64, ascending, none twice.
    """
    places = np.flatnonzero(~queries.is_repeat)
    return np.sort(rng.choice(places, min(size, len(places)), replace=False))


def fixed_sample(queries: Queries, size: int | None) -> np.ndarray:
    """Return the places of the sample that tuning ranks and measures, the same every time.

    :param size: None: all queries.
    """
    if size is None:
        return np.arange(len(queries))
    return sample_of(queries, size, named_rng(1, "sample of queries"))
