"""Reader of the corpora of Citeomatic and of the Open Research Corpus: Bhagavatula et al. (2018).

One paper a line with title, abstract and the ids of the papers it cites, not where: a corpus for
the global task. Both spellings of the fields are read, ``out_citations`` and ``outCitations``.
"""

from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.shards import ShardReader
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import names_of, required_id, text_of, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits


@READERS.register
class CiteomaticReader(ShardReader):
    """Reads ``corpus.json`` of Citeomatic or shards of the Open Research Corpus."""

    name = "citeomatic"
    default_splits = YearSplits(valid_year=2015, test_year=2016)
    expected = "an object with id, title, abstract, year and out_citations"

    def learn(self, record: dict[str, Any]) -> bool:
        """Make the id of a paper known."""
        return self.linker.add(required_id(record["id"]), Identifiers())

    def paper(self, record: dict[str, Any]) -> RawPaper:
        """Return the paper of a record."""
        title = text_of(record.get("title"))
        abstract = plain(
            text_of(record.get("abstract") or record.get("paperAbstract")), self.counts
        )
        cited = record.get("out_citations") or record.get("outCitations") or ()
        known = [Identifiers(corpus_id=required_id(i)) for i in dict.fromkeys(cited)]
        found = [self.linker.resolve(identifiers, self.counts) for identifiers in known]
        return RawPaper(
            paper_id=required_id(record["id"]),
            title=title,
            year=year_of(record.get("year")),
            abstract=self.abstract_or_title(abstract, False, title),
            sections=(),
            authors=names_of(record.get("authors")),
            venue=text_of(record.get("venue")),
            references=tuple(filter(None, found)),
        )
