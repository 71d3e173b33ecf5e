"""Peak memory of trainings of the sample: masked sentences, then the paper's objective, ``tiny``.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_memory.py [updates]``; 60 by default,
after which the peak rises no further. It reads runs/binarized/rfc. The peak is that of the largest
process of a command.
"""

import sys
import tempfile
from pathlib import Path

from contest import print_row, run_command

CORPUS, MOST = Path("runs/binarized/rfc"), "<= 1,536 MiB"


def main(updates: str = "60") -> None:
    """Print a row for each training."""
    with tempfile.TemporaryDirectory() as folder:
        started, tuned = Path(folder) / "pretrained", Path(folder) / "tuned"
        for name, command, encoder, flags in (
            ("pretraining", "pretrain", started, []),
            ("fine-tuning", "finetune", tuned, ["--init", started]),
        ):
            seconds, peak = run_command(
                *(command, CORPUS, f"{command}/configs/tiny.yaml", encoder, *flags),
                *("--training", encoder.with_suffix(".training")),
                *("--settings", f"max_update={updates}"),
            )
            what = f"{name}, `tiny`, {updates} updates, 593 papers"
            print_row(what, "-", MOST, "-", f"{seconds:.0f} s", "-", f"{peak:,.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
