"""The program ``mpbert``, also ``python -m mpbert COMMAND``."""

import gc

gc.set_threshold(100_000)  # what a start makes stays: to look through it takes a tenth of an answer

from mpbert.cli import main  # noqa: E402 - its imports, too


def program() -> int:
    """Run a command and return its exit code; what is left is not looked through at the end."""
    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(program())
