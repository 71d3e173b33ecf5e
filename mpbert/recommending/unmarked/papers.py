"""Papers of a raw corpus to learn from and to measure by, and an index of the older ones."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from mpbert.corpus.clean import CleanPaper, clean_paper
from mpbert.corpus.formats.base import READERS
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.directory import data_of
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.library_tables import library_tables
from mpbert.recommending.paper_blocks import BlocksBy
from mpbert.recommending.read_papers import ReadPapers
from mpbert.recommending.unmarked.labels import LabelledPaper, labelled


@dataclass
class LearningPapers:
    """Papers of one corpus, split by year as its reader splits by itself.

    :param older: all papers of training, as an index takes them.
    """

    training: list[LabelledPaper] = field(default_factory=list)
    validation: list[LabelledPaper] = field(default_factory=list)
    test: list[LabelledPaper] = field(default_factory=list)
    older: list[CleanPaper] = field(default_factory=list)

    def index(self) -> AnsweringIndex:
        """Return an index of the older papers by words."""
        encoder = IndexEncoder()
        made = library_tables(ReadPapers.of(self.older), BlocksBy(encoder), Counter())
        return AnsweringIndex(data_of(made[0], 1, 1, fuses=False, words=made[1]), encoder)


def learning_papers(path: Path, reader_name: str, share: float) -> LearningPapers:
    """Return the papers of a raw corpus.

    :param share: part of the papers that is read, a fixed random sample.
    :raises CorpusError: a record is broken, or a split has no paper.
    """
    reader = READERS[reader_name]()
    splits, found = reader.default_splits, LearningPapers()
    rng = named_rng(1, "papers")
    reader.prepare(path)
    for record in progress(reader.read_records(path), f"read {reader_name}", "record"):
        paper = reader.parse(record) if rng.random() < share else None
        clean = clean_paper(paper, Counter()) if paper else None
        if paper is None or clean is None:
            continue
        if clean.year < splits.valid_year:
            found.older.append(clean)
            found.training.append(labelled(paper, clean))
        else:
            part = found.validation if clean.year < splits.test_year else found.test
            part.append(labelled(paper, clean))
    if not (found.training and found.validation and found.test):
        raise CorpusError(
            f"{path}: found {len(found.training)} papers before {splits.valid_year}, "
            f"{len(found.validation)} before {splits.test_year} and {len(found.test)} after; "
            f"expected some of each"
        )
    _unlabel_repeats(found)
    return found


def _unlabel_repeats(papers: LearningPapers) -> None:
    """Take the labels of sentences that stand in an earlier paper word by word, as of boilerplate.

    What is measured would be memory of them.
    """
    seen = {text for paper in papers.training for text in paper.texts}
    for paper in (*papers.validation, *papers.test):
        for number, text in enumerate(paper.texts):
            if text in seen:
                paper.labels[number] = None
            seen.add(text)
