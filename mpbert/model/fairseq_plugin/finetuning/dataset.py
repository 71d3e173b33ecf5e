"""Training examples of MP-BERT4CR as fairseq batches: a context and one of the papers it cites."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from mpbert.corpus.binary import BinaryContexts, BinaryCorpus
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.fairseq_plugin.bases import BudgetDataset, evenly_spaced
from mpbert.model.noise import Noise
from mpbert.model.packed_states import pack_states
from mpbert.model.packing import PackedPapers
from mpbert.model.reading import Reading
from mpbert.model.sampling import CitingSentences
from mpbert.model.sentences import Sentences
from mpbert.model.shares import ALONE, Processes
from mpbert.model.token_counts import PaperTokens
from mpbert.pretrained.token_states import TokenStates


class CitationExamples(BudgetDataset):
    """(context, target) pairs: each cited paper of a context is a target once an epoch."""

    def __init__(
        self,
        corpus: BinaryCorpus,
        contexts: BinaryContexts,
        noise: Noise,
        reading: Reading,
        citing: CitingSentences,
        source: Sentences,
        counted: PaperTokens | None,
        states: TokenStates | None,
        shuffle: bool,
        max_items: int | None = None,
        processes: Processes = ALONE,
    ) -> None:
        """Prepare the examples of one split.

        :param contexts: of the split; ``noise`` and ``citing`` always come from the training split.
        :param source: of what is read; ``counted`` for exact matches, None: these do not count;
            ``states`` that enter tuned layers, None: there are none.
        :param max_items: keep so many, evenly spaced (validation); None keeps all.
        :param processes: that share each batch.
        """
        super().__init__(reading.seed, shuffle)
        self.processes = processes
        self.corpus, self.contexts = corpus, contexts
        self.noise, self.reading, self.citing, self.source = noise, reading, citing, source
        self.counted, self.states = counted, states
        self.log_counts = np.log1p(noise.citations).astype(np.float32)
        self.context_of = row_numbers(np.diff(contexts.cited_offsets))
        self.targets = contexts.cited_rows.astype(np.int64)
        kept = evenly_spaced(len(self.targets), max_items)
        self.context_of, self.targets = self.context_of[kept], self.targets[kept]
        self._paper_costs = self._costs_of_papers()
        self._manuscript_costs = self._costs_of_manuscripts()
        self._draw(self._visit)

    def set_epoch(self, epoch: int) -> None:
        """Draw positives and negatives of all examples afresh; validation keeps its own."""
        known, self.epoch = self._visit, epoch
        if self._visit != known:
            self._draw(self._visit)

    @property
    def _visit(self) -> int:
        return self.epoch if self.shuffle else 0

    def _draw(self, visit: int) -> None:
        contexts, items = self.contexts, np.arange(len(self.targets))
        sizes = np.diff(contexts.cited_offsets)[self.context_of]
        gold = contexts.cited_rows[ranges(contexts.cited_offsets[self.context_of], sizes)]
        offsets = offsets_of(sizes)
        citing = contexts.citing_rows[self.context_of]
        self.positives = self.noise.positives(
            self.targets, citing, items, offsets, gold.astype(np.int64), self.seed, visit
        )
        forbidden = self._forbidden(offsets, gold)
        self.negatives = self.noise.negatives(items, *forbidden, self.seed, visit)
        drawn = np.where(self.positives >= 0, self._paper_costs[self.positives], 0)
        papers = self._paper_costs[self.targets] + drawn.sum(1)
        papers += self._paper_costs[self.negatives].sum(1)
        self._costs = np.ceil(papers + self._manuscript_costs).astype(np.int64)

    def _forbidden(self, offsets: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what no negative may be: papers the context cites, and positives of history."""
        owner = np.concatenate([row_numbers(np.diff(offsets)), np.nonzero(self.positives >= 0)[0]])
        rows = np.concatenate([gold, self.positives[self.positives >= 0]])
        order = np.argsort(owner, kind="stable")
        return offsets_of(np.bincount(owner, minlength=len(self.targets))), rows[order]

    def _mean_tokens(self) -> np.ndarray:
        offsets = self.corpus.sentence_offsets
        return np.diff(self.corpus.token_offsets[offsets]) / np.maximum(np.diff(offsets), 1)

    def _costs_of_papers(self) -> np.ndarray:
        """Return (N,) expected tokens of a paper as it is read."""
        abstract = self.corpus.num_abstract
        body = np.diff(self.corpus.sentence_offsets) - abstract
        read = np.minimum(abstract, self.reading.config.abstract_sentences)
        cited = np.minimum(np.diff(self.citing.offsets), self.reading.config.citing_sentences)
        own = self._mean_tokens() * (read + np.minimum(body, self.reading.config.body_sentences))
        return own + self._mean_tokens().mean() * cited

    def _costs_of_manuscripts(self) -> np.ndarray:
        """Return (M,) expected tokens of each example's manuscript as it is read."""
        citing = self.contexts.citing_rows[self.context_of]
        before = self.contexts.sentences[self.context_of] - self.corpus.sentence_offsets[citing]
        read = np.minimum(before + 2, self.reading.config.manuscript_sentences)
        return self._mean_tokens()[citing] * read

    def costs(self) -> np.ndarray:
        """Return the expected tokens of each example in this epoch."""
        return self._costs

    def collater(self, samples: list[int]) -> dict[str, Any]:
        """Read a batch: this process's share of its examples and of its distinct papers."""
        items = np.asarray(samples)
        examples = self.processes.share(self._manuscript_costs[items])
        own = items[examples.read]
        rows, places = self._papers_of(items)
        places = places[examples.read]
        share = self.processes.share(self._paper_costs[rows])
        num_positives, is_positive = self.positives.shape[1], self.positives[own] >= 0
        is_wanted = np.zeros((len(own), len(rows)), dtype=bool)
        drawn = np.concatenate([np.ones((len(own), 1), bool), is_positive], axis=1)
        example, place = np.nonzero(drawn)
        is_wanted[example, places[example, place]] = True
        citing = self.contexts.citing_rows[self.context_of[items]]
        read = self._read(own, rows, share.read, citing, samples[0])
        states, (manuscripts, papers) = (
            (None, read) if self.states is None else pack_states(self.states, *read)
        )
        known = self._known(self.context_of[own], citing[examples.read], rows)
        return {
            "manuscripts": manuscripts,
            "papers": papers,
            "states": states,
            "share": share,
            "targets": torch.from_numpy(places[:, 0]),
            "positives": torch.from_numpy(places[:, 1 : 1 + num_positives]),
            "is_positive": torch.from_numpy(is_positive),
            "negatives": torch.from_numpy(places[:, 1 + num_positives :]),
            "is_wanted": torch.from_numpy(is_wanted),
            "is_known": torch.from_numpy(known | is_wanted),
            "log_counts": torch.from_numpy(self.log_counts[rows]),
            "num_examples": examples.own,
            "num_papers": len(rows),
        }

    def _papers_of(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (U,) rows of the distinct papers of examples, and (B, 1 + P + K) places in them.

        Of an example these are target, positives and negatives; the target fills up positives.
        """
        targets = self.targets[items, None]
        wanted = np.concatenate([targets, self.positives[items], self.negatives[items]], axis=1)
        wanted = np.where(wanted < 0, targets, wanted)  # filler needs no reading
        rows, places = np.unique(wanted, return_inverse=True)
        return rows, places.reshape(wanted.shape)

    def _read(
        self, items: np.ndarray, rows: np.ndarray, own: np.ndarray, citing: np.ndarray, batch: int
    ) -> tuple[PackedPapers, PackedPapers]:
        """Return the manuscripts of examples, and papers of their batch.

        :param rows: (U,) papers of the batch, of which those at the places ``own`` are read.
        :param citing: manuscripts of the whole batch, whose sentences papers are not read by.
        :param batch: number of the batch: a paper is read afresh in each.
        """
        corpus, context_of = self.corpus, self.context_of[items]
        manuscripts = self.reading.contexts_of(
            corpus, self.contexts, context_of, self._visit, items
        )
        rows, keys = rows[own], (rows + corpus.num_papers * batch)[own]
        papers = self.reading.papers_of(corpus, rows, self._visit, self.citing, keys, unread=citing)
        packed = self.source.batch(manuscripts), self.source.batch(papers)
        if self.counted is None:
            return packed
        near = self.reading.nearest().contexts_of(corpus, self.contexts, context_of, 0)
        return (
            replace(packed[0], counts=self.source.counts_of(near, corpus.vocab_size)),
            replace(packed[1], counts=self.counted.of(rows, unread=citing)),
        )

    def _known(self, context_of: np.ndarray, citing: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return (B, U): papers of a batch that a context cites, or that are the manuscript."""
        sizes = np.diff(self.contexts.cited_offsets)[context_of]
        gold = self.contexts.cited_rows[ranges(self.contexts.cited_offsets[context_of], sizes)]
        examples = np.concatenate([row_numbers(sizes), np.arange(len(citing))])
        known = np.concatenate([gold, citing])
        place = np.minimum(np.searchsorted(rows, known), len(rows) - 1)
        found = rows[place] == known
        is_known = np.zeros((len(citing), len(rows)), dtype=bool)
        is_known[examples[found], place[found]] = True
        return is_known
