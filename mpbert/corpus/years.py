"""Which papers a manuscript could know, by years."""

import numpy as np

from mpbert.corpus.records import UNKNOWN_YEAR


def were_there(years: np.ndarray, manuscript_years: np.ndarray | int) -> np.ndarray:
    """Return a mask of papers of a manuscript's year or earlier; years spread to one shape.

    A manuscript of unknown year could know all papers, and all could know a paper of unknown year.

    :param years: of papers; ``manuscript_years`` of manuscripts. ``UNKNOWN_YEAR`` is the least.
    """
    return (years <= manuscript_years) | (np.asarray(manuscript_years) == UNKNOWN_YEAR)
