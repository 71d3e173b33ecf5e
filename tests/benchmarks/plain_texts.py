"""What ``recommend`` answers to the plain text of a manuscript, beside the run of ``answer``.

usage: plain_texts.py CORPUS INDEX RUN [QUERIES]     e.g. runs/corpus/acl INDEX RUN/test.run 1000

Contexts of the test split are a fixed random sample. Title, abstract, text and year are given as a
user gives them: the whole text, or what stands before the place. Sentences stand in paragraphs of
their own, since the markers that divide them are cut from a corpus; they are split again. Printed:
Recall@10 / MAP@10 in %, and the share of queries whose first paper is that of the run.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import fixed_sample
from mpbert.corpus.records import Paper
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.recommending.recommender import Recommender

TOP, BETWEEN = 10, "\n\n"


def scores(found: list[str], cited: set[str], first: list[str]) -> list[float]:
    """Return recall, average precision, and whether the first paper is the same."""
    hits = np.array([paper in cited for paper in found], dtype=float)
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    same = float(found[:1] == first)
    return [hits.sum() / len(cited), (precision * hits).sum() / len(cited), same]


def run_of(path: Path) -> dict[str, list[str]]:
    """Return the papers of each query of a TREC run, best first."""
    papers: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, paper, *_ = line.split()
        papers.setdefault(query, []).append(paper)
    return papers


def given(paper: Paper, position: int, after: int | None) -> dict:
    """Return what a user gives: sentences up to a place, and so many behind it."""
    is_of_text = position >= (number := len(paper.abstract))
    sentences = paper.sentences[number if is_of_text else 0 :]
    place = position + 1 - (number if is_of_text else 0)
    before = BETWEEN.join(sentences[:place])
    behind = BETWEEN.join(["", *sentences[place:][:after]])
    abstract = " ".join(paper.abstract) if is_of_text else ""
    return {
        "text": before + behind,
        "place": len(before),
        "title": paper.title,
        "abstract": abstract,
    }


def main(corpus: Path, index: Path, run: Path, number: int) -> None:
    """Ask both, and print how they do."""
    store, recommender, answered = CorpusStore(corpus), Recommender(index), run_of(run)
    queries = store.queries("test", "local")
    queries = queries.take(fixed_sample(queries, number))
    rows = []
    for query in progress(range(len(queries)), "ask", "question"):
        paper = store.paper(int(queries.citing_rows[query]))
        cited = {store.paper_ids[row] for row in queries.cited(query).tolist()}
        others = answered[queries.query_ids[query]][:TOP]
        row = [scores(others, cited, others[:1])]
        for after in (None, 0):
            year = int(queries.years[query]) or None
            asked = given(paper, int(queries.positions[query]), after)
            wanted = recommender.asked(**asked, year=year, top=TOP)
            allowed = wanted.allowed.copy()
            allowed[recommender.paper_ids.index(paper.paper_id)] = False  # it is no candidate
            answer = recommender.answer(replace(wanted, allowed=allowed))
            found = [each.paper_id for each in answer]
            row.append(scores(found, cited, others[:1]))
        rows.append(row)
    print(f"{len(queries):,} queries")
    means = 100 * np.array(rows).mean(axis=0)
    names = ("answer", "recommend, whole text", "recommend, text before the place")
    for name, (recall, precision, same) in zip(names, means, strict=True):
        print(f"{name:<34}{recall:6.2f} / {precision:.2f}   the same first paper: {same:.1f}")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:4]), int((sys.argv[4:] or ["1000"])[0]))
