"""Cost at 1, 2, 4 and 8 times the text: building, binarizing, counting and embedding ACL papers.

Run: ``RAW_ACL=papers.jsonl.xz PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_scaling.py
[runs/binarized/acl] [papers]`` (about 10 minutes). Once is the most cited 1,000; twice has them
again under new ids, and so on. Commands run as a user runs them, each in a process of its own;
memory is that of its largest process. Counting takes the citations of all ACL contexts, repeated.
At the end: what a corpus of the size of S2ORC would take at the rates of the largest size, on
this machine.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from contest import contest, print_row, raw_acl, run_command
from repeated import acl_records, repeat_acl

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.cocitation import cocitation_counts
from mpbert.model.config import Configuration, ModelConfig
from mpbert.model.description import EncoderDescription
from mpbert.model.directory import save_encoder
from mpbert.model.encoder import TwoTower

TIMES = (1, 2, 4, 8)
S2ORC = {"10 M full texts": 10_000_000 * 6_000, "200 M abstracts": 200_000_000 * 200}  # tokens
Sizes = dict[int, tuple[float, float]]
"""Times the text -> seconds and peak MiB."""


def main(binary: str = "runs/binarized/acl", num_papers: str = "1000") -> None:
    raw = raw_acl()
    costs: dict[str, Sizes] = {"build-corpus": {}, "binarize": {}, "embed": {}}
    tokens = {}
    records = _most_cited(raw, int(num_papers))
    with tempfile.TemporaryDirectory() as folder:
        for times in TIMES:
            place = Path(folder) / str(times)
            place.mkdir()
            repeat_acl(records, times, place / "papers.jsonl")
            build = ("build-corpus", place / "papers.jsonl", place / "corpus", "--reader=acl")
            build = (*build, "--split=random")
            costs["build-corpus"][times] = run_command(*build)
            binarize = ("binarize", place / "corpus", place / "binary", "--vocab-size=8000")
            costs["binarize"][times] = run_command(*binarize, "--tokenizer-sentences=20000")
            _write_encoder(place / "binary", place / "encoder")
            embed = ("embed", place / "binary", place / "encoder", place / "vectors", "--bf16")
            costs["embed"][times] = run_command(*embed, "--readings=1")
            tokens[times] = int(BinaryCorpus(place / "binary").token_offsets[-1])
    for what, sizes in costs.items():
        _print(what, sizes, {t: tokens[t] / sizes[t][0] for t in TIMES}, "tokens/s")
    _count(BinaryCorpus(Path(binary)))
    hours = {
        size: sum(number / (tokens[8] / sizes[8][0]) for sizes in costs.values()) / 3600
        for size, number in S2ORC.items()
    }
    for size, number in S2ORC.items():
        each = ", ".join(
            f"{what} {number / (tokens[8] / sizes[8][0]) / 3600:,.0f} h"
            for what, sizes in costs.items()
        )
        cells = f"{number / 1e9:,.0f} G tokens", f"{hours[size]:,.0f} h in all"
        print_row(f"S2ORC, {size}", "at the rates of 8 times", "-", each, *cells, "-")


def _most_cited(raw: Path, num_papers: int) -> list[str]:
    """Return records of the most cited papers, which cite each other."""
    cited = Counter(
        paper for record in acl_records(raw) for paper in json.loads(record)["references"]
    )
    chosen = {paper for paper, _ in cited.most_common(num_papers)}
    return [record for record in acl_records(raw) if json.loads(record)["info"]["id"] in chosen]


def _write_encoder(binary: Path, output: Path) -> None:
    """Write an encoder of configuration ``tiny`` with random weights: speed is the same."""
    torch.manual_seed(1)
    config = ModelConfig(BinaryCorpus(binary).vocab_size, 128, 512, 4, 2, 1, 0, 0.0, 0.0, 0.0)
    output.mkdir()
    description = EncoderDescription("two-tower", Configuration(config))
    state, tokenizer = TwoTower(config).state_dict(), binary / "tokenizer.json"
    save_encoder(output, description, state, tokenizer)


def _count(corpus: BinaryCorpus) -> None:
    contexts = corpus.contexts("train")
    offsets, rows = contexts.cited_offsets, contexts.cited_rows
    sizes, rates = {}, {}
    for times in TIMES:
        many = np.concatenate([[0], np.cumsum(np.tile(np.diff(offsets), times))])
        cited = np.concatenate([rows + copy * corpus.num_papers for copy in range(times)])
        papers = times * corpus.num_papers
        cost = contest({"ours": lambda: cocitation_counts(many, cited, papers)}, 3)["ours"]  # noqa: B023
        sizes[times] = cost.seconds, cost.peak_mib
        rates[times] = len(cited) / cost.seconds
    _print("co-citation counts", sizes, rates, "citations/s")


def _print(what: str, sizes: Sizes, rates: dict[int, float], unit: str) -> None:
    seconds = " / ".join(f"{sizes[t][0]:.3g}" for t in TIMES)
    print_row(
        f"{what}, 1 / 2 / 4 / 8 times the text: rate at 8 beside 1",
        "itself, once",
        "1",
        rates[8] / rates[1],
        " / ".join(f"{rates[t]:,.0f}" for t in TIMES) + f" {unit}",
        f"{seconds} s",
        " / ".join(f"{sizes[t][1]:,.0f}" for t in TIMES),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
