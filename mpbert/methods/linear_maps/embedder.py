"""Linear maps over the vectors of another method, learnt from citations.

The other method has read titles, abstracts and contexts, and left the vectors of training contexts
beside the rest, as HAtten does. What is learnt, and how: :mod:`mpbert.methods.citation_head` and
:mod:`mpbert.methods.head_training`. The vector of a paper gains those of the training contexts that
cite it: :mod:`mpbert.methods.citing_vectors`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError, VectorsError
from mpbert.methods.citing_embedder import CitingEmbedder
from mpbert.methods.embedding import EMBEDDERS
from mpbert.vectors.store import VectorStore, check_ids, vectors_name


@EMBEDDERS.register
@dataclass
class LinearMaps(CitingEmbedder):
    """Maps of vectors that are there.

    The settings: ``start``, a folder of vectors that another method has written, with those of
    training contexts and of the contexts to embed; and those of ``CitingEmbedder``.
    """

    name: ClassVar[str] = "linear_maps"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("head_epochs=1",)
    start: str = ""
    citing_vectors: bool = True
    head_epochs: int = setting(10, minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.citing_vectors:
            raise ConfigError("citing_vectors=false: linear_maps adds them; expected true")

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Read the vectors of papers and training contexts, and learn the maps."""
        papers, ids = self.read_papers(store), store.contexts("train").query_ids
        contexts = self._read(vectors_name("local", "train"), ids)
        return self.join(store, papers, contexts, int(rng.integers(2**31)))

    def read_papers(self, store: CorpusStore) -> np.ndarray:
        """Return the vectors of papers."""
        return self._read("papers", store.paper_ids)

    def read_queries(self, store: CorpusStore, queries: Queries) -> np.ndarray:
        """Return the vectors of contexts of one split."""
        ids = queries.query_ids
        for split in ("test", "valid", "train"):
            of_split = store.contexts(split).query_ids
            place_of = {query: place for place, query in enumerate(of_split)}
            if all(query in place_of for query in ids):
                found = self._read(vectors_name("local", split), of_split)
                return found[[place_of[query] for query in ids]]
        raise VectorsError(f"{ids[0]}: no context of the corpus; expected contexts of one split")

    def _read(self, name: str, ids: Sequence[str]) -> np.ndarray:
        """Return the vectors of a file, whose rows are those of the corpus."""
        if not self.start:
            raise ConfigError(
                "start: found none; expected start=DIR, a folder that mpbert fit has written "
                "with contexts.train.npy, such as one of --method hatten"
            )
        found = VectorStore.load(Path(self.start), name)
        check_ids(found, ids, f"{self.start}/{name}")
        return found.vectors
