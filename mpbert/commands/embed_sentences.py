"""``embed-sentences``: corpus store and a pretrained encoder -> stored vectors of sentences."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.foundation.claims import parts_directory
from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.extras import check_installed
from mpbert.foundation.links import link
from mpbert.foundation.manifest import check_inputs, fingerprint, is_finished, output_directory
from mpbert.foundation.processes import keep_few_kernels
from mpbert.pretrained.options import PARTS

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Config:
    """Embed sentences of a corpus with an encoder that others have trained."""

    corpus: Path = positional("corpus", "corpus store to read")
    model: Path = positional("model", "folder of the encoder, or its name on the hub")
    output: Path = positional("output", "directory of sentence vectors to write")
    parts: list[str] = option(
        ("abstract", "citing"),
        "sentences to embed: titles and abstracts; citing sentences and their neighbours; bodies",
        nargs="+",
        choices=PARTS,
    )
    tuned_layers: Optional[int] = option(
        None,
        "also store the token states that enter so many last layers, for finetune to tune them",
    )
    batch_tokens: int = option(4096, "most tokens of a batch: memory, not results")
    device: str = option("auto", "cpu, cuda or auto")
    precision: str = option(
        "auto",
        "of matrix products; auto: bfloat16 where the processor multiplies it faster",
        choices=("auto", "bfloat16", "float32"),
    )

    def __post_init__(self) -> None:
        check_least(self, batch_tokens=1, tuned_layers=1)


def run(config: Config) -> None:
    """Write ``vectors.npy``, ``rows.npy`` and ``meta.json``, and states of tokens if asked for.

    A killed run goes on where it was.
    """
    check_installed("transformers")
    keep_few_kernels()
    import numpy as np

    from mpbert.corpus.store import CorpusStore
    from mpbert.model.directory import pick_device
    from mpbert.pretrained import sentence_vectors
    from mpbert.pretrained.device import multiplies_bfloat16
    from mpbert.pretrained.folders import folder_of
    from mpbert.pretrained.model_files import copy_model
    from mpbert.pretrained.sentence_encoder import SentenceEncoder

    device, folder = pick_device(config.device), folder_of(str(config.model))
    inputs = inputs_of(config)
    if is_finished(config.output, "embed-sentences", config, inputs):
        logger.info("%s: exists, reused", config.output)
        return
    check_inputs(inputs)
    store = CorpusStore(config.corpus)
    fast = config.precision == "auto" and multiplies_bfloat16(device)
    bfloat16 = fast or config.precision == "bfloat16"
    encoder = SentenceEncoder(folder, device, config.batch_tokens, bfloat16)
    tuned = config.tuned_layers or 0
    if tuned:
        encoder.top_layers(tuned)  # refuses a model that has not so many
    numbers = sentence_vectors.numbers_of(store, config.parts)
    texts, rows = sentence_vectors.distinct_texts(store, numbers)
    with output_directory(config.output, "embed-sentences", config, inputs) as out:
        identity = "\n".join([repr(config), *map(fingerprint, inputs)])
        parts = parts_directory(config.output, identity)
        for file in sentence_vectors.write_blocks(texts, encoder, tuned, parts):
            link(file, out.path / file.name)
        copy_model(folder, out.path / sentence_vectors.ENCODER)
        np.save(out.path / "rows.npy", rows)
        meta = {
            "format": sentence_vectors.FORMAT,
            "dim": encoder.dim,
            "parts": sorted(set(config.parts)),
            "tuned_layers": tuned,
            "pooling": encoder.pooling,
            "most_tokens": encoder.longest,
            "precision": "bfloat16" if bfloat16 else "float32",
            "model": str(config.model),
            "model_sha256": encoder.model_sha256,
            "corpus": fingerprint(config.corpus),
        }
        text = json.dumps(meta, indent=1, ensure_ascii=False) + "\n"
        (out.path / "meta.json").write_text(text, encoding="utf-8")
        out.counts |= {"sentences": len(rows), "embedded": len(numbers), "vectors": len(texts)}


def inputs_of(config: Config) -> list[Path]:
    """Return all paths whose content the output depends on; the model is fetched if need be."""
    from mpbert.pretrained.folders import folder_of
    from mpbert.pretrained.model_files import files_of_model

    return [config.corpus, *files_of_model(folder_of(str(config.model)))]
