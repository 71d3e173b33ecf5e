"""``contributions``: what each sentence of a manuscript contributes to finding what it cites."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.corpus.binary import BinaryContexts, BinaryCorpus
from mpbert.evaluation.measures import measure
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.model.sampling import (
    ROLES,
    SampledSentences,
    leave_one_out,
    sample_manuscripts,
    without_role,
)
from mpbert.retrieval.dense import DenseIndex, parts_of
from mpbert.vectors.store import VectorStore, check_ids, check_made_with

_BLOCK = 256  # contexts at a time: about five thousand readings
_READ_AS = {"abstract": "title and abstract", "body": "before", "citing": "citing sentence"}
_MEASURES = ("Recall@10", "MAP@10")


@dataclass(frozen=True)
class Config:
    """Leave sentences out of the manuscripts, one at a time, and see what is still found."""

    data: Path = positional("data", "binary corpus to read")
    encoder: Path = positional("encoder", "encoder directory")
    vectors: Path = positional("vectors", "vectors of the papers, made by embed with this encoder")
    split: str = option("test", "split whose contexts are read", choices=["test", "valid"])
    contexts: int = option(2000, "most contexts to read, evenly spaced over the split")
    seed: int = option(1, "seed of the reading")
    device: str = option("auto", "cpu, cuda or auto")

    def __post_init__(self) -> None:
        if self.contexts < 1:
            raise ConfigError(f"--contexts {self.contexts}; expected 1 or more")


def run(config: Config) -> None:
    """Print Markdown: a line for each kind of sentence.

    :raises ConfigError: the split has no context.
    :raises VectorsError: the vectors are not those of the papers of ``data``.
    """
    from mpbert.model.directory import (
        check_same_tokenizer,
        load_two_tower,
        pick_device,
        read_config,
        sampling_of,
    )
    from mpbert.model.embedding import embed_sampled

    check_inputs([config.data, config.encoder, config.vectors])
    corpus = BinaryCorpus(config.data)
    contexts = corpus.contexts(config.split)
    if not len(contexts):
        raise ConfigError(f"{config.data}: no context in split {config.split!r}; choose another")
    papers = VectorStore.load(config.vectors, "papers")
    check_ids(papers, corpus.paper_ids, str(config.vectors))
    check_same_tokenizer(config.encoder, config.data)
    _, sizes, settings = read_config(config.encoder)
    check_made_with(config.vectors, papers.dim, config.encoder, sizes.dim)
    sampling = sampling_of(settings)
    tower = load_two_tower(config.encoder).eval().to(pick_device(config.device)).manuscript
    index, offsets = DenseIndex(papers.vectors), corpus.sentence_offsets

    def scores(sampled: SampledSentences, items: np.ndarray) -> np.ndarray:
        """Return (R, 2) measures of readings of these contexts; an empty one finds nothing."""
        found = np.zeros((len(items), len(_MEASURES)))
        read = np.flatnonzero(sampled.per_item)
        not_empty = SampledSentences(sampled.sentences, sampled.per_item[read], sampled.roles)
        queries = embed_sampled(tower, not_empty, corpus.gather, 16384)
        citing_rows = contexts.citing_rows[items[read]]
        rows, _ = index.search(queries, 10, citing_rows)
        found[read] = _measured(rows, contexts, items[read], corpus.num_papers)
        return found

    sums = _Sums()
    chosen = min(config.contexts, len(contexts))
    spaced = np.linspace(0, len(contexts) - 1, chosen).astype(np.int64)
    for part in progress(parts_of(chosen, _BLOCK), "leave out", "block"):
        items = spaced[part]
        rows, citing = contexts.citing_rows[items], contexts.sentences[items]
        sampled = sample_manuscripts(
            offsets[rows], citing, offsets[rows + 1] - 1, citing, sampling, config.seed, 0
        )
        sums.add(sampled, items, scores)
    for line in sums.lines(chosen):
        print(line)


def _measured(
    rows: np.ndarray, contexts: BinaryContexts, items: np.ndarray, num_papers: int
) -> np.ndarray:
    """Return (R, 2) measures of ranked papers (R, K) of these contexts."""
    num_gold = np.diff(contexts.cited_offsets)[items]
    owner = row_numbers(num_gold)
    cited = contexts.cited_rows[ranges(contexts.cited_offsets[items], num_gold)]
    places = np.arange(len(items))[:, None]
    hits = np.isin(places * num_papers + rows, owner * num_papers + cited)
    return np.column_stack([measure(name, hits, num_gold) for name in _MEASURES])


class _Sums:
    """Sums over all contexts; arrays have an entry for each role and measure."""

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
