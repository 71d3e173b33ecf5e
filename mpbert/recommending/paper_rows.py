"""Papers as rows of the tables of an index."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.records import Paper
from mpbert.recommending.bodies import body_text
from mpbert.recommending.citation_keys import Keyless
from mpbert.recommending.column_making import lists_of_rows, table_of
from mpbert.recommending.columns import Column, ColumnTable
from mpbert.recommending.index_encoder import PaperTexts
from mpbert.recommending.published import published_texts
from mpbert.recommending.sentence_codes import codes_column
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS


def papers_table(
    papers: Sequence[CleanPaper | Paper], digests: Sequence[bytes], keys: Sequence[str] | Column
) -> ColumnTable:
    """Return the rows of papers."""
    columns = [
        *([getattr(p, name) for p in papers] for name in list(PAPERS)[:5]),
        list(map(abstract_of, papers)),
        digests,
        keys,
        [published_texts(p.published) for p in papers],
    ]
    return table_of(columns, PAPERS)


def bodies_table(papers: Sequence[CleanPaper]) -> ColumnTable:
    """Return the bodies of papers."""
    texts = [body_text(p.sentences[p.num_abstract :], p.pages[p.num_abstract :]) for p in papers]
    codes = codes_column(
        (p.title, abstract_of(p), text) for p, text in zip(papers, texts, strict=True)
    )
    return table_of([texts, codes], BODIES)


def texts_read(paper: CleanPaper) -> PaperTexts:
    """Return what an encoder reads of a paper."""
    return paper.paper_id, [paper.title, *paper.sentences], paper.num_abstract + 1


def keyless(paper: CleanPaper | Paper) -> Keyless:
    """Return what the key of a paper is made of."""
    is_key = paper.published.id_is_key
    return Keyless(paper.paper_id, paper.authors, paper.year, paper.title, is_key)


def contexts_table(
    papers: Sequence[CleanPaper],
    row_of: Mapping[str, int],
    cited_row_of: Mapping[str, int],
    counts: Counter[str] | None = None,
) -> ColumnTable:
    """Return the sentences in which papers cite papers, by their new rows.

    :param cited_row_of: rows of the papers whose citations are wanted.
    """
    counts = Counter() if counts is None else counts
    records = []
    for paper in papers:
        citing_row, texts = row_of[paper.paper_id], paper.sentences
        for position, ids in paper.cited:
            rows = [cited_row_of[cited] for cited in ids if cited in cited_row_of]
            cited_rows = [row for row in rows if row != citing_row]
            counts["citations_of_papers_outside_the_index"] += len(ids) - len(rows)
            counts["citations_of_the_paper_itself"] += len(rows) - len(cited_rows)
            if cited_rows:
                around = _neighbours(paper, position)
                records.append((citing_row, position, texts[position], around, cited_rows))
    return table_of(list(zip(*records, strict=True)) or [[]] * len(CONTEXTS), CONTEXTS)


def merged_contexts(contexts: ColumnTable) -> ColumnTable:
    """Return contexts in their order; what is of one sentence is one, and cites a paper once.

    At one position of a paper the text of its record and that of a copy may have two sentences.
    """
    numbers = map(defaultdict(count().__next__).__getitem__, contexts["text"].tolist())
    texts = np.fromiter(numbers, np.int64, contexts.num_rows)  # by their first appearance
    keys = [texts, contexts["position"], contexts["citing_row"]]
    order = np.lexsort(keys)
    contexts = contexts.take(order)
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    lists = contexts["cited_rows"]
    owner, cited = np.repeat(np.cumsum(is_first) - 1, np.diff(lists.offsets)), lists.values
    once = np.sort(np.unique((owner << 32) + cited, return_index=True)[1])  # rows are int32
    first = np.flatnonzero(is_first)
    lengths = np.bincount(owner[once], minlength=len(first))
    return contexts.take(first).with_columns({"cited_rows": lists_of_rows(lengths, cited[once])})


def abstract_of(paper: CleanPaper | Paper) -> str:
    """Return the abstract of a paper as one text."""
    return " ".join(paper.sentences[: paper.num_abstract])


def _neighbours(paper: CleanPaper, position: int) -> str:
    """Return the sentences before and behind, of the same side of the end of the abstract."""
    texts, border = paper.sentences, paper.num_abstract
    first, end = (0, border) if position < border else (border, len(texts))
    beside = [number for number in (position - 1, position + 1) if first <= number < end]
    return " ".join(texts[number] for number in beside)
