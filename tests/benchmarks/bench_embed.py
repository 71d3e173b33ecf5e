"""Vectors of papers: our citation encoder beside sentence-transformers with as large a BERT.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_embed.py [runs/binarized/acl]``. Both
read the same sentences, at most 40 a paper, of the ACL papers, from token ids to vectors, with
random weights of configuration ``small``: four layers over tokens; ours has two more over
sentences. Sentence-transformers, as it comes, runs in float32 and sorts texts by length.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from contest import contest, print_rates

from mpbert.corpus.binary import BinaryCorpus
from mpbert.model.config import ModelConfig, ReadingConfig
from mpbert.model.embedding import embed_sampled
from mpbert.model.encoder import PaperEncoder
from mpbert.model.reading import Reading
from mpbert.model.sentences import Sentences

PAPERS, BATCH_TOKENS, ROUNDS = 64, 16384, 3


def main() -> None:
    torch.manual_seed(1)
    corpus = BinaryCorpus(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/binarized/acl"))
    rows = np.flatnonzero(np.diff(corpus.sentence_offsets) >= 40)[:PAPERS]
    offsets = corpus.sentence_offsets
    sizes = np.diff(offsets)[rows]
    reading = Reading(ReadingConfig(30, 10, 30), 1)
    read = reading.papers(offsets[rows], corpus.num_abstract[rows], sizes, rows, 0)
    config = ModelConfig(corpus.vocab_size, 256, 1024, 4, 4, 2, 0, 0.1, 0.0, 0.0)
    tower = PaperEncoder(config).eval()
    tokens, lengths = corpus.gather(read.sentences)
    texts = [" ".join(map(str, sentence)) for sentence in np.split(tokens, np.cumsum(lengths)[:-1])]
    with tempfile.TemporaryDirectory() as folder:
        theirs = _sentence_transformer(corpus.vocab_size, Path(folder))

    def ours() -> np.ndarray:
        return embed_sampled(
            tower, read, Sentences(corpus.gather), BATCH_TOKENS, autocast_bf16=True
        )

    costs = contest({"ours": ours, "theirs": lambda: theirs.encode(texts)}, ROUNDS)
    what = f"embed, {len(read.sentences) / len(rows):.0f} sentences a paper, `small`"
    peer = "sentence-transformers, float32"
    print_rates(what, peer, ">= 2", costs["ours"], costs["theirs"], len(rows), "papers/s")


def _sentence_transformer(vocab_size: int, folder: Path) -> object:
    """Return a model of sentence-transformers that reads token ids, written as numbers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = {str(number): number for number in range(vocab_size)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="0", unk_token="0", cls_token="1", sep_token="2"
    )
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
    )
    BertModel(config).save_pretrained(folder)
    words = modules.Transformer(str(folder), max_seq_length=512)
    return SentenceTransformer(modules=[words, modules.Pooling(256)], device="cpu")


if __name__ == "__main__":
    main()
