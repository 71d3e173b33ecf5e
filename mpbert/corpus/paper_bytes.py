"""Clean papers as bytes: JSON, a line each. So they wait on disk, and come from other processes."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.published import Publication

_FIELDS = (
    *("paper_id", "title", "year", "authors", "venue", "num_abstract", "sentences", "headings"),
    *("cited", "references", "split", "pages"),
)
_PUBLISHED = tuple(Publication.__dataclass_fields__)


def bytes_of(paper: CleanPaper) -> bytes:
    """Return a paper as a line, without its end."""
    rest: dict[str, Any] = {name: getattr(paper, name) for name in _FIELDS}
    rest["sections"] = paper.sections.tolist()
    # not by asdict: of each call Python keeps a tuple for later ones, 96 bytes, up to 2,000 of them
    rest["published"] = [getattr(paper.published, name) for name in _PUBLISHED]
    return json.dumps(rest).encode()


def paper_of(line: bytes) -> CleanPaper:
    """Return the paper of :func:`bytes_of`."""
    rest = json.loads(line)
    rest["sections"] = np.array(rest["sections"], np.int16)
    rest["cited"] = [(position, ids) for position, ids in rest["cited"]]
    rest |= {name: tuple(rest[name]) for name in ("references", "pages")}
    *texts, other_ids, labels = rest["published"]
    rest["published"] = Publication(*texts, tuple(other_ids), tuple(labels))
    return CleanPaper(**rest)


def papers_in_bytes(papers: Iterable[CleanPaper]) -> np.ndarray:
    """Return papers as (N,) bytes, a line each: an array, as parts of outputs are made of."""
    return np.frombuffer(b"".join(bytes_of(paper) + b"\n" for paper in papers), np.uint8)
