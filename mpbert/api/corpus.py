"""A corpus store as tables of pandas."""

from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from mpbert.api.corpus_tables import citations_of, contexts_of, papers_of, splits_of
from mpbert.corpus.build_config import BuildConfig
from mpbert.corpus.building import build_store
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.records import Paper
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.tasks import COUNTED, TASKS
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs


class Corpus:
    """Papers, citation contexts and citations of a corpus store; each table is read when asked for.

    >>> from mpbert import Corpus
    >>> corpus = Corpus("runs/corpus/rfc")
    >>> corpus.papers.loc["RFC2119", "title"]
    'Key words for use in RFCs to Indicate Requirement Levels'
    >>> len(corpus.contexts.query("split == 'test'")) > 100
    True

    :param path: directory made by :meth:`build` or by ``mpbert build-corpus``.
    :raises CorpusError: it is no corpus store.
    :raises DamagedError: a file has other bytes than were written, or another format.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.store = CorpusStore(self.path)
        check_inputs([self.path])

    @classmethod
    def build(
        cls, raw: str | Path, path: str | Path, reader: str = "jsonl", **options: Any
    ) -> "Corpus":
        """Build the corpus store of a raw corpus, and return it; one that is there is reused.

        The same as ``mpbert build-corpus``, with the same bytes.

        >>> from mpbert import Corpus
        >>> Corpus.build("datasets/rfc/rfc-593.tar.xz", "runs/corpus/rfc", reader="rfc")
        Corpus('runs/corpus/rfc'): ... papers, ... contexts, ... citations

        :param raw: file or directory in the format of ``reader``.
        :param path: corpus store to write; a new directory.
        :param reader: name of the format, as ``mpbert build-corpus --help`` lists them.
        :param options: ``split`` ("year", "random" or "given"), ``valid_year`` and ``test_year``,
            ``unknown_cited`` ("drop" or "error") and ``seed``, see ``mpbert build-corpus``.
        :raises CorpusError: the raw corpus is broken, or a split would be empty.
        :raises ConfigError: there is no such reader or value, or options exclude one another.
        :raises OutputError: ``path`` exists and was built otherwise, or cannot be written.
        :raises TypeError: there is no such option.
        """
        build_store(BuildConfig(Path(raw), Path(path), reader, **options))
        return cls(path)

    def __repr__(self) -> str:
        counts = self.splits.sum()
        numbers = ", ".join(f"{number:,} {name}" for name, number in counts.items())
        return f"Corpus({str(self.path)!r}): {numbers}"

    def __len__(self) -> int:
        return self.store.num_papers

    @cached_property
    def papers(self) -> pd.DataFrame:
        """All papers, in the order of their ids, which are the index.

        * ``title``, ``venue``, ``abstract``: strings, empty where a paper has none; sentences of an
          abstract are joined by spaces, citation markers are cut out;
        * ``authors``: list of strings;
        * ``year``: integer, NA where unknown;
        * ``split``: "train", "valid" or "test";
        * ``num_sentences``: of abstract and body, without the title.

        >>> from mpbert import Corpus
        >>> papers = Corpus("runs/corpus/rfc").papers
        >>> papers.groupby("split")["year"].agg(["min", "max"]).columns.tolist()
        ['min', 'max']
        """
        return papers_of(self.store)

    @cached_property
    def contexts(self) -> pd.DataFrame:
        """All citation contexts: sentences that cite papers of the corpus, markers cut out.

        The index is ``context_id``, which is ``citing_id#position`` and the query id of the qrels.

        * ``citing_id``: id of the paper whose sentence it is; ``year`` and ``split`` are its own;
        * ``position``: of the sentence among those of its paper, from 0;
        * ``sentence``: the citing sentence; ``around``: with the ones before and after it;
        * ``cited_ids``: list of ids, in the order in which the sentence cites them;
        * ``is_repeat``: whether an earlier context of its split has the same words and cites the
          same papers, so that measures do not count it; never in training.

        >>> from mpbert import Corpus
        >>> contexts = Corpus("runs/corpus/rfc").contexts
        >>> list(contexts.columns)
        ['citing_id', 'position', 'sentence', 'around', 'cited_ids', 'year', 'split', 'is_repeat']
        """
        return pd.concat([contexts_of(self.store, split) for split in SPLITS])

    @cached_property
    def citations(self) -> pd.DataFrame:
        """All citations between papers of the corpus, in the text or in the references alone.

        Columns ``citing_id``, ``cited_id`` and ``split``, that of the citing paper; a pair of
        papers stands once.

        >>> from mpbert import Corpus
        >>> citations = Corpus("runs/corpus/rfc").citations
        >>> int(citations["cited_id"].value_counts().iloc[0]) > 10
        True
        """
        return citations_of(self.store)

    @cached_property
    def splits(self) -> pd.DataFrame:
        """How many ``papers``, ``contexts`` and ``citations`` are of train, valid and test.

        >>> from mpbert import Corpus
        >>> corpus = Corpus("runs/corpus/rfc")
        >>> int(corpus.splits["papers"].sum()) == len(corpus.papers)
        True
        """
        return splits_of(self.store)

    def paper(self, paper_id: str) -> Paper:
        """Return one paper with all its sentences, which :meth:`Encoder.embed_papers` takes.

        >>> from mpbert import Corpus
        >>> Corpus("runs/corpus/rfc").paper("RFC2119").year
        1997

        :raises CorpusError: there is no such paper.
        """
        return self.store.paper(paper_id)

    def qrels(self, split: str = "test", task: str = "local", queries: str = "distinct") -> Path:
        """Return the file of what the queries of a split cite, for :func:`mpbert.evaluate`.

        >>> from mpbert import Corpus
        >>> Corpus("runs/corpus/rfc").qrels("valid").name
        'qrels.valid.txt'

        :param task: ``local``, a query is a citation context; ``global``, it is a whole paper.
        :param queries: ``distinct``, without contexts that repeat another of the split, or ``all``.
        :raises ConfigError: there is no such split or task, or no such choice of queries.
        """
        choices = ("split", split, SPLITS), ("task", task, TASKS), ("queries", queries, COUNTED)
        for name, value, known in choices:
            if value not in known:
                raise ConfigError(f"{name} is {value!r}; expected one of {', '.join(known)}")
        return self.path / qrels_name(task, split, queries)
