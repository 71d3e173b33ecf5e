"""mpbert: vectors of manuscripts and papers for citation recommendation (MP-BERT4CR).

    from mpbert import Corpus, Encoder, Recommender, compare, evaluate

* :class:`Corpus`: papers, citation contexts and citations as tables of pandas.
* :class:`Encoder`: texts to vectors.
* :class:`Recommender`: a place in a text to ranked papers, and why; it needs no pandas.
* :func:`evaluate`: the measures of one ranking; :func:`compare`: of several, with tests.

Each is loaded when it is first used, so that ``import mpbert`` takes no time.
"""

__version__ = "1.0.0"
__all__ = ["Corpus", "Encoder", "Recommender", "compare", "evaluate"]

_MODULES = {
    "Corpus": "mpbert.api.corpus",
    "Encoder": "mpbert.api.encoder",
    "Recommender": "mpbert.recommending.recommender",
    "compare": "mpbert.api.measuring",
    "evaluate": "mpbert.api.measuring",
}


def __getattr__(name: str) -> object:
    """Load what is asked for (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'mpbert' has no attribute {name!r}")
    from mpbert.foundation.extras import imported

    if name in ("Corpus", "compare", "evaluate"):
        imported("pyarrow")  # of the extra that also brings pandas
    found = getattr(imported(_MODULES[name]), name)
    globals()[name] = found  # the next time it is here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
