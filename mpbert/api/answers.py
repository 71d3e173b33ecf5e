"""Recommended papers as a table of pandas, with their reasons as text."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from mpbert.recommending.records import Recommendation, Why

_COLUMNS = ("paper_id", "title", "authors", "year", "score", "reasons", "why")


def answer_table(papers: Sequence[Recommendation]) -> pd.DataFrame:
    """Return the papers by rank, from 1; the columns are told by ``mpbert.Recommender``."""
    records: list[dict[str, Any]] = [
        {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "authors": list(paper.authors),
            "year": paper.year,
            "score": paper.score,
            "reasons": _reasons(paper.why),
            "why": paper.why,
        }
        for paper in papers
    ]
    ranks = pd.RangeIndex(1, len(records) + 1, name="rank")
    table = pd.DataFrame(records, index=ranks, columns=list(_COLUMNS))
    return table.astype({"year": "Int32", "score": "float64"})


def _reasons(why: Why) -> list[str]:
    lines = [f"{c.citing_id} cites it, {c.similarity:.2f}: {c.text}" for c in why.citing]
    together = ", ".join(f"{c.paper_id} ({c.count})" for c in why.companions)
    return [*lines, f"cited together with {together}"] if together else lines
