"""``measure-evidence``: index and corpus store -> how well its passages tell what is cited."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs


@dataclass(frozen=True)
class Config:
    """Measure the passages that answers show, on validation or test contexts; print Markdown.

    Of two passages, one of a cited paper and one of another: how often has the first the higher
    score (AUROC)? No sentence needs a label.
    """

    index: Path = positional("index", "index of the papers of the corpus")
    corpus: Path = positional("corpus", "corpus store")
    split: str = option("test", "whose contexts are asked", choices=("valid", "test"))
    contexts: int = option(1000, "contexts to ask, a random sample")
    read: int = option(0, "passages of cited papers to print for reading, a random sample")
    seed: int = option(1, "seed of the samples")

    def __post_init__(self) -> None:
        check_least(self, contexts=1, read=0)


def run(config: Config) -> None:
    """Print a table, and passages to read.

    :raises ConfigError: the index is of other papers than the corpus.
    """
    from mpbert.corpus.store import CorpusStore
    from mpbert.foundation.seeding import named_rng
    from mpbert.recommending.evidence_measuring import ANSWER, CITED, RANDOM, auroc, shown_passages
    from mpbert.recommending.recommender import Recommender

    check_inputs([config.index, config.corpus])
    store, index = CorpusStore(config.corpus), Recommender(config.index)
    if index.paper_ids != store.paper_ids:
        raise ConfigError(
            f"{config.index}: found other papers than in {config.corpus}; expected an index of "
            f"this corpus, make one with mpbert build-index"
        )
    found = shown_passages(index, store, config.split, config.contexts, config.seed)
    print("| papers | passages | shown | AUROC beside the cited |\n|:--|--:|--:|--:|")
    for kind in (CITED, ANSWER, RANDOM):
        own = [one.passage is not None for one in found if one.kind == kind]
        told = "-" if kind == CITED else f"{auroc(found, kind):.3f}"
        print(f"| {kind} | {len(own):,} | {sum(own) / max(len(own), 1):.1%} | {told} |")
    shown = [one for one in found if one.kind == CITED and one.passage]
    chosen = named_rng(config.seed, "read").permutation(len(shown))[: config.read]
    for number, one in enumerate((shown[place] for place in chosen.tolist()), start=1):
        print(f"\n{number}. {one.sentence}\n   {one.paper_id}, {one.passage.place}: ", end="")
        print(one.passage.text)
