"""``embed``: encoder -> vectors of all papers and of the manuscripts of some splits."""

import functools
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import numpy as np

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.splits import SPLITS
from mpbert.foundation.archives import archive_is_whole
from mpbert.foundation.claims import beside, parts_directory
from mpbert.foundation.config import option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import (
    check_inputs,
    fingerprint,
    is_finished,
    output_directory,
)
from mpbert.foundation.progress import progress
from mpbert.model.reading import Reading
from mpbert.model.sampling import CitingSentences
from mpbert.vectors.matches import save_matches
from mpbert.vectors.store import VectorStore

if TYPE_CHECKING:  # torch takes seconds to import, which --help need not wait for
    from mpbert.model.encoder import PaperEncoder
    from mpbert.model.sentences import Sentences

logger = logging.getLogger(__name__)
BLOCK = 1024  # items whose vectors are kept together: what a killed run has to do again, at most


@dataclass(frozen=True)
class Config:
    """Embed all papers, and the manuscripts of the chosen splits around each citation."""

    data: Path = positional("data", "binary corpus to read")
    encoder: Path = positional("encoder", "encoder directory")
    output: Path = positional("output", "vectors directory to write")
    sentence_vectors: Optional[Path] = option(
        None, "of mpbert embed-sentences, where the encoder was trained with them", type=Path
    )
    splits: list[str] = option(
        ("valid", "test"), "splits whose manuscripts are embedded", nargs="+", choices=SPLITS
    )
    readings: int = option(1, "random readings of each item whose vectors are averaged")
    seed: int = option(1, "seed of the readings")
    batch_tokens: int = option(16384, "most tokens of a batch: memory, not results")
    device: str = option("auto", "cpu, cuda or auto")
    bf16: bool = option(False, "matrix products in bfloat16")

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.readings < 1 or self.batch_tokens < 1:
            raise ConfigError(
                f"--readings {self.readings} --batch-tokens {self.batch_tokens}; expected 1 or more"
            )


def run(config: Config) -> None:
    """Write ``papers`` and ``contexts.SPLIT`` vectors; a killed run goes on where it was."""
    from mpbert.model.description import check_same_tokenizer, read_description
    from mpbert.model.directory import load_two_tower, pick_device
    from mpbert.model.embedding import token_weights
    from mpbert.model.sentences import sentences_of
    from mpbert.model.token_counts import PaperTokens

    inputs = inputs_of(config)
    if is_finished(config.output, "embed", config, inputs):
        shutil.rmtree(beside(config.output, "parts"), ignore_errors=True)
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs)
    corpus = BinaryCorpus(config.data)
    description = read_description(config.encoder)
    reading = Reading(description.reading, config.seed)
    check_same_tokenizer(config.encoder, config.data)
    reads_citing = reading.config.citing_sentences or description.model.lexical.exact_matches
    if reads_citing and "train" in config.splits:
        raise ConfigError(
            f"--splits train: {config.encoder} reads papers with the training contexts that cite "
            f"them, which would find what they cite; expected valid or test"
        )
    device, upper = pick_device(config.device), description.model.upper
    source = sentences_of(corpus, upper, config.sentence_vectors, config.encoder, device)
    model = load_two_tower(config.encoder).eval().to(device)

    citing = CitingSentences.of(corpus.contexts("train"), corpus.num_papers)

    def read_papers(rows: np.ndarray, number: int) -> object:
        return reading.papers_of(corpus, rows, number, citing)

    stores = {"papers": (corpus.paper_ids, model.citation, read_papers)}
    for split in sorted(set(config.splits)):
        contexts = corpus.contexts(split)

        def read_manuscripts(items: np.ndarray, number: int, contexts: object = contexts) -> object:
            return reading.contexts_of(corpus, contexts, items, number)

        stores[f"contexts.{split}"] = (
            corpus.context_ids(split),
            model.manuscript,
            read_manuscripts,
        )
    lexical = model.lexical.cpu() if model.lexical else None

    def weights_of(name: str, num_items: int) -> object:
        if name == "papers":
            count, weigh = PaperTokens(corpus, citing).of, lexical.weigh_papers
            return token_weights(weigh, count, num_items, corpus.vocab_size)

        contexts = corpus.contexts(name.rpartition(".")[2])

        def count(items: np.ndarray) -> object:
            read = reading.nearest().contexts_of(corpus, contexts, items, 0)
            return source.counts_of(read, corpus.vocab_size)

        return token_weights(lexical.search_weights, count, num_items, corpus.vocab_size)

    with output_directory(config.output, "embed", config, inputs) as out:
        identity = "\n".join([repr(config), *map(fingerprint, inputs)])
        parts = parts_directory(config.output, identity)
        embed_all = functools.partial(_embed_all, source=source, config=config, parts=parts)
        for name, (ids, tower, read) in stores.items():
            vectors = embed_all(name, len(ids), tower, read)
            VectorStore(ids, vectors).save(out.path, name)
            out.counts[name] = len(ids)
            if lexical is not None:
                save_matches(out.path, name, weights_of(name, len(ids)))
    shutil.rmtree(parts)


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on."""
    return [config.data, config.encoder, *filter(None, [config.sentence_vectors])]


def _embed_all(
    name: str,
    num_items: int,
    tower: "PaperEncoder",
    read: Callable[[np.ndarray, int], object],
    source: "Sentences",
    config: Config,
    parts: Path,
) -> np.ndarray:
    """Embed block by block; each finished block is a file that a later run takes up."""
    from mpbert.model.embedding import blocks, embed_sampled, mean_over_readings

    embed = functools.partial(
        embed_sampled,
        tower,
        source=source,
        batch_tokens=config.batch_tokens,
        autocast_bf16=config.bf16,
    )
    numbers = list(blocks(num_items, BLOCK))
    vectors = []
    for place, items in enumerate(progress(numbers, f"embed {name}", "block")):
        part = parts / f"{name}.{place:06d}.npz"  # zip archives: they hold checksums
        if archive_is_whole(part):
            vectors.append(np.load(part, allow_pickle=False)["vectors"])
            continue
        vectors.append(mean_over_readings(functools.partial(read, items), embed, config.readings))
        unfinished = part.with_suffix(".tmp")
        with unfinished.open("wb") as file:
            np.savez(file, vectors=vectors[-1])
        unfinished.rename(part)
    return np.concatenate(vectors) if vectors else np.zeros((0, tower.vector_dim))
