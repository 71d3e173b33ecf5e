"""Dynamic context sampling of MP-BERT4CR: Zhang & Ma (WI-IAT 2021), Sec. 4.1.1.

A manuscript is read as its fundamental context (citing sentence, the one before, the one after)
and a random supplement from what stands before; a cited paper as its abstract and a random
supplement from its body. All functions work on whole batches, return sentence numbers of the
corpus in reading order, and draw by keys that depend only on (seed, visit, item, sentence), so an
item is read afresh at each visit and yet the same in any batch.
"""

from dataclasses import dataclass

import numpy as np

from mpbert.data.ragged import ranges, row_numbers, smallest_per_row
from mpbert.errors import ConfigError
from mpbert.seeding import hashed_uniform


@dataclass(frozen=True)
class SamplingConfig:
    """How many sentences are read.

    :param manuscript_sentences: total for a manuscript, of which up to 3 are fundamental.
    :param abstract_sentences: most fundamental sentences of a paper (title and abstract).
    :param body_sentences: random sentences of a paper's body.
    :param dynamic: False reads the same sentences at every visit (the ablation of Table 3): the
        nearest before the citation, the first of the body.
    """

    manuscript_sentences: int = 30
    abstract_sentences: int = 10
    body_sentences: int = 30
    dynamic: bool = True

    def __post_init__(self) -> None:
        """Refuse what would leave a paper without a sentence, or exceeds the encoder."""
        manuscript, abstract, body = (
            self.manuscript_sentences,
            self.abstract_sentences,
            self.body_sentences,
        )
        if min(manuscript, abstract) < 1 or body < 0 or max(manuscript, abstract + body) > 1024:
            raise ConfigError(
                f"{manuscript} manuscript, {abstract} abstract and {body} body sentences; expected "
                f"at least 1, 1 and 0, and at most 1024 of a manuscript or paper"
            )


@dataclass(frozen=True)
class SampledSentences:
    """Sentences of a batch.

    :param sentences: (S,) sentence numbers of the corpus, item after item, in reading order.
    :param per_item: (B,) how many each item has; at least 1.
    """

    sentences: np.ndarray
    per_item: np.ndarray


def sample_manuscripts(
    first: np.ndarray,
    citing: np.ndarray,
    last: np.ndarray,
    items: np.ndarray,
    config: SamplingConfig,
    seed: int,
    visit: int,
) -> SampledSentences:
    """Read each manuscript around a citation, and what stands before it.

    The neighbours exist unless the citation stands first or last; a manuscript with less text
    before the citation is read whole. What comes after the fundamental context is never read.

    :param first: (B,) first sentence of each citing paper.
    :param citing: (B,) sentence with the citation.
    :param last: (B,) last sentence of each citing paper.
    :param items: (B,) number of each query, the key of its random draw.
    :param visit: epoch in training, number of the draw at test time.
    """
    start, end = np.maximum(citing - 1, first), np.minimum(citing + 1, last)
    fundamental = end - start + 1
    before = start - first
    limits = np.maximum(config.manuscript_sentences - fundamental, 0)
    supplement = _draw(first, before, limits, items, config.dynamic, seed, visit, nearest_end=True)
    return _join(supplement, ranges(start, fundamental), fundamental)


def sample_papers(
    first: np.ndarray,
    num_abstract: np.ndarray,
    num_sentences: np.ndarray,
    rows: np.ndarray,
    config: SamplingConfig,
    seed: int,
    visit: int,
) -> SampledSentences:
    """Read each paper's title and abstract, and random sentences of its body.

    :param first: (B,) first sentence of each paper; ``num_abstract`` (B,) sentences of title and
        abstract; ``num_sentences`` (B,) of the whole paper.
    :param rows: (B,) number of each paper, the key of its random draw.
    :param visit: epoch in training, number of the draw at test time.
    """
    fundamental = np.minimum(num_abstract, config.abstract_sentences)
    body = _draw(
        first + num_abstract,
        num_sentences - num_abstract,
        np.full(len(rows), config.body_sentences),
        rows,
        config.dynamic,
        seed,
        visit,
        nearest_end=False,
    )
    return _join(body, ranges(first, fundamental), fundamental)


def _draw(
    start: np.ndarray,
    lengths: np.ndarray,
    limits: np.ndarray,
    items: np.ndarray,
    dynamic: bool,
    seed: int,
    visit: int,
    nearest_end: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return sentences drawn without replacement from each range, and how many of each."""
    candidates = ranges(start, lengths)
    if dynamic:
        keys = hashed_uniform(seed, "sentences", visit, np.repeat(items, lengths), candidates)
    else:
        keys = -candidates if nearest_end else candidates
    taken = smallest_per_row(keys, lengths, limits)
    return candidates[taken], np.minimum(lengths, limits)


def _join(
    drawn: tuple[np.ndarray, np.ndarray],
    fundamental: np.ndarray,
    num_fundamental: np.ndarray,
) -> SampledSentences:
    """Merge both parts in reading order: sentence numbers ascend within a paper."""
    supplement, num_supplement = drawn
    sentences = np.concatenate([supplement, fundamental])
    owner = np.concatenate([row_numbers(num_supplement), row_numbers(num_fundamental)])
    order = np.lexsort((sentences, owner))
    return SampledSentences(sentences[order], num_supplement + num_fundamental)
