"""SubRef: candidates chosen one by one, each for what it adds to those chosen before.

Kieu et al. (PACLING 2019) as retold by SBERT + SubRef (ICPR 2020, Sec. III-C and Table V). Symbols:
V candidates, S chosen ones, k a candidate, r_k in 0..1 its relevance (the score of the run, scaled
per query: the last paper has 0, the first 1), s similarity, λ ``trade_off``, α
``relevance_weight``. The step values are

* ``qfrv1``: α·r_k + (1-λ)·Σ_{j ≠ k} s(k, j) - (2-λ)·Σ_{j ∈ S} s(k, j): relevance, coverage,
  non-redundancy;
* ``qfrv2``: α·r_k + Σ_{j ≠ k} s(k, j) - (2+λ)·Σ_{j ∈ S} s(k, j);
* ``qaiv1``: λ·(citing papers per year since publication) + (1-λ)·D(k | S);
* ``qaiv2``: λ·(citing papers in V, not in S) + (1-λ)·D(k | S);
* ``mmr``: λ·r_k - (1-λ)·max_{j ∈ S} s(k, j), Carbonell and Goldstein (SIGIR 1998),

with D the step of Eq. 6, Σ_P √(Σ_{j ∈ P ∩ S} r_j), over the parts of authors or of venues; a paper
that names none is a part of its own. The choice ends when no step value is 0 or more. λ = 0.1 was
chosen for ``qaiv2`` on the RFC validation split; ``mmr`` does better near 0.9.

The formulas of the paper are lost in our text of it; these are of its authors' code. What differs
or is missing there, and what we do:

* *Author history.* Most of QAI's gain in the code comes from 50 times a score that knows who wrote
  the query: 2 for each earlier paper of each of its authors, 1 for each reference of those. Eq. 6
  has no such term. It is metadata of self-citation, so a switch, ``author_history``, off at 0; it
  is added to any of the functions. References are those of training papers.
* *Parts.* The code takes the fifth letter of a paper's id for its venue. The paper has clusters of
  venues or authors, so do we; with ``trade_off=0`` QAI is Eq. 6 alone.
* *Citing papers* are training papers of the query's year or earlier; in ``qaiv2`` those among the
  candidates, while the code counts those of the whole index. Years since publication are one at
  least.
* *QFRv2* is in neither. It is reconstructed from an older set function in the same code, relevance
  plus coverage less λ·redundancy, with redundancy over pairs as in QFRv1.
* *Scores.* The code has those of a search engine, without a bound; with ours in 0..1 its α = 50
  weighs another way against sums over similarities.
* *Relevance.* QAI sees it only under the roots, where it loses to papers of many authors: without
  the history of authors, BM25's rankings of RFCs get worse by it. So α·r_k is added to ``qaiv1``,
  ``qaiv2`` and ``mmr`` too if ``relevance_weight`` says so; by default α is 50 in QFR and 0 there.
* Candidates that are not chosen follow in their former order, since a run without them would find
  less and never more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges
from mpbert.methods.paper_parts import PARTS, read_parts
from mpbert.methods.rankings import Ranking, with_rest
from mpbert.methods.reranking import RERANKERS, Reranker
from mpbert.methods.sbert_subref.terms import (
    author_history,
    cosines,
    paper_vectors,
    per_year,
    unit_relevance,
)
from mpbert.methods.training_citations import counted_by_year, training_citations

if TYPE_CHECKING:  # it needs numba
    from mpbert.methods.sbert_subref.greedy import StepValues

FUNCTIONS = ("mmr", "qaiv1", "qaiv2", "qfrv1", "qfrv2")
_ALPHA = 50.0  # of QFR in the authors' code
_NO_PENALTY = np.zeros((0, 0))


@RERANKERS.register
@dataclass
class Submodular(Reranker):
    """Greedy selection by a submodular function of relevance, coverage and diversity.

    ``relevance_weight``: α, -1 for that of the authors' code; ``author_history``: weight of the
    author score, 0 for none; ``budget``: papers chosen; ``depth``: candidates, the first papers of
    the run; ``similarity`` of candidates: ``tfidf`` of title and abstract, or a vectors directory,
    by cosine.
    """

    name: ClassVar[str] = "submodular"
    quick: ClassVar[tuple[str, ...]] = ("depth=20", "budget=10")
    function: str = setting("qaiv2", choices=FUNCTIONS)
    parts: str = setting("authors", choices=PARTS)
    budget: int = 100
    depth: int = 500
    trade_off: float = setting(0.1, minimum=0, maximum=1)
    relevance_weight: float = setting(-1.0, minimum=-1)
    author_history: float = setting(0.0, minimum=0)
    similarity: str = "tfidf"

    @property
    def alpha(self) -> float:
        """Weight of relevance alone, that of the authors' code where none is given."""
        if self.relevance_weight >= 0:
            return self.relevance_weight
        return _ALPHA if self.function.startswith("qfr") else 0.0

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without the authors, venues or vectors that the function reads."""
        needs = {"authors": "author_history"} if self.author_history else {}
        if self._by_parts:
            needs[self.parts] = f"function={self.function} parts"
        for of, reader in needs.items():
            if not read_parts(store, of).num_parts:
                raise CorpusError(
                    f"{store.path / 'papers.parquet'}: no paper names its {of}, which {reader} "
                    f"reads; expected a corpus with {of}, build it from a source that has them or "
                    f"choose function=qfrv1, qfrv2 or mmr without author_history"
                )
        if not self._by_parts and self.similarity != "tfidf":
            paper_vectors(store, self.similarity)

    @property
    def _by_parts(self) -> bool:
        return self.function.startswith("qai")

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the chosen papers in the order of choice, then the others in their former order.

        Scores are budget - position, from 0; see the module.
        """
        from mpbert.methods.sbert_subref.greedy import lazy_greedy  # numba

        found = rankings[0].first(self.depth)
        known = _Known(self, store, queries)
        rows = np.full(found.rows.shape, -1, dtype=np.int64)
        for i in progress(range(len(queries)), "select", "list"):
            candidates = found.rows[i][found.rows[i] >= 0]
            relevance = unit_relevance(found.scores[i][: len(candidates)])
            chosen = lazy_greedy(known.steps(i, candidates, relevance), self.budget).chosen
            order = np.concatenate([chosen, np.setdiff1d(np.arange(len(candidates)), chosen)])
            rows[i, : len(order)] = candidates[order]
        places = np.broadcast_to(self.budget - np.arange(rows.shape[1]), rows.shape)
        first = Ranking(rows, np.where(rows >= 0, places.astype(float), -np.inf))
        return with_rest(first, rankings[0])


