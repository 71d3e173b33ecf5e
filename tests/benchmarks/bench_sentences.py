"""Sentence vectors of a Hugging Face encoder beside sentence-transformers with the same model.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_sentences.py [MODEL] [CORPUS]
[sentences]``; the defaults are sentence-transformers/all-MiniLM-L6-v2, runs/corpus/rfc and 512.
The peer has the best of several batch sizes. Both run in float32 and in bfloat16; a row compares
the same precision. Rates of one core are of processor seconds, others of the clock. A row tells how
far the farthest of our vectors, and of theirs, is from theirs in float32. The last row of each
precision sets the operations of our matrix products, padding not counted, beside those of a large
product alone, its weights laid out before: no encoder in that precision can be faster than that.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from contest import contest, print_processor_rates, print_rates, print_row
from transformers import AutoConfig

from mpbert.corpus.store import CorpusStore
from mpbert.pretrained.folders import folder_of
from mpbert.pretrained.sentence_encoder import SentenceEncoder
from mpbert.pretrained.unpadded_bert import PrepackedLinear

BATCHES, ROUNDS, STEP = (8, 32, 128), 2, 7  # every 7th sentence
ROWS, PRODUCTS = 1024, 160  # of the product that is the bound


def main(
    model: str = "sentence-transformers/all-MiniLM-L6-v2",
    corpus: str = "runs/corpus/rfc",
    number: str = "512",
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = folder_of(model)
    store = CorpusStore(Path(corpus))
    texts = store.sentence_texts(np.arange(0, len(store.sentences), STEP)[: int(number)])
    exact = None
    for precision, name in ((torch.float32, "float32"), (torch.bfloat16, "bfloat16")):
        ours = SentenceEncoder(folder, torch.device("cpu"), bfloat16=precision == torch.bfloat16)
        theirs = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": precision})
        width = ours.dim
        states = torch.randn(ROWS, width, dtype=precision)
        multiply = PrepackedLinear(torch.randn(4 * width, width), torch.zeros(4 * width), precision)
        contestants = {
            "ours": lambda ours=ours: ours.encode(texts),
            "product": lambda multiply=multiply, states=states: [
                multiply(states) for _ in range(PRODUCTS)
            ],
        }
        for size in BATCHES:
            contestants[f"batches of {size}"] = lambda size=size, theirs=theirs: theirs.encode(
                texts, batch_size=size, normalize_embeddings=True
            )
        costs = contest(contestants, ROUNDS)
        found, product = costs.pop("ours"), costs.pop("product")
        peer = min(costs, key=lambda each: costs[each].computed)
        vectors = {"ours": found.result, "theirs": costs[peer].result}
        exact = vectors["theirs"] if exact is None else exact
        far = {k: f"{np.linalg.norm(v - exact, axis=1).max():.1e}" for k, v in vectors.items()}
        what = f"embed, {Path(model).name}, {len(texts):,} sentences, {name}"
        about, goal = f"{what}, farthest vector", "<= 1e-3" if name == "float32" else "-"
        print_row(about, "sentence-transformers, float32", goal, "-", *far.values(), "-")
        against = f"sentence-transformers, {name}, {peer}"
        pair = found, costs[peer]
        print_processor_rates(what, against, ">= 1.5", *pair, len(texts), "sentences/s")
        about = f"{what}, {torch.get_num_threads()} threads"
        print_rates(about, against, ">= 1.5", *pair, len(texts), "sentences/s")
        rate = operations(folder, ours.rows(texts).lengths) / found.computed
        fastest = PRODUCTS * 2 * ROWS * width * 4 * width / product.computed
        print_row(
            f"{what}, operations, one core",
            f"{name} product, width {width}",
            "-",
            f"{rate / fastest:.0%}",
            f"{rate / 1e9:,.0f} GFLOP/s",
            f"{fastest / 1e9:,.0f} GFLOP/s",
            "-",
        )


def operations(folder: Path, lengths: np.ndarray) -> float:
    """Return the floating-point operations of the matrix products of a BERT.

    :param lengths: (M,) tokens of the texts.
    """
    config = AutoConfig.from_pretrained(folder)
    dim, tokens = config.hidden_size, lengths.astype(float)
    products = 2 * dim * (4 * dim + 2 * config.intermediate_size) * tokens.sum()
    return config.num_hidden_layers * (products + 4 * dim * (tokens**2).sum())


if __name__ == "__main__":
    main(*sys.argv[1:])
