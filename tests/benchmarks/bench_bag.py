"""Vectors of texts by a token bag beside model2vec's ``encode``, from text to vectors.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_bag.py [ENCODER] [CORPUS]``; the
defaults are runs/encoders/rfc/token_bag_matches and runs/corpus/rfc. model2vec gets the token
vectors and the tokenizer of the same encoder, and no weights of tokens, which is its fastest way;
ours has weights of tokens and a LayerNorm. A paper is its abstract. Ours remembers the tokens
of words: "known" are those that the round before read, "new" that none was read before. Rates of
one core are of processor seconds, those of all cores of the clock. Install model2vec first;
without it the rows are left out.
"""

import os
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from contest import contest, print_processor_rates, print_rates

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.subwords import TextTokenizer
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.model.bag_reader import BagReader
from mpbert.model.description import read_description
from mpbert.model.sampling import SampledSentences

SENTENCES, PAPERS, STEP = 4000, 400, 7  # every 7th sentence


def main(
    encoder: str = "runs/encoders/rfc/token_bag_matches", corpus: str = "runs/corpus/rfc"
) -> None:
    if find_spec("model2vec") is None:
        print("left out: model2vec is not installed")
        return
    from model2vec import StaticModel

    path, store = Path(encoder), CorpusStore(Path(corpus))
    reader = BagReader(path, read_description(path))
    known, table = reader._tokenize, reader._citation._vectors.all
    theirs = StaticModel(vectors=table, tokenizer=known.tokenizer, normalize=True)

    def ours(sentences: list[str], per_item: np.ndarray, anew: bool) -> np.ndarray:
        reader._tokenize = TextTokenizer(known.tokenizer, known._most) if anew else known
        roles = np.zeros(len(sentences), dtype=np.int64)
        read = SampledSentences(np.arange(len(sentences)), per_item, roles)
        return reader.embed_papers(sentences, read)

    single = store.sentence_texts(np.arange(0, len(store.sentences), STEP)[:SENTENCES])
    counts = store.num_abstract[:PAPERS]
    own = store.sentence_texts(ranges(store.sentence_offsets[: len(counts)], counts))
    whole = [" ".join(own[a:b]) for a, b in pairwise(offsets_of(counts))]
    ones = np.ones(len(single), dtype=np.int64)
    for texts, read, unit in (
        (single, (single, ones), "sentences"),
        (whole, (own, counts), "papers"),
    ):
        costs = contest(
            {
                "known": lambda read=read: ours(*read, anew=False),
                "new": lambda read=read: ours(*read, anew=True),
                "theirs": lambda texts=texts: theirs.encode(texts, use_multiprocessing=False),
            }
        )
        what = f"embed, token bag, {len(texts):,} {unit}, {table.shape[1]} dimensions"
        for kind in ("known", "new"):
            pair, about = (costs[kind], costs["theirs"]), f"{what}, words {kind}"
            print_processor_rates(about, "model2vec", ">= 1", *pair, len(texts), f"{unit}/s")
            about = f"{about}, {os.cpu_count()} cores"
            print_rates(about, "model2vec", ">= 1.8", *pair, len(texts), f"{unit}/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
