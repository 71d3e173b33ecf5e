"""What an encoder brings to a library that learnt nothing, beside words alone.

usage: untrained.py CORPUS ENCODER [SPLIT]     e.g. runs/corpus/rfc runs/encoders/acl/distilled
       untrained.py MANUSCRIPTS ENCODER        a folder of folders, each with .tex files and a .bib

A corpus stands for two libraries: titles and abstracts, and whole texts. No library knows who
cites its papers. At most 1,000 contexts of SPLIT (test) are asked. Of manuscripts each citation is
asked in the library that its .bib files are. Printed: Recall@10 / MAP@10 in %, the gain of
Recall@10 with its standard error, and the median of milliseconds an answer.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.engine_choice import engine_of
from mpbert.foundation.errors import MpbertError
from mpbert.foundation.progress import progress
from mpbert.model.description import read_description
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.column_making import empty_table, table_of
from mpbert.recommending.contexts import manuscripts_of
from mpbert.recommending.directory import data_of
from mpbert.recommending.encoders import SentenceMeans, is_two_tower
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.library import read_library
from mpbert.recommending.library_tables import library_tables
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.options import Options
from mpbert.recommending.paper_blocks import BlocksBy
from mpbert.recommending.reading import EncoderReader
from mpbert.recommending.store_tables import bodies_of, papers_of
from mpbert.recommending.tables import BODIES, CONTEXTS, IndexTables
from mpbert.retrieval.pool import candidates_by_year

MOST = 1000
Question = tuple[Manuscript, int, set[str], np.ndarray]
"""Manuscript, number of a place, ids of cited papers, (N,) whether a paper may be ranked."""


def measure(index: AnsweringIndex, questions: list[Question]) -> tuple[np.ndarray, np.ndarray]:
    """Return (Q, 2) recall and average precision of the first ten, (Q,) milliseconds an answer."""
    scores, seconds = [], []
    for manuscript, place, cited, allowed in progress(questions, "ask", "question"):
        start = time.perf_counter()
        asked = index.asked_at(manuscript, place, Options())
        found = index.answer(replace(asked, allowed=asked.allowed & allowed))
        seconds.append(time.perf_counter() - start)
        hits = np.array([paper.paper_id in cited for paper in found])
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        scores.append([hits.sum() / len(cited), (precision * hits).sum() / len(cited)])
    return np.array(scores), 1000 * np.array(seconds)


def tell(name: str, tables: IndexTables, encoder: IndexEncoder, questions: list[Question]) -> None:
    """Print how a library ranks by words, how with the encoder beside them, and the difference."""
    nothing = replace(tables, vectors=np.zeros((len(tables.vectors), 0), dtype=np.float32))
    words, fast = measure(index_of(nothing, IndexEncoder()), questions)
    both, slow = measure(index_of(tables, encoder), questions)
    gain = 100 * (both - words)[:, 0]
    shown = [f"{100 * of[0]:.1f} / {100 * of[1]:.1f}" for of in (words.mean(0), both.mean(0))]
    print(
        f"{name:<26}{tables.papers.num_rows:>7,}{len(questions):>7,}{shown[0]:>14}{shown[1]:>14}"
        f"{gain.mean():>+8.1f} ± {gain.std() / len(gain) ** 0.5:.1f}"
        f"{np.median(fast):>8.1f}{np.median(slow):>7.1f}",
        flush=True,
    )


def ask_corpus(path: Path, encoder: IndexEncoder, split: str) -> None:
    """Measure both libraries of a corpus store."""
    store = CorpusStore(path)
    papers, queries = papers_of(store), store.queries(split, "local").distinct()
    queries = queries.take(fixed_sample(queries, MOST))
    read = [(p.paper_id, [p.title, *p.abstract], 1 + p.num_abstract) for p in store.papers()]
    vectors = encoder.embed_papers(read)
    pools = candidates_by_year(store, queries, split, "known")
    pool_of = {place: papers for places, papers in pools for place in places.tolist()}
    questions = []
    for place, manuscript in enumerate(manuscripts_of(store, queries)):
        allowed = pool_of[place].copy()
        allowed[queries.citing_rows[place]] = False
        cited = {store.paper_ids[row] for row in queries.cited(place).tolist()}
        questions.append((manuscript, 0, cited, allowed))
    without = table_of([[""] * papers.num_rows, [()] * papers.num_rows], BODIES)
    for name, bodies in (("titles and abstracts", without), ("whole texts", bodies_of(store))):
        tables = IndexTables(papers, empty_table(CONTEXTS), vectors, None, bodies)
        tell(f"{path.name}, {name}", tables, encoder, questions)


def ask_manuscripts(path: Path, encoder: IndexEncoder) -> None:
    """Measure the library of each manuscript, and all together."""
    for folder in sorted(filter(Path.is_dir, path.iterdir())):
        with engine_of("processes", 1) as engine:
            papers = read_library(folder, "bibtex", engine, Counter())
        tables, _ = library_tables(papers, BlocksBy(encoder), Counter())
        questions = list(questions_of(folder, tables.papers["paper_id"].tolist()))
        if questions:
            tell(folder.name[:25], tables, encoder, questions)


def questions_of(folder: Path, paper_ids: list[str]) -> Iterator[Question]:
    """Yield the places of TeX files whose papers the index holds; none twice, as of \\input."""
    seen = set()
    known_ids, every = set(paper_ids), np.ones(len(paper_ids), dtype=bool)
    for file in sorted(folder.rglob("*.tex")):
        manuscript = read_manuscript_file(file)
        for place, keys in enumerate(manuscript.keys):
            known = manuscript.sentences[int(manuscript.places[place])], keys
            if (cited := known_ids & set(keys)) and known not in seen:
                seen.add(known)
                yield manuscript, place, cited, every


def index_of(tables: IndexTables, encoder: IndexEncoder) -> AnsweringIndex:
    """Return an index that learnt nothing, with an encoder that was trained elsewhere."""
    data = replace(data_of(tables, 1, 1, fuses=False), is_foreign=encoder.dim > 0)
    return AnsweringIndex(data, encoder)


def encoder_at(path: Path) -> IndexEncoder:
    """Return an encoder of mpbert, or a pretrained one of sentences."""
    if not is_two_tower(path):
        return SentenceMeans(path)
    return EncoderReader(path, 1, 1, read_description(path).model.vector_dim)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        given, encoder = Path(sys.argv[1]), encoder_at(Path(sys.argv[2]))
        head = f"{'':<26}{'papers':>7}{'asked':>7}{'words':>14}{'and encoder':>14}"
        print(f"{head}{'gain ± error':>14}{'ms':>8}{'ms':>7}")
        if (given / "papers.parquet").exists():
            ask_corpus(given, encoder, (sys.argv[3:] or ["test"])[0])
        else:
            ask_manuscripts(given, encoder)
    except (MpbertError, OSError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
