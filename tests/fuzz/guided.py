"""Fuzzing guided by coverage: spoiled files that reach new code are spoiled further.

usage: python tests/fuzz/guided.py NAME [--inputs N] [--keep FOLDER]

NAME is a file of ``test_parsers.py`` or a fixture of ``test_readers.py``; of a reader of several
files each is spoiled in turn. Needs atheris, which is for Linux on x86-64. It ends with ``Done``,
or with a traceback and the name of a file, written here, that holds the input.
"""

import argparse
import logging
import random
import resource
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

    from mpbert.foundation.errors import MpbertError

Act = Callable[[str, bytes], None]
_MOST_MIB = 2048  # that parsing may take


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
        act, good = (_parser if chosen.name in FILES else _reader)(chosen.name, folder)
        files = list(good)

        def parts(data: bytes) -> tuple[str, bytes]:
            """Return which file an input stands for, by its first byte, and what is in it."""
            return files[data[0] % len(files)] if data else files[0], data[1:]

        for place, file in enumerate(files):
            (kept / f"seed-{place}").write_bytes(bytes([place]) + good[file])
            with _instrumented():  # some modules are imported where they are needed
                act(file, good[file])

        def ends_well(data: bytes) -> None:
            try:
                act(*parts(data))
            except MpbertError as error:
                assert str(error).strip() and len(str(error).splitlines()) == 1, error
            except SystemExit as end:  # argparse has printed its line
                assert end.code == 2

        def spoiled(data: bytes, longest: int, seed: int) -> bytes:
            file, content = parts(data)
            content = mutate(content, random.Random(seed), file)
            return ((data[:1] or b"\0") + content)[:longest]

        limit = f"-rss_limit_mb={_peak_mib() + _MOST_MIB}"
        flags = [f"-runs={chosen.inputs}", "-max_len=20000", "-timeout=20", limit]
        atheris.Setup([sys.argv[0], *flags, str(kept)], ends_well, custom_mutator=spoiled)
        atheris.Fuzz()


def _peak_mib() -> int:
    """Return the peak of memory so far; on Linux it begins with that of the process before exec."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _parser(name: str, folder: Path) -> tuple[Act, dict[str, bytes]]:
    """Return what is done with a file, by its name, and good files."""
    content, read = FILES[name]
    (folder / "part.tex").write_text("A part \\cite{b}.")

    def act(file: str, data: bytes) -> None:
        (folder / file).write_bytes(data)
        read(folder / file)

    return act, {name: content.encode() if isinstance(content, str) else content}


def _reader(name: str, folder: Path) -> tuple[Act, dict[str, bytes]]:
    """Return the same for a corpus, in which one file is replaced."""
    good, (reader, _) = files_of(name), READER_OF[name]
    (folder / "in").mkdir()

    def act(file: str, data: bytes) -> None:
        source = write_corpus(name, {**good, file: data}, folder / "in")
        build(reader, source, folder, to_tables=False)

    return act, good


if __name__ == "__main__":
    main()
