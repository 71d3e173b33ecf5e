"""Fuzzing guided by coverage: spoiled files that reach new code are spoiled further.

usage: python tests/fuzz/guided.py NAME [NAME ...] [--inputs N] [--keep FOLDER]

NAME is a file of ``test_parsers.py`` or a fixture of ``test_readers.py``; of a reader of several
files each is spoiled in turn. Needs atheris, which is for Linux on x86-64. It ends with ``Done``,
or with a traceback and the name of a file, written here, that holds the input. Several names are
fuzzed one after another, each in a process of its own that writes NAME.log here; then the exit code
of each is printed.
"""

import argparse
import logging
import os
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
    """Fuzz parsers or readers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", choices=sorted([*FILES, *READER_OF]), metavar="NAME")
    parser.add_argument("--inputs", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--keep", type=Path, help="folder of the inputs that reached new code")
    chosen = parser.parse_args()
    logging.disable()
    if len(chosen.names) == 1:
        _fuzz(chosen.names[0], chosen.inputs, chosen.keep)
        return
    if chosen.keep:
        parser.error("--keep is for one NAME")
    for name in chosen.names:  # atheris ends the process when it is done
        if (child := os.fork()) == 0:
            os.dup2(os.open(f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
            _fuzz(name, chosen.inputs, None)
            os._exit(0)
        print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _fuzz(chosen: str, inputs: int, keep: Path | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = keep or folder / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        act, good = (_parser if chosen in FILES else _reader)(chosen, folder)
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
        flags = [f"-runs={inputs}", "-max_len=20000", "-timeout=20", limit]
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
