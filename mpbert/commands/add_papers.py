"""``add-papers``: vectors of HyperDoc2Vec and a larger corpus store -> vectors of both."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import option, positional
from mpbert.foundation.manifest import is_reused, output_directory


@dataclass(frozen=True)
class Config:
    """Train vectors of papers that HyperDoc2Vec does not know; all others stay as they are."""

    vectors: Path = positional("vectors", "vectors directory made by fit hyperdoc2vec")
    corpus: Path = positional("corpus", "corpus store of old and new papers")
    output: Path = positional("output", "vectors directory to write")
    seed: int = option(1, "seed of every random choice")


def run(config: Config) -> None:
    """Write a vectors directory of the whole corpus; print how many papers are new.

    :raises VectorsError: the vectors are not of HyperDoc2Vec.
    """
    from mpbert.corpus.store import CorpusStore
    from mpbert.foundation.seeding import named_rng
    from mpbert.methods.hyperdoc2vec.embedder import HyperDoc2Vec

    inputs = [config.vectors, config.corpus]
    if is_reused(config.output, "add-papers", config, inputs):
        return
    fitted = HyperDoc2Vec.load(config.vectors)
    store = CorpusStore(config.corpus)
    with output_directory(config.output, "add-papers", config, inputs) as out:
        counts = fitted.add_papers(store, named_rng(config.seed, "add papers"))
        for name, vectors in fitted.vectors(store).items():
            vectors.save(out.path, name)
        fitted.save(store, out.path)
        out.counts.update(counts)
    print(
        f"{config.output}: {store.num_papers:,} papers, {counts['papers_new']:,} of them new, "
        f"{counts['papers_dropped']:,} old ones not in this corpus"
    )