class _Known:
    """What a function reads of the corpus, read once for all queries."""

    def __init__(self, settings: Submodular, store: CorpusStore, queries: Queries) -> None:
        self._settings, self._queries, self._years = settings, queries, store.years
        if settings._by_parts:
            self._parts = read_parts(store, settings.parts)
            citations = training_citations(store, np.float64)
            self._citing = citations.T.tocsr()  # (N, N): row is cited by column
            self._by_year = counted_by_year(citations, store.years)
        else:
            self._vectors = paper_vectors(store, settings.similarity)
        self._histories = None
        if settings.author_history:
            rows, self._history_of = np.unique(queries.citing_rows, return_inverse=True)
            self._histories = author_history(store, rows)

    def steps(self, query: int, candidates: np.ndarray, relevance: np.ndarray) -> "StepValues":
        """Return the step values of a query.

        :param candidates: (n,) rows of papers, best first.
        :param relevance: (n,) in 0..1.
        """
        from mpbert.methods.sbert_subref.greedy import StepValues  # numba

        settings, trade_off = self._settings, self._settings.trade_off
        penalty, diversity, year = _NO_PENALTY, 0.0, self._queries.years[query]
        offsets, parts = np.zeros(len(candidates) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if settings._by_parts:
            offsets, parts = self._parts_of(candidates)
            diversity = 1 - trade_off
            if settings.function == "qaiv1":
                num_citing = self._by_year.until(candidates, year)
                modular = trade_off * per_year(num_citing, year - self._years[candidates])
            else:
                citing = self._citing[candidates][:, candidates].toarray()
                citing *= self._years[candidates] <= year
                modular, penalty = trade_off * citing.sum(axis=1), trade_off * citing
        elif settings.function == "mmr":
            similarity = cosines(self._vectors, candidates)
            modular, penalty = trade_off * relevance, (1 - trade_off) * similarity
        else:
            similarity = cosines(self._vectors, candidates)
            first = settings.function == "qfrv1"
            coverage = similarity.sum(axis=1) - similarity.diagonal()
            modular = ((1 - trade_off) if first else 1.0) * coverage
            penalty = ((2 - trade_off) if first else (2 + trade_off)) * similarity
        modular = modular + settings.alpha * relevance
        if self._histories is not None:
            history = self._histories[[self._history_of[query]]].toarray()[0, candidates]
            modular = modular + settings.author_history * history
        is_maximum = settings.function == "mmr"
        return StepValues(modular, relevance, offsets, parts, diversity, penalty, is_maximum)

    def _parts_of(self, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates' parts, numbered anew from 0; who has none gets one of his own."""
        starts = self._parts.offsets[candidates]
        counts = self._parts.offsets[candidates + 1] - starts
        offsets = np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])
        alone = counts == 0
        ids = np.empty(offsets[-1], dtype=np.int64)
        ids[ranges(offsets[:-1], counts)] = self._parts.ids[ranges(starts, counts)]
        ids[offsets[:-1][alone]] = self._parts.num_parts + np.arange(alone.sum())
        return offsets, np.unique(ids, return_inverse=True)[1].astype(np.int64)
