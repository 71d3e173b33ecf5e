"""Blocks of papers become rows of an index, with their vectors and words: work of any engine."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mpbert.corpus.paper_bytes import paper_of
from mpbert.foundation.engines import Job
from mpbert.foundation.parts import Arrays
from mpbert.recommending.arrivals import digest_of
from mpbert.recommending.column_making import arrays_of
from mpbert.recommending.encoders import encoder_in, needs_torch
from mpbert.recommending.growing_words import words_of
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.paper_rows import (
    bodies_table,
    contexts_table,
    keyless,
    merged_contexts,
    papers_table,
    texts_read,
)


class PaperBlock(NamedTuple):
    """Papers that follow each other in an index.

    :param lines: of :func:`mpbert.corpus.paper_bytes.bytes_of`.
    :param shares_case: whether another paper has the id of each without regard to case.
    :param first: row of the first; ``cited`` rows of the papers that they cite, by id.
    """

    lines: list[bytes]
    shares_case: list[bool]
    first: int
    cited: dict[str, int]


@dataclass(frozen=True)
class BlocksBy(Job):
    """Makes the columns of blocks, ``vectors``, weights of exact matches, and counts of words."""

    encoder: IndexEncoder

    def open(self) -> "BlocksBy":
        """Return the same."""
        return self

    def __call__(self, block: PaperBlock) -> Arrays:
        """Return what becomes of a block, each column as :func:`arrays_of` names it."""
        papers, counts = list(map(paper_of, block.lines)), Counter[str]()
        without_key, read = list(map(keyless, papers)), list(map(texts_read, papers))
        keys = [each.key(s) for each, s in zip(without_key, block.shares_case, strict=True)]
        rows = {paper.paper_id: row for row, paper in enumerate(papers, start=block.first)}
        tables = {
            "papers": papers_table(papers, list(map(digest_of, papers)), keys),
            "contexts": merged_contexts(contexts_table(papers, rows, block.cited, counts)),
            "bodies": bodies_table(papers),
        }
        made = {"vectors": self.encoder.embed_papers(read), **self._matches(read)}
        for name, table in tables.items():
            for column in table.names:
                made.update(arrays_of(f"{name}.{column}", table[column]))
        made["has_key"] = np.array([each.id_is_key for each in without_key], dtype=bool)
        made["counts"] = np.frombuffer(json.dumps(counts).encode(), np.uint8)
        return made | words_of(**tables)

    def _matches(self, read: list) -> Arrays:
        if not self.encoder.num_matched:
            return {}
        weights = [self.encoder.weigh_paper(*paper) for paper in read]
        return {
            "match_sizes": np.array([len(each.tokens) for each in weights]),
            "match_tokens": np.concatenate([each.tokens for each in weights]),
            "match_weights": np.concatenate([each.weights for each in weights]),
            "num_matched": np.array(self.encoder.num_matched),
        }


@dataclass(frozen=True)
class PaperBlocks(Job):
    """The same by the encoder of a folder, see :func:`encoder_in`."""

    folder: Path | None
    readings: int
    seed: int

    @property
    def uses_all_cores(self) -> bool:
        """Whether torch runs the encoder."""
        return needs_torch(self.folder)

    def open(self) -> BlocksBy:
        """Open the encoder, which errors as :func:`encoder_in` does."""
        return BlocksBy(encoder_in(self.folder, self.readings, self.seed))
