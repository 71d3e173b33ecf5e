"""A folder as users have it: outputs of the 120 RFCs below ``runs``, by the names of the docs."""

import os
from pathlib import Path

import pytest

from mpbert.commands import retrieve

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def outputs(rfc_corpus, micro_encoder, rfc_index, tmp_path_factory):
    """Return that folder; it links to the raw corpora, the corpus, an encoder and an index."""
    place = tmp_path_factory.mktemp("outputs")
    links = {
        "datasets": REPOSITORY / "datasets",
        "runs/corpus/rfc": rfc_corpus,
        "runs/encoders/rfc/token_bag_matches": micro_encoder,
        "runs/index/rfc": rfc_index,
    }
    for name, target in links.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, place / name)
    for name in ("bm25", "tfidf"):
        output = place / "runs/trec/rfc" / name
        retrieve.run(retrieve.Config(rfc_corpus, output, lexical=name, splits=["test"]))
    return place
