"""Fine-tuning of the token bag by one process and by two that share each batch.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_processes.py [runs/binarized/rfc]
[updates]``. Each process has one thread. Seconds are those of the processor, of all processes; what
a training of one update takes is told apart, and is no part of them. The peak is that of the
largest process. The losses of the last validation differ by rounding alone, since
dropout is left out.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from contest import ended_cpu_seconds, print_row, run_command

CONFIGURATION, COUNTS = "finetune/configs/token_bag.yaml", (1, 2)


def main(binary: str = "runs/binarized/rfc", updates: str = "40") -> None:
    """Print a row."""
    os.environ["OMP_NUM_THREADS"] = "1"
    cpu, shown, peaks = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            start, *_ = train(binary, "1", Path(folder) / f"start-{count}", count)
            whole, peak, loss = train(binary, updates, Path(folder) / str(count), count)
            cpu.append(whole - start)
            shown.append(f"{cpu[-1]:.3g} s of CPU, {start:.3g} s to start, loss {loss:.4f}")
            peaks.append(f"{peak:,.0f}")
    print_row(
        f"finetune, token bag, {updates} updates of {Path(binary).name}, processes: 2",
        *("one process, same batches", "loss within 0.001", cpu[0] / cpu[1]),
        *(*reversed(shown), " / ".join(reversed(peaks))),
    )


def train(binary: str, updates: str, output: Path, count: int) -> tuple[float, float, float]:
    """Return processor seconds, MiB of the largest process, and the loss of the last validation."""
    before = ended_cpu_seconds()
    settings = ("dropout=0", f"max_update={updates}")
    words = ("finetune", binary, CONFIGURATION, output, f"--processes={count}")
    _, peak = run_command(*words, "--settings", *settings)
    log = output.with_name(f"{output.name}.training") / "train.log"
    lines = re.findall(r"\| valid \| (\{.*\})", log.read_text(encoding="utf-8"))
    return ended_cpu_seconds() - before, peak, float(json.loads(lines[-1])["valid_loss"])


if __name__ == "__main__":
    main(*sys.argv[1:])
