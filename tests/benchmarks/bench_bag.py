"""Vectors of texts by a token bag beside model2vec's ``encode``, from text to vectors, one core.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_bag.py [ENCODER] [CORPUS]``; the
defaults are runs/encoders/rfc/token_bag_matches and runs/corpus/rfc. model2vec gets the token
vectors and the tokenizer of the same encoder, and no weights of tokens, which is its fastest way;
ours has weights of tokens and a LayerNorm. Rates are of processor seconds. Install model2vec first;
without it the rows are left out.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from contest import contest, print_processor_rates

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.subwords import tokenize
from mpbert.model.bag_reader import BagReader
from mpbert.model.description import read_description

SENTENCES, PAPERS, STEP = 4000, 400, 7  # every 7th sentence


def main(
    encoder: str = "runs/encoders/rfc/token_bag_matches", corpus: str = "runs/corpus/rfc"
) -> None:
    if find_spec("model2vec") is None:
        print("left out: model2vec is not installed")
        return
    from model2vec import StaticModel

    path, store = Path(encoder), CorpusStore(Path(corpus))
    description = read_description(path)
    reader, longest = BagReader(path, description), description.reading.sentence_tokens
    tower, tokenizer = reader._citation, reader._tokenizer
    theirs = StaticModel(vectors=tower._table, tokenizer=tokenizer, normalize=True)

    def ours(texts: list[str]) -> np.ndarray:
        tokens, lengths = tokenize(tokenizer, texts, longest)
        ones, roles = np.ones(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
        return tower.embed(tokens, lengths, ones, roles)

    sentences = store.sentence_texts(np.arange(0, len(store.sentences), STEP)[:SENTENCES])
    whole = store.abstract_texts(np.arange(min(store.num_papers, PAPERS)))
    for texts, unit in ((sentences, "sentences"), (whole, "papers")):
        costs = contest(
            {
                "ours": lambda texts=texts: ours(texts),
                "theirs": lambda texts=texts: theirs.encode(texts, use_multiprocessing=False),
            }
        )
        what = f"embed, token bag, {len(texts):,} {unit}, {tower._table.shape[1]} dimensions"
        pair = costs["ours"], costs["theirs"]
        print_processor_rates(what, "model2vec", ">= 1", *pair, len(texts), f"{unit}/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
