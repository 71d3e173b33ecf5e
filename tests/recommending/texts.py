"""Texts that ask, and a paper to add."""

import numpy as np

from mpbert.recommending.manuscripts.files import draft_in
from mpbert.recommending.manuscripts.sentences import manuscript_of
from mpbert.recommending.manuscripts.source_text import SourceText

TEXT = "A host sends mail to a relay. The protocol names the sender. A relay may refuse it."
NEW = {
    **{"paper_id": "AA-NEW", "title": "Zebrafish relay zymurgy", "year": 2021},
    "abstract": ["Zebrafish quickly relay zymurgy.", "Zymurgy is what zebrafish relay."],
    "sections": [{"sentences": ["Zygotes of zebrafish know zymurgy [CITATION]."]}],
}
TEXTS = (
    "A host sends mail to a relay.",
    "The protocol names the sender.",
    "A relay may refuse it. Keys are exchanged before.",
    "Routers drop packets that are too large.",
    "An agent reads the counters of a device.",
    "zzz qqq",
)


def questions(recommender):
    """Arguments of ``recommend``, of all kinds."""
    ids, years = recommender.paper_ids, np.sort(recommender.years)
    return [
        {
            **{"text": text, "top": top, "ranker": ranker},
            "year": (None, int(years[60]), int(years[5]))[number % 3],
            "accepted": ids[: number % 4],
        }
        for number, text in enumerate(TEXTS)
        for top in (1, 7, 120)
        for ranker in ("both", "both", "words", "dense")
    ]


def read_manuscript(text, path):
    """Return the manuscript in a text, as that of a file of this name."""
    return manuscript_of(draft_in(SourceText(path, text)))
