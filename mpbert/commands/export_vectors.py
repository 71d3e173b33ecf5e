"""``export-vectors``: vectors directory -> files that other programs read."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import VectorsError
from mpbert.foundation.manifest import is_reused, output_directory
from mpbert.vectors.formats import WRITERS

if TYPE_CHECKING:  # what --help need not wait for
    from mpbert.vectors.store import VectorStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Write vectors in the format of another program; zero vectors are written as they are."""

    vectors: Path = positional("vectors", "vectors directory to read")
    output: Path = positional("output", "directory to write")
    format: str = option("word2vec", "format of the files", choices=sorted(WRITERS))
    side: str = option(
        "papers",
        "which vectors; words and documents are of hyperdoc2vec",
        choices=[
            *(f"{kind}.{split}" for kind in ("contexts", "manuscripts") for split in SPLITS),
            *("documents.in", "documents.out", "papers", "words.in", "words.out"),
        ],
    )
    dim: Optional[int] = option(
        None, "use the first dimensions of each vector, see nested_dims of finetune"
    )
    corpus: Optional[Path] = option(
        None, "corpus store with the titles for tsv and parquet, else the ids"
    )


def run(config: Config) -> None:
    """Write the files of the format; print what was written."""
    from mpbert.vectors.matches import matches_file
    from mpbert.vectors.store import VectorStore

    inputs = [path for path in (config.vectors, config.corpus) if path is not None]
    if is_reused(config.output, "export-vectors", config, inputs):
        return
    store = VectorStore.load(config.vectors, config.side).first(config.dim)
    if (matches := matches_file(config.vectors, config.side)).exists():
        logger.warning("%s: weights of exact matches are not exported, vectors alone", matches)
    titles = _titles(store, config)
    with output_directory(config.output, "export-vectors", config, inputs) as out:
        WRITERS[config.format](store, titles, out.path)
        out.counts.update(vectors=len(store), dim=store.dim)
        names = sorted(path.name for path in out.path.iterdir())
    print(f"{config.output}: {len(store):,} vectors of {store.dim} in {', '.join(names)}")


def _titles(store: "VectorStore", config: Config) -> list[str]:
    """Titles of the papers; a context's is the title of its citing paper."""
    if config.corpus is None or config.side.startswith("words"):
        return store.ids
    from mpbert.corpus.store import CorpusStore

    corpus = CorpusStore(config.corpus)
    papers = [
        name.rpartition("#")[0] if config.side.startswith("contexts") else name
        for name in store.ids
    ]
    unknown = next((name for name in papers if name not in corpus.row_of), None)
    if unknown is not None:
        raise VectorsError(
            f"{config.vectors}: paper {unknown!r} is not in {config.corpus}; expected vectors of "
            f"this corpus, give the one they were made of"
        )
    return [corpus.titles[corpus.row_of[name]] for name in papers]
