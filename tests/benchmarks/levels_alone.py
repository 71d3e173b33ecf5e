"""What bag, levels and exact matches of one encoder find alone, and together by other weights.

usage: levels_alone.py CORPUS VECTORS DIM [OTHER]

VECTORS are of an encoder with concatenated levels and exact matches, DIM is the size of its bag.
OTHER are vectors to take in place of its levels. Prints Recall@10 / MAP@10 of 2,500 validation
contexts, in %: cosine of the bag + weight · cosine of the levels + exact matches. The row itself
adds exact matches to the cosine of whole vectors.
"""

import sys
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.evaluation.measures import mean_measure
from mpbert.retrieval.ranking import top_k
from mpbert.vectors.matches import load_matches
from mpbert.vectors.normal import normalized

SAMPLE, WEIGHTS = 2500, (0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
BLOCK = 250


def main(corpus: str, vectors: str, dim: str, other: str = "") -> None:
    """Print the table."""
    store, folder, size = CorpusStore(Path(corpus)), Path(vectors), int(dim)
    queries = store.queries("valid", "local").distinct()
    queries = queries.take(fixed_sample(queries, SAMPLE))
    ids = (folder / "contexts.valid.ids.txt").read_text().split()
    place = {name: row for row, name in enumerate(ids)}
    asked = np.array([place[name] for name in queries.query_ids])

    def cosines(source: Path, part: slice) -> np.ndarray:
        texts = np.load(source / "contexts.valid.npy")[asked, part]
        papers = np.load(source / "papers.npy")[:, part]
        return normalized(texts.astype(np.float32)) @ normalized(papers.astype(np.float32)).T

    bag = cosines(folder, slice(size))
    levels = cosines(Path(other), slice(None)) if other else cosines(folder, slice(size, None))
    texts = load_matches(folder, "contexts.valid", len(ids))[asked]
    papers = load_matches(folder, "papers", store.num_papers).T.tocsc()
    blocks = range(0, len(asked), BLOCK)
    matches = np.vstack([(texts[start : start + BLOCK] @ papers).toarray() for start in blocks])
    newer = store.years[None] > queries.years[:, None]
    gold = [set(queries.cited(i).tolist()) for i in range(len(queries))]
    num_gold = np.array([len(rows) for rows in gold])

    def show(name: str, scores: np.ndarray) -> None:
        rows, _ = top_k(np.where(newer, -np.inf, scores), 10, queries.citing_rows)
        pairs = zip(rows, gold, strict=True)
        hits = np.array([[row in own for row in found] for found, own in pairs])
        measures = (100 * mean_measure(m, hits, num_gold) for m in ("Recall@10", "MAP@10"))
        print(f"{name:24}" + " / ".join(f"{value:.2f}" for value in measures), flush=True)

    for name, scores in {"bag": bag, "levels": levels, "exact matches": matches}.items():
        show(name, scores)
    show("the row", cosines(folder, slice(None)) + matches)
    for weight in WEIGHTS:
        show(f"levels, weight {weight}", bag + weight * levels + matches)


if __name__ == "__main__":
    main(*sys.argv[1:])
