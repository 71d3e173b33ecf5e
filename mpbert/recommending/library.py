"""A library becomes the tables of an index: papers in any format, with citations or without.

No split, no year and no training is needed. An index grows out of nothing as it grows later:
:func:`mpbert.recommending.changes.added` puts the papers into tables without any.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.guess import guess_reader
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress
from mpbert.recommending.changes import added
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS, IndexTables, table_of
from mpbert.vectors.matches import TokenWeights


def reader_name(path: Path, named: str | None) -> str:
    """Return the name of the reader of a library: the one that was named, or the one it is for.

    :raises CorpusError: there is no such path, or none or several readers would do.
    """
    if not path.exists():
        raise CorpusError(f"{path}: no such file; expected a file or a folder of papers")
    return named or guess_reader(path, READERS.names())


def read_library(path: Path, reader: str, processes: int, counts: Counter[str]) -> list[CleanPaper]:
    """Return the papers of a library, those without a year among them.

    :param reader: name of a reader.
    :param processes: how many parse at once.
    :param counts: receives what the reader and the cleaning count; papers without a year are kept.
    :raises CorpusError: the file or a record is broken.
    """
    made = READERS[reader]()
    made.needs_citations = False
    papers = iter_clean_papers(made, path, processes, counts, needs_year=False)
    return list(progress(papers, "read papers", "paper"))


def library_tables(
    papers: Sequence[CleanPaper], encoder: IndexEncoder, counts: Counter[str]
) -> IndexTables:
    """Return the tables of an index of these papers.

    :param counts: receives what is added and dropped.
    :raises CorpusError: an id occurs twice.
    """
    matches = None
    if encoder.num_matched:
        from scipy import sparse

        none = sparse.csr_array((0, encoder.num_matched), dtype=np.float32)
        matches = PapersByToken.of(TokenWeights.of(none))
    nothing = IndexTables(
        table_of([[]] * len(PAPERS), PAPERS),
        table_of([[]] * len(CONTEXTS), CONTEXTS),
        np.zeros((0, encoder.dim), dtype=np.float32),
        matches,
        table_of([[]], BODIES),
    )
    return added(nothing, papers, encoder, counts)
