"""``mpbert binarize`` beside the library ``tokenizers`` alone, on the same sentences.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_binarize.py [CORPUS] [tokens]``; without
arguments runs/corpus/rfc with 8,000 tokens of the vocabulary, and runs/corpus/acl, where it is
there, with 30,000 and in a single round: half an hour. Ours is the whole command: it reads the
corpus, counts letters, learns, cuts sentences and writes all arrays. The library learns the same
kind of tokenizer from the same sentences, which it holds in memory, and encodes all; it writes
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

CHUNK, MOST_LEARNT = 50_000, 1_000_000
RFC, ACL = ("runs/corpus/rfc", "8000", 3), ("runs/corpus/acl", "30000", 1)


def sentences(store: CorpusStore) -> tuple[list[str], list[str]]:
    """Return all titles and sentences, and those to learn from, which ours chooses alike."""
    rows = np.arange(len(store.sentences))
    is_training = store.paper_splits == "train"
    learnt = rows[np.repeat(is_training, np.diff(store.sentence_offsets))]
    if len(learnt) > MOST_LEARNT:
        learnt = learnt[np.linspace(0, len(learnt) - 1, MOST_LEARNT).astype(np.int64)]
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


def main(*given: str) -> None:
    """Measure the corpus that is given, or those that are there."""
    if given:
        corpus, size = (*given, RFC[1])[:2]
        measure(corpus, size, RFC[2])
        return
    measure(*RFC)
    if Path(ACL[0]).exists():
        measure(*ACL)


def measure(corpus: str, size: str, rounds: int) -> None:
    """Let both take turns, and print the row of their medians."""
    everything, training = sentences(CorpusStore(Path(corpus)))
    ours, theirs, peaks = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            output, flags = Path(folder) / "binary", [f"--vocab-size={size}"]
            flags.append(f"--tokenizer-sentences={MOST_LEARNT}")
            seconds, peak = run_command("binarize", corpus, output, *flags)
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
