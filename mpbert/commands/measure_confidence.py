"""``measure-confidence``: corpus store and index -> how far its probabilities come true."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import check_inputs


@dataclass(frozen=True)
class Config:
    """Measure how far the probabilities of an index can be relied upon, on test contexts."""

    corpus: Path = positional("corpus", "corpus store of the index")
    index: Path = positional("index", "index that build-index made")
    foreign: Optional[Path] = option(
        None, "corpus store of another subject, whose contexts are asked, too"
    )
    split: str = option("test", "contexts to ask", choices=("valid", "test"))
    questions: int = option(2000, "contexts to ask at most, a random sample")
    plot: Optional[Path] = option(None, "picture to write: reliability, risk at coverage")

    def __post_init__(self) -> None:
        check_least(self, questions=1)


def run(config: Config) -> None:
    """Print a Markdown table; write the picture.

    :raises ConfigError: the index learnt no confidence, or no folder is there for the picture.
    :raises IndexFormatError: it is an index of other papers, or it may know the answers.
    """
    from mpbert.corpus.queries import fixed_sample
    from mpbert.corpus.store import CorpusStore
    from mpbert.evaluation.reliability import COVERAGES
    from mpbert.recommending.confidence.asking import answers_to_measure, foreign_questions
    from mpbert.recommending.confidence.measuring import HEAD, cells_of, measured
    from mpbert.recommending.contexts import index_of_corpus
    from mpbert.recommending.directory import read_index
    from mpbert.recommending.learning import LEAST

    check_installed("sklearn")
    if config.plot is not None and not config.plot.parent.is_dir():
        raise ConfigError(
            f"{config.plot}: found no folder {config.plot.parent}; expected one, make it first"
        )
    check_inputs([path for path in (config.corpus, config.index, config.foreign) if path])
    store = CorpusStore(config.corpus)
    index = index_of_corpus(store, config.index, [config.split])
    places = read_index(config.index).places
    if places is None or places.confidence is None:
        raise ConfigError(
            f"{config.index}: found no coefficients of confidence; expected an index that learnt "
            f"them from {LEAST} validation contexts or more, build it again with mpbert build-index"
        )
    foreign = []
    if config.foreign is not None:
        other = CorpusStore(config.foreign)
        contexts = other.contexts(config.split).distinct()
        foreign = foreign_questions(
            index, other, contexts.take(fixed_sample(contexts, config.questions))
        )
    contexts = store.contexts(config.split).distinct()
    contexts = contexts.take(fixed_sample(contexts, config.questions))
    found = measured(
        places.confidence, answers_to_measure(index, store, config.split, contexts, foreign)
    )
    print("|", " | ".join(HEAD), "|\n|" + "--:|" * len(HEAD))
    print("|", " | ".join(cells_of(found)), "|\n")
    print("| surest part of the answers |", " | ".join(f"{part:.0%}" for part in COVERAGES), "|")
    print("|:--|" + "--:|" * len(COVERAGES))
    risks = [f"{found.first.risk_at(part):.1%}" for part in COVERAGES]
    print("| first paper wrong |", " | ".join(risks), "|")
    if config.plot is not None:
        from mpbert.evaluation.plots import plot_reliability

        config.plot.write_bytes(plot_reliability({config.corpus.name: found.first}, "png"))
