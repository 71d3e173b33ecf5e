"""``learn-unmarked``: raw corpora -> which sentences need a citation, learnt and measured."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import check_inputs

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.recommending.unmarked.papers import LearningPapers
    from mpbert.recommending.unmarked.worthiness import Worthiness


@dataclass(frozen=True)
class Config:
    """Learn from papers which sentences cite, and measure it on papers of later years.

    The years of the splits are those of build-corpus for the reader.
    """

    output: Path = positional("output", "file of coefficients to write, .safetensors")
    acl: Path = option(Path("datasets/acl/papers.jsonl.xz"), "papers of the ACL")
    rfc: Path = option(Path("datasets/rfc/rfc-593.tar.xz"), "RFCs")
    share: float = option(0.4, "part of the papers of the ACL to read, a random sample")
    questions: int = option(300, "sentences to ask for papers, of each corpus at most")

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ConfigError(f"--share {self.share}; expected more than 0, at most 1")
        check_least(self, questions=1)


def run(config: Config) -> None:
    """Write the coefficients; print Markdown: how well they tell, and what is found.

    :raises ConfigError: there is no folder to write the file into.
    :raises CorpusError: a corpus is broken, or a split has no paper.
    """
    from mpbert.recommending.unmarked.learning import learn
    from mpbert.recommending.unmarked.papers import learning_papers

    check_installed("sklearn")
    if not config.output.parent.is_dir():
        raise ConfigError(
            f"{config.output}: found no folder {config.output.parent}; expected one, make it first"
        )
    paths = {"acl": config.acl, "rfc": config.rfc}
    check_inputs(list(paths.values()))
    shares = {"acl": config.share, "rfc": 1.0}
    corpora = {name: learning_papers(path, name, shares[name]) for name, path in paths.items()}
    training = [paper for corpus in corpora.values() for paper in corpus.training]
    worthiness = learn(training, [corpus.validation for corpus in corpora.values()])
    worthiness.write(config.output)
    for name, corpus in corpora.items():
        _report(name, corpus, worthiness, config.questions)


def _report(name: str, corpus: "LearningPapers", worthiness: "Worthiness", most: int) -> None:
    from mpbert.evaluation.reliability import calibration_error
    from mpbert.recommending.unmarked.learning import scored
    from mpbert.recommending.unmarked.measuring import ASKED, found, told

    probabilities, labels = scored(worthiness, corpus.test)
    learnt = sum(len(paper.known) for paper in corpus.training)
    print(
        f"\n{name}: learnt from {learnt:,} sentences of {len(corpus.training):,} papers, measured "
        f"on {len(labels):,} of {len(corpus.test):,} later ones; {labels.mean():.1%} cite; "
        f"calibration error {calibration_error(probabilities, labels):.3f}\n"
    )
    print("| score | AUROC | first 1 % | first 5 % | first 5 a paper |\n|:--|--:|--:|--:|--:|")
    for row in told(worthiness, corpus.test):
        shares = " | ".join(f"{share:.1%}" for share in row.first)
        print(f"| {row.name} | {row.auroc:.3f} | {shares} |")
    index = corpus.index()
    answers = found(worthiness, corpus.test, index, most)
    print(
        f"\nThe first {ASKED} sentences a paper: {answers.asked:,}, of which {answers.cite:.1%} "
        f"cite. Of {answers.questions:,} that cite one of {len(index):,} older papers, "
        f"{answers.found:.1%} have it among the first ten."
    )
