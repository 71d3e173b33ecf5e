"""Fuzzing guided by coverage: spoiled files that reach new code are spoiled further.

usage: python tests/fuzz/guided.py NAME [--inputs N] [--keep FOLDER]

NAME is a file of ``test_parsers.py`` or a fixture of ``test_readers.py``; of a reader of several
files each is spoiled in turn. Needs ``pip install atheris``. It ends with ``Done``, or with a
traceback and the name of a file, written here, that holds the input.
"""

import argparse
import logging
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]


def _instrumented() -> AbstractContextManager[None]:
    return atheris.instrument_imports(include=["mpbert", "pylatexenc", "markdown_it"])


with _instrumented():
    from mutations import mutate
    from test_parsers import FILES
    from test_readers import READER_OF, build, files_of, write_corpus

    from mpbert.errors import MpbertError

Act = Callable[[bytes], None]


def main() -> None:
    """Fuzz one parser or reader."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=sorted([*FILES, *READER_OF]), metavar="NAME")
    parser.add_argument("--inputs", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--keep", type=Path, help="folder of the inputs that reached new code")
    chosen = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = chosen.keep or folder / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        act, seeds, file = (_parser if chosen.name in FILES else _reader)(chosen.name, folder)
        for place, seed in enumerate(seeds):
            (kept / f"seed-{place}").write_bytes(seed)
            with _instrumented():  # some modules are imported where they are needed
                act(seed)

        def ends_well(data: bytes) -> None:
            try:
                act(data)
            except MpbertError as error:
                assert str(error).strip() and len(str(error).splitlines()) == 1, error
            except SystemExit as end:  # argparse has printed its line
                assert end.code == 2

        def spoiled(data: bytes, longest: int, seed: int) -> bytes:
            return mutate(data, random.Random(seed), file)[:longest]

        flags = [f"-runs={chosen.inputs}", "-max_len=20000", "-timeout=20", "-rss_limit_mb=2048"]
        atheris.Setup([sys.argv[0], *flags, str(kept)], ends_well, custom_mutator=spoiled)
        atheris.Fuzz()


def _parser(name: str, folder: Path) -> tuple[Act, list[bytes], str]:
    """Return what is done with an input, good inputs, and the name that tells their format."""
    content, read = FILES[name]
    (folder / "part.tex").write_text("A part \\cite{b}.")

    def act(data: bytes) -> None:
        (folder / name).write_bytes(data)
        read(folder / name)

    return act, [content.encode() if isinstance(content, str) else content], name


def _reader(name: str, folder: Path) -> tuple[Act, list[bytes], str]:
    """As above; the first byte of an input says which file of the corpus it replaces."""
    good, (reader, _) = files_of(name), READER_OF[name]
    files = list(good)
    (folder / "in").mkdir()

    def act(data: bytes) -> None:
        file = files[data[0] % len(files)] if data else files[0]
        source = write_corpus(name, {**good, file: data[1:]}, folder / "in")
        build(reader, source, folder, to_tables=False)

    return act, [bytes([place]) + good[file] for place, file in enumerate(files)], files[0]


if __name__ == "__main__":
    main()
