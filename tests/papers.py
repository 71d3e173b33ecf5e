"""Papers as JSON Lines hold them, for tests of corpora."""

import json


def citing(text: str, *cited_ids: str) -> dict:
    """Return a sentence whose @ cites papers."""
    start = text.index("@")
    return {"text": text, "markers": [{"start": start, "end": start + 1, "cited_ids": cited_ids}]}


def record(number: int) -> str:
    """Return one of forty papers that cite one another, as a line."""
    cited = [f"p{(number * 7 + step) % 40}" for step in (1, 5, 11)]
    marked = {"text": "It is so [1].", "markers": [{"start": 9, "end": 12, "cited_ids": cited[:2]}]}
    return json.dumps(
        {
            **{"paper_id": f"p{number}", "title": f"Paper {number}", "year": 2000 + number % 9},
            **{"abstract": [f"We say {number}."], "references": cited},
            "sections": [{"heading": "One", "sentences": ["It is.", marked]}],
        }
    )
