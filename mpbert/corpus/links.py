"""Citations between the papers of a corpus: cited ids become rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.foundation.errors import CorpusError


@dataclass(frozen=True)
class Links:
    """Citations between papers of a corpus, as rows.

    :param contexts: (citing row, position, cited rows in order of appearance), sorted.
    :param citations: (M, 2), distinct (citing row, cited row) pairs, sorted: references and
        everything that a context cites.
    """

    contexts: list[tuple[int, int, list[int]]]
    citations: np.ndarray


def link_papers(papers: list[CleanPaper], unknown_cited: str, counts: Counter[str]) -> Links:
    """Resolve cited ids to rows; citations of a paper by itself and of unknown papers are dropped.

    :param papers: sorted by id.
    :param unknown_cited: ``drop`` (and count), or ``error``.
    :raises CorpusError: an id is in no paper, and ``unknown_cited`` is ``error``.
    """
    row_of = {paper.paper_id: row for row, paper in enumerate(papers)}
    found = _CitedRows([paper.paper_id for paper in papers], row_of, unknown_cited, counts)
    contexts: list[tuple[int, int, list[int]]] = []
    pairs: set[tuple[int, int]] = set()
    num_references = 0
    for citing_row, paper in enumerate(papers):
        references = set(found.of(citing_row, paper.references, "references"))
        num_references += len(references)
        in_text: set[int] = set()
        for position, ids in paper.cited:
            if rows := found.of(citing_row, ids, "in_text_citations"):
                contexts.append((citing_row, position, rows))
                in_text.update(rows)
            else:
                counts["citing_sentences_without_a_paper_of_the_corpus"] += 1
        counts["references_found_in_text"] += len(references & in_text)
        counts["cited_in_text_but_not_in_references"] += len(in_text - references)
        pairs.update((citing_row, cited_row) for cited_row in references | in_text)
    counts["references"] = num_references
    years = [paper.year for paper in papers]
    if later := sum(0 < years[citing] < years[cited] for citing, cited in pairs):
        counts["citations_of_papers_of_later_years"] = later
    return Links(contexts, np.array(sorted(pairs), np.int32).reshape(-1, 2))


@dataclass(frozen=True)
class _CitedRows:
    """Finds the rows of cited ids, and counts those that have none."""

    paper_ids: list[str]
    row_of: dict[str, int]
    unknown_cited: str
    counts: Counter[str]

    def of(self, citing_row: int, ids: Sequence[str], what: str) -> list[int]:
        """Return the rows of papers that a paper cites, without its own.

        :param what: how the counts name these citations.
        """
        rows = []
        for cited_id in ids:
            row = self.row_of.get(cited_id)
            if row is None:
                if self.unknown_cited == "error":
                    raise CorpusError(
                        f"paper {self.paper_ids[citing_row]!r} cites {cited_id!r}, which is not "
                        f"in the corpus; add that paper or build with --unknown-cited drop"
                    )
                self.counts[f"{what}_of_papers_outside_the_corpus"] += 1
            elif row == citing_row:
                self.counts[f"{what}_of_the_paper_itself"] += 1
            else:
                rows.append(row)
        return rows
