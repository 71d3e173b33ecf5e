"""``embed``: encoder -> vectors of all papers and of the manuscripts of some splits."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.engine_choice import engine_of, engine_option
from mpbert.foundation.manifest import check_inputs, is_finished, output_directory
from mpbert.foundation.parts import Arrays, parts_of
from mpbert.foundation.progress import progress
from mpbert.retrieval.options import check_known, known_option

if TYPE_CHECKING:  # what --help need not wait for
    import numpy as np

logger = logging.getLogger(__name__)
BLOCK = 1024  # items whose vectors are kept together: what a killed run has to do again, at most


@dataclass(frozen=True)
class Config:
    """Embed all papers, and the manuscripts of the chosen splits around each citation."""

    data: Path = positional("data", "binary corpus to read")
    encoder: Path = positional("encoder", "encoder directory")
    output: Path = positional("output", "vectors directory to write")
    sentence_vectors: Optional[Path] = option(
        None, "vectors made by mpbert embed-sentences, where the encoder was trained with them"
    )
    splits: list[str] = option(
        ("valid", "test"), "splits whose manuscripts are embedded", nargs="*", choices=SPLITS
    )
    known: list[str] = known_option()
    readings: int = option(
        1, "readings of a text, random samples of its sentences, whose vectors are averaged"
    )
    seed: int = option(1, "seed of the readings")
    batch_tokens: int = option(16384, "most tokens of a batch; changes memory, not results")
    device: str = option("auto", "cpu, cuda or auto")
    bf16: bool = option(False, "matrix products in bfloat16")
    engine: str = engine_option()

    def __post_init__(self) -> None:
        check_least(self, readings=1, batch_tokens=1)


def run(config: Config) -> None:
    """Write ``papers`` and ``contexts.SPLIT`` vectors; a killed run goes on where it was."""
    from mpbert.corpus.binary import BinaryCorpus
    from mpbert.model.description import check_same_tokenizer, read_description
    from mpbert.model.embedding_work import PAPERS, Embedding

    inputs = inputs_of(config)
    if is_finished(config.output, "embed", config, inputs):
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs)
    corpus, model = BinaryCorpus(config.data), read_description(config.encoder)
    check_same_tokenizer(config.encoder, config.data)
    if model.reading.citing_sentences or model.model.lexical.exact_matches:
        check_known(config.known, config.splits)
    work = Embedding(
        *(config.data, config.encoder, config.sentence_vectors),
        *(config.readings, config.seed, config.batch_tokens, config.device, config.bf16),
        tuple(config.known),
    )
    ids = {PAPERS: corpus.paper_ids}
    ids |= {f"contexts.{split}": corpus.context_ids(split) for split in sorted(set(config.splits))}
    with (
        output_directory(config.output, "embed", config, inputs) as out,
        engine_of(config.engine) as engine,
    ):
        for name, its_ids in ids.items():
            places = range(0, len(its_ids), BLOCK)
            items = [(name, place, min(place + BLOCK, len(its_ids))) for place in places]
            parts = parts_of(config.output, name, "embed", config, inputs)
            results = engine.results(work, items, parts)
            found = progress(results, f"embed {name}", "block", len(items))
            num_tokens = corpus.vocab_size if model.model.lexical.exact_matches else 0
            _save(out.path, name, its_ids, model.model.vector_dim, num_tokens, found)
            out.counts[name] = len(its_ids)


def _save(
    directory: Path, name: str, ids: list[str], dim: int, num_tokens: int, results: Iterator[Arrays]
) -> None:
    """Write vectors as they come, and weights of so many tokens if there are any."""
    from mpbert.vectors.matches import MatchesWriter
    from mpbert.vectors.store import VectorStore

    matches = MatchesWriter(num_tokens) if num_tokens else None

    def blocks() -> "Iterator[np.ndarray]":
        for part in results:
            if matches is not None:
                matches.add(part["offsets"], part["tokens"], part["weights"])
            yield part["vectors"]

    VectorStore.write(directory, name, ids, dim, blocks())
    if matches is not None:
        matches.save(directory, name)


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.data, config.encoder, *filter(None, [config.sentence_vectors])]
