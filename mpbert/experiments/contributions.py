"""What each sentence of a manuscript contributes to finding what it cites.

A manuscript is read once, and again without one of its sentences, or without all of a role.
"""

from collections.abc import Callable, Iterable

import numpy as np

from mpbert.corpus.binary import BinaryContexts, BinaryCorpus
from mpbert.evaluation.measures import measure
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.reading import Reading
from mpbert.model.sampling import ROLES, SampledSentences
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.proposals import parts_of

_BLOCK = 256  # contexts at a time: about five thousand readings
_READ_AS = {"abstract": "title and abstract", "body": "before", "citing": "citing sentence"}
_MEASURES = ("Recall@10", "MAP@10")
_TOP = 10  # papers ranked: what the measures look at


def contributions(
    corpus: BinaryCorpus,
    contexts: BinaryContexts,
    reading: Reading,
    embed: Callable[[SampledSentences], np.ndarray],
    search: Callable[[np.ndarray, np.ndarray], np.ndarray],
    most: int,
) -> list[str]:
    """Return the lines of a table in Markdown: what is lost without sentences of each role.

    :param embed: readings -> (R, D) vectors of manuscripts.
    :param search: vectors and (R,) contexts that they are of -> rows, see :func:`searched_by_year`.
    :param most: most contexts that are read, evenly spaced over those that repeat no other.
    """

    def scores(sampled: SampledSentences, items: np.ndarray) -> np.ndarray:
        """Return (R, 2) measures of readings of these contexts; an empty one finds nothing."""
        found = np.zeros((len(items), len(_MEASURES)))
        read = np.flatnonzero(sampled.per_item)
        not_empty = SampledSentences(sampled.sentences, sampled.per_item[read], sampled.roles)
        rows = search(embed(not_empty), items[read])
        found[read] = measured(rows, contexts, items[read], corpus.num_papers)
        return found

    sums = Contributions()
    distinct = np.flatnonzero(~contexts.is_repeat)
    chosen = min(most, len(distinct))
    spaced = distinct[np.linspace(0, len(distinct) - 1, chosen).astype(np.int64)]
    for part in progress(parts_of(chosen, _BLOCK), "leave out", "block"):
        items = spaced[part]
        sums.add(reading.contexts_of(corpus, contexts, items, 0), items, scores)
    return sums.lines(chosen)


def searched_by_year(
    papers: np.ndarray, citing_rows: np.ndarray, candidates: Iterable[tuple[np.ndarray, np.ndarray]]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function: (R, D) vectors and (R,) contexts that they are of -> (R, 10) best papers.

    Where a context has fewer candidates, -1 stands beyond the end.

    :param papers: (N, D) vectors.
    :param citing_rows: (Q,) paper of each context, which is no candidate.
    :param candidates: of :func:`mpbert.retrieval.pool.candidates_by_year`.
    """
    every, pools = DenseIndex(papers), []
    pool_of = np.zeros(len(citing_rows), dtype=np.int64)  # of each context
    for places, mask in candidates:
        pool_of[places] = len(pools)
        pools.append(every.within(mask))

    def search(vectors: np.ndarray, items: np.ndarray) -> np.ndarray:
        rows = np.full((len(items), _TOP), -1, dtype=np.int64)
        for number in np.unique(pool_of[items]):
            part = np.flatnonzero(pool_of[items] == number)
            found, _ = pools[number].search(vectors[part], _TOP, citing_rows[items[part]])
            rows[part, : found.shape[1]] = found
        return rows

    return search


def leave_one_out(sampled: SampledSentences) -> tuple[SampledSentences, np.ndarray]:
    """Return the readings of each item without one of its sentences, and (S,) the item of each.

    Reading i lacks sentence i of ``sampled``; an item of one sentence gives an empty reading.
    """
    sizes = sampled.per_item
    owner = row_numbers(sizes)
    places = ranges(offsets_of(sizes)[owner], sizes[owner])
    kept = places[places != row_numbers(sizes[owner])]
    return SampledSentences(sampled.sentences[kept], sizes[owner] - 1, sampled.roles[kept]), owner


def without_role(sampled: SampledSentences, role: int) -> SampledSentences:
    """Return the same readings without the sentences of a role; one of no others is empty."""
    kept = sampled.roles != role
    per_item = np.bincount(row_numbers(sampled.per_item)[kept], minlength=len(sampled.per_item))
    return SampledSentences(sampled.sentences[kept], per_item, sampled.roles[kept])


def measured(
    rows: np.ndarray, contexts: BinaryContexts, items: np.ndarray, num_papers: int
) -> np.ndarray:
    """Return (R, 2) measures of ranked papers of these contexts.

    :param rows: (R, 10), -1 beyond the end of a list.
    """
    num_gold = np.diff(contexts.cited_offsets)[items]
    owner = row_numbers(num_gold)
    cited = contexts.cited_rows[ranges(contexts.cited_offsets[items], num_gold)]
    places = np.arange(len(items))[:, None]
    hits = np.isin(places * num_papers + rows, owner * num_papers + cited) & (rows >= 0)
    return np.column_stack([measure(name, hits, num_gold) for name in _MEASURES])


class Contributions:
    """Sums of measures over all contexts; arrays have an entry for each role and measure."""

    def __init__(self) -> None:
        self.whole = np.zeros(len(_MEASURES))
        self.without_one = np.zeros((len(ROLES), len(_MEASURES)))
        self.without_all = np.zeros((len(ROLES), len(_MEASURES)))
        self.num_sentences = np.zeros(len(ROLES), dtype=np.int64)

    def add(
        self,
        sampled: SampledSentences,
        items: np.ndarray,
        scores: Callable[[SampledSentences, np.ndarray], np.ndarray],
    ) -> None:
        """Measure the readings of some contexts, whole and without sentences.

        :param scores: readings and the context of each -> (R, 2) measures.
        """
        whole = scores(sampled, items)
        self.whole += whole.sum(axis=0)
        shorter, owner = leave_one_out(sampled)
        lost = scores(shorter, items[owner]) - whole[owner]
        for role in range(len(ROLES)):
            self.without_one[role] += lost[sampled.roles == role].sum(axis=0)
            self.without_all[role] += scores(without_role(sampled, role), items).sum(axis=0)
        self.num_sentences += np.bincount(sampled.roles, minlength=len(ROLES))

    def lines(self, num_contexts: int) -> list[str]:
        """Return the table."""
        whole = 100 * self.whole / num_contexts
        lines = [
            f"{num_contexts:,} contexts, one reading each: Recall@10 {whole[0]:.2f}, MAP@10 "
            f"{whole[1]:.2f}; without sentences, in points:\n",
            "| read as | sentences a context | without one: Recall@10 | MAP@10 | without all: "
            "Recall@10 | MAP@10 |",
            "|:--|--:|--:|--:|--:|--:|",
        ]
        for role in np.flatnonzero(self.num_sentences):
            one = 100 * self.without_one[role] / self.num_sentences[role]
            every = 100 * self.without_all[role] / num_contexts - whole
            numbers = " | ".join(f"{value:+.2f}" for value in (*one, *every))
            name = _READ_AS.get(ROLES[role], f"{ROLES[role]} of the citing sentence")
            lines.append(f"| {name} | {self.num_sentences[role] / num_contexts:.1f} | {numbers} |")
        return lines
