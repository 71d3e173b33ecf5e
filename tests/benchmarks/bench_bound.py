"""What this machine can do: its rate of matrix products, the bound of all training and search.

Run: ``.venv/bin/python tests/benchmarks/bench_bound.py``. Products as in a transformer, rows of
width W by a matrix of W x 4 W, on all cores, in float32 and bfloat16.
"""

import torch
from contest import contest, print_row

ROWS, WIDTHS, REPEATS = 8192, (256, 768), 4


def main() -> None:
    for width in WIDTHS:
        left, right = torch.randn(ROWS, width), torch.randn(width, 4 * width)
        halves = left.bfloat16(), right.bfloat16()

        def product(a: torch.Tensor, b: torch.Tensor) -> None:
            for _ in range(REPEATS):
                a @ b

        costs = contest(
            {
                "float32": lambda a=left, b=right: product(a, b),
                "bfloat16": lambda a=halves[0], b=halves[1]: product(a, b),
            }
        )
        work = REPEATS * 2 * ROWS * width * 4 * width / 1e9
        single, half = (work / costs[name].seconds for name in ("float32", "bfloat16"))
        what = f"bound: matrix product, width {width}, bfloat16"
        ours, theirs = f"{half:,.0f} GFLOP/s", f"{single:,.0f} GFLOP/s"
        print_row(what, "float32", "-", half / single, ours, theirs, "-")


if __name__ == "__main__":
    main()
