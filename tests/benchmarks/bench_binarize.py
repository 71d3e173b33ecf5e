"""``mpbert binarize`` beside the library ``tokenizers`` alone, on the same sentences.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_binarize.py [CORPUS] [tokens]``; the
defaults are runs/corpus/rfc and 8,000 tokens of the vocabulary. Ours is the whole command: it reads
the corpus, counts letters, learns, cuts sentences and writes all arrays. The library learns the
same kind of tokenizer from the same sentences, which it holds in memory, and encodes all; it writes
nothing. Both use all cores; times are of the clock.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from contest import forget_peak, print_row, run_command
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from mpbert.corpus.store import CorpusStore

ROUNDS, CHUNK = 3, 50_000


def sentences(store: CorpusStore) -> tuple[list[str], list[str]]:
    """Return all titles and sentences, and those of the training split."""
    rows = np.arange(len(store.sentences))
    is_training = store.paper_splits == "train"
    learnt = rows[np.repeat(is_training, np.diff(store.sentence_offsets))]
    titles = np.array(store.titles, dtype=object)
    everything = [*titles, *store.sentence_texts(rows)]
    return everything, [*titles[is_training], *store.sentence_texts(learnt)]


def tokenizers_alone(everything: list[str], training: list[str], size: int) -> int:
    """Learn and encode; return the number of tokens."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Metaspace("▁", "always")]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<unk>"], min_frequency=2, show_progress=False
    )
    tokenizer.train_from_iterator(training, trainer)
    parts = range(0, len(everything), CHUNK)
    encoded = (tokenizer.encode_batch_fast(everything[start : start + CHUNK]) for start in parts)
    return sum(len(one.ids) for part in encoded for one in part)


def main(corpus: str = "runs/corpus/rfc", size: str = "8000") -> None:
    """Let both take turns, and print the row of their medians."""
    everything, training = sentences(CorpusStore(Path(corpus)))
    ours, theirs, peaks = [], [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "binary"
            seconds, peak = run_command("binarize", corpus, output, f"--vocab-size={size}")
        ours.append(seconds)
        peaks.append(peak)
        forget_peak()
        start = time.perf_counter()
        tokens = tokenizers_alone(everything, training, int(size))
        theirs.append(time.perf_counter() - start)
    print(f"{len(everything):,} sentences, {tokens:,} tokens")
    mine, peer = float(np.median(ours)), float(np.median(theirs))
    print_row(
        f"binarize, {Path(corpus).name}, {len(everything):,} sentences",
        "tokenizers alone, sentences in memory",
        ">= 0.83",
        peer / mine,
        f"{mine:.3g} s",
        f"{peer:.3g} s",
        f"{max(peaks):,.0f} / -",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
