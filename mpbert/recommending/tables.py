"""What an index knows of papers, and the sentences that cite them: tables from a corpus store.

Arrow tables, the vectors and the weights of exact matches are the source of everything else in an
index. The tables:

* papers, by row in the order of ids: ``paper_id title authors year venue abstract digest key
  published``, of which older indexes lack the last two;
* contexts, by row of the citing paper and position: ``citing_row position text around cited_rows``,
  with the sentences before and behind as one text, ``around``;
* bodies: ``body``, by row of the paper.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.published import PUBLISHED, column_of_published
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.recommending.citation_keys import Keyless, citation_keys
from mpbert.recommending.matching import PapersByToken

if TYPE_CHECKING:  # not to answer
    from mpbert.corpus.store import CorpusStore

PAPERS = pa.schema(
    {
        "paper_id": pa.string(),
        "title": pa.large_string(),
        "authors": pa.list_(pa.string()),
        "year": pa.int32(),
        "venue": pa.string(),
        "abstract": pa.large_string(),
        "digest": pa.binary(32),
        "key": pa.string(),
        "published": PUBLISHED,
    }
)
CONTEXTS = pa.schema(
    {
        "citing_row": pa.int32(),
        "position": pa.int32(),
        "text": pa.large_string(),
        "around": pa.large_string(),
        "cited_rows": pa.list_(pa.int32()),
    }
)
BODIES = pa.schema({"body": pa.large_string()})
_NEIGHBOURS = -1, 1  # of a citing sentence


@dataclass(frozen=True)
class IndexTables:
    """The source of an index.

    :param papers: (N,) rows of schema ``PAPERS``, in one chunk.
    :param contexts: (C,) rows of schema ``CONTEXTS``, in one chunk.
    :param vectors: (N, D) float32 of length 1; zeros where a paper has no vector.
    :param matches: (N, V) weights of tokens; None: the encoder counts no exact matches.
    :param bodies: (N,) rows of schema ``BODIES``, all sentences after the abstract as one text;
        None: words of bodies are not searched.
    """

    papers: pa.Table
    contexts: pa.Table
    vectors: np.ndarray
    matches: PapersByToken | None = None
    bodies: pa.Table | None = None

    def cited(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (C + 1,) offsets and the rows of papers that each context cites."""
        lists = self.contexts["cited_rows"].combine_chunks()
        # by DLPack: where pandas is installed, Arrow's own way to an array would import it
        lengths, cited = map(np.from_dlpack, (lists.value_lengths(), lists.flatten()))
        return offsets_of(lengths), cited


def digest(
    title: str, authors: Sequence[str], year: int, venue: str, num_abstract: int, texts: list[str]
) -> bytes:
    """Return the SHA-256 of what a paper says, to tell whether two records are the same.

    Where it appeared is compared by itself, since older indexes do not hold it.
    """
    record = [title, list(authors), year, venue, num_abstract, texts]
    return hashlib.sha256(json.dumps(record, ensure_ascii=False).encode()).digest()


def papers_of(store: "CorpusStore") -> pa.Table:
    """Return the papers of a corpus store."""
    rows = np.arange(store.num_papers)
    digests, published, keyless = [], [], []
    for p in store.papers():
        digests.append(digest(p.title, p.authors, p.year, p.venue, p.num_abstract, p.sentences))
        published.append(p.published)
        keyless.append(Keyless(p.paper_id, p.authors, p.year, p.title, p.published.id_is_key))
    columns = [
        *(store.paper_ids, store.titles, store.authors, store.years, store.venues),
        *(store.abstracts(rows), digests),
        *(citation_keys(keyless), column_of_published(published)),
    ]
    return table_of(columns, PAPERS)


def contexts_of(store: "CorpusStore", splits: Sequence[str] = ("train",)) -> pa.Table:
    """Return the sentences of splits of a corpus store that cite its papers."""
    found = pa.concat_tables([_contexts_of_split(store, split) for split in splits])
    keys = [found[name].to_numpy() for name in ("position", "citing_row")]
    return found.take(np.lexsort(keys)).combine_chunks()


def _contexts_of_split(store: "CorpusStore", split: str) -> pa.Table:
    contexts = store.contexts(split)
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    order = np.lexsort((contexts.positions, contexts.citing_rows))
    lengths = np.diff(contexts.cited_offsets)[order]
    cited = contexts.cited_rows[ranges(contexts.cited_offsets[order], lengths)]
    columns = [
        contexts.citing_rows[order],
        contexts.positions[order],
        store.sentence_texts(sentence_rows[order]),
        store.local_texts(contexts.take(order), _NEIGHBOURS),
        lists_of(lengths, cited),
    ]
    return table_of(columns, CONTEXTS)


def bodies_of(store: "CorpusStore") -> pa.Table:
    """Return the bodies of a corpus store."""
    first, ends = store.sentence_offsets[:-1] + store.num_abstract, store.sentence_offsets[1:]
    texts = [
        " ".join(store.sentences.slice(start, end - start).to_pylist())
        for start, end in zip(first.tolist(), ends.tolist(), strict=True)
    ]
    return table_of([texts], BODIES)


def lists_of(lengths: np.ndarray, values: np.ndarray) -> pa.Array:
    """Return an Arrow array of lists that have these lengths."""
    offsets = pa.array(offsets_of(lengths), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(values, pa.int32()))


def table_of(columns: Sequence[object], schema: pa.Schema) -> pa.Table:
    """Return a table of columns in the order of a schema."""
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def column_of(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a table in one chunk; to ask the table for it takes longer than to read.

    An empty table may have no chunk.
    """
    chunks = table[name].chunks
    return chunks[0] if chunks else pa.array([], table.schema.field(name).type)
