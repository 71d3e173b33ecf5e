"""Baselines: other ways from a corpus store to vectors; importing this folder registers them."""

from mpbert.baselines import chance, dacr, doc2vec, hyperdoc2vec, sif, transformer, word2vec  # noqa: F401
from mpbert.baselines.base import BASELINES, Baseline

__all__ = ["BASELINES", "Baseline"]
