"""``misses``: corpus and run -> contexts whose papers were not found, what was ranked, and why."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import RunError
from mpbert.foundation.manifest import check_inputs

if TYPE_CHECKING:  # what --help need not wait for
    import numpy as np

    from mpbert.corpus.store import Contexts, CorpusStore
    from mpbert.corpus.trec import Run
    from mpbert.evaluation.misses import Misses


@dataclass(frozen=True)
class Config:
    """Print citations that a run misses, sorted by cause, with what was ranked instead.

    Contexts that repeat another of the split are left out.
    """

    corpus: Path = positional("corpus", "corpus store to read")
    ranked: Path = positional("ranked", "TREC run of its contexts, such as test.run")
    split: str = option("test", "split of the run", choices=SPLITS)
    top: int = option(10, "a paper is found among so many")
    number: int = option(20, "misses to show, evenly spaced over all")

    def __post_init__(self) -> None:
        check_least(self, top=1, number=0)


def run(config: Config) -> None:
    """Print Markdown: how many misses have which cause, then some of them.

    :raises RunError: the run is malformed, or not of this corpus and split.
    """
    import numpy as np

    from mpbert.corpus.store import CorpusStore
    from mpbert.corpus.trec import matrices_of_run, read_run
    from mpbert.evaluation.misses import CAUSES, find_misses

    check_inputs([config.corpus, config.ranked])
    store = CorpusStore(config.corpus)
    contexts = store.contexts(config.split)
    given = read_run(config.ranked)
    _refuse_other_split(given, store, config)
    ranked, _ = matrices_of_run(given, contexts.query_ids, store.paper_ids, str(config.ranked))
    distinct = np.flatnonzero(~contexts.is_repeat)
    if repeats := len(contexts) - len(distinct):
        print(f"{repeats:,} of {len(contexts):,} queries repeat another and are left out\n")
    contexts, ranked = contexts.take(distinct), ranked[distinct]
    misses = find_misses(store, contexts, ranked, config.top)
    if missing := int((ranked[:, 0] < 0).sum()):
        print(f"{missing:,} of {len(contexts):,} queries are missing in the run\n")
    print(f"{len(misses.ranks):,} of {misses.num_citations:,} citations missed at {config.top}:\n")
    print("| cause, the first that holds | misses | share |\n|:--|--:|--:|")
    counts = np.bincount(misses.causes, minlength=len(CAUSES))
    for cause, count in zip(CAUSES, counts.tolist(), strict=True):
        print(f"| {cause} | {count:,} | {count / max(len(misses.ranks), 1):.1%} |")
    shown = np.linspace(0, len(misses.ranks) - 1, min(config.number, len(misses.ranks)))
    for number, place in enumerate(shown.astype(int), start=1):
        _print_miss(number, place, misses, store, contexts, ranked)


def _refuse_other_split(run: "Run", store: "CorpusStore", config: Config) -> None:
    queries = set(run.query_ids)
    if queries <= set(store.contexts(config.split).query_ids):
        return
    for split in SPLITS:
        if queries <= set(store.contexts(split).query_ids):
            raise RunError(
                f"{config.ranked}: its queries are those of the split {split}; expected the split "
                f"{config.split}, give --split {split}"
            )


def _print_miss(
    number: int,
    place: int,
    misses: "Misses",
    store: "CorpusStore",
    contexts: "Contexts",
    ranked: "np.ndarray",
) -> None:
    from mpbert.evaluation.misses import CAUSES

    context = int(misses.contexts[place])
    sentence = store.sentence_offsets[contexts.citing_rows[context]] + contexts.positions[context]
    rank = f"rank {misses.ranks[place]}" if misses.ranks[place] else "not in the list"
    print(f"\n{number}. {contexts.query_ids[context]}: {store.sentence_texts([sentence])[0]}")
    print(f"   - missed ({rank}): {_name(store, misses.cited_rows[place])}")
    for row in ranked[context, :3]:
        if row >= 0:
            mark = ", cited too" if row in contexts.cited(context) else ""
            print(f"   - ranked: {_name(store, row)}{mark}")
    print(f"   - cause: {CAUSES[misses.causes[place]]}")


def _name(store: "CorpusStore", row: int) -> str:
    return f"{store.titles[row]} ({store.years[row]})"
