"""``distil``: pretrained encoder -> a token bag that stands for it, which needs no torch."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.extras import check_installed
from mpbert.foundation.manifest import is_reused, output_directory


@dataclass(frozen=True)
class Config:
    """Make a token bag that stands for a pretrained encoder, for ``mpbert index --encoder``.

    Its vectors are learnt from titles and abstracts, not from citations.
    """

    corpus: Path = positional("corpus", "corpus store whose titles and abstracts it learns from")
    encoder: Path = positional("encoder", "pretrained encoder: its folder, or its name")
    output: Path = positional("output", "encoder directory to write")
    dim: int = option(256, "dimensions of a vector")
    sentences: int = option(8000, "most sentences that are read, a random sample")
    seed: int = option(1, "seed of the sample")

    def __post_init__(self) -> None:
        check_least(self, dim=1, sentences=1)


def run(config: Config) -> None:
    """Write the encoder directory.

    :raises EncoderError: there is no such encoder, or it has fewer dimensions.
    """
    check_installed("transformers")
    from mpbert.corpus.store import CorpusStore
    from mpbert.foundation.seeding import named_rng
    from mpbert.model.distilled_bag import write_distilled
    from mpbert.pretrained.folders import folder_of
    from mpbert.pretrained.model_files import files_of_model

    folder = folder_of(str(config.encoder))
    inputs = [config.corpus, *files_of_model(folder)]
    if is_reused(config.output, "distil", config, inputs):
        return
    papers = [paper for paper in CorpusStore(config.corpus).papers() if paper.split == "train"]
    texts = [text for paper in papers for text in (paper.title, *paper.abstract) if text]
    chosen = named_rng(config.seed, "sentences to distil from").permutation(len(texts))
    texts = [texts[place] for place in sorted(chosen[: config.sentences].tolist())]
    with output_directory(config.output, "distil", config, inputs) as out:
        write_distilled(folder, texts, config.dim, out.path)
        out.counts |= {"sentences": len(texts)}
    print(f"{config.output}: {config.encoder} as a token bag, by {len(texts):,} sentences")
