"""Seconds to open an index, and milliseconds of a recommendation for places in its own sentences.

Run: ``PYTHONPATH=. OMP_NUM_THREADS=1 .venv/bin/python tests/benchmarks/bench_recommend.py
[INDEX]``;
the default is the index that the variable INDEX names, or runs/index/rfc.

A text is 40 known citing sentences, about 6,000 characters, the place in the middle of it. Times
are of the processor, so that other work on the machine does not count.
"""

import sys
import time

import numpy as np
from contest import INDEX, print_row

from mpbert.recommending.options import RANKERS
from mpbert.recommending.recommender import Recommender

CALLS, SENTENCES = 100, 40


def main(path: str = INDEX) -> None:
    """Print a line for opening and a row for each ranker."""
    import torch  # noqa: F401 (its import is no part of opening)

    start = time.process_time()
    recommender = Recommender(path)
    print(f"open {len(recommender.paper_ids):,} papers: {time.process_time() - start:.2f} s")
    sentences = recommender._data.tables.contexts["text"].tolist()
    rng = np.random.default_rng(1)
    chosen = rng.integers(len(sentences), size=(CALLS, SENTENCES))
    texts = [" ".join(sentences[number] for number in row) for row in chosen]
    for ranker in RANKERS:
        recommender.recommend(texts[0], ranker=ranker)  # warm-up
        seconds = []
        for text in texts:
            start = time.process_time()
            recommender.recommend(text, len(text) // 2, ranker=ranker)
            seconds.append(time.process_time() - start)
        middle, most, worst = 1000 * np.percentile(seconds, [50, 95, 100])
        what = f"recommend, {ranker}, {len(recommender.paper_ids):,} papers, one core"
        ours, slow = f"median {middle:.0f} ms", f"95 % {most:.0f} ms, most {worst:.0f} ms"
        print_row(what, "-", "<= 100 ms", "-", ours, slow, "-")


if __name__ == "__main__":
    main(*sys.argv[1:])
