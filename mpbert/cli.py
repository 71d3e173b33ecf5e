"""The command line: a command per module of ``mpbert.commands``; only the chosen is imported."""

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from mpbert.foundation.command_help import BEGIN, COMMANDS
from mpbert.foundation.config import parse_config
from mpbert.foundation.errors import (
    ConfigError,
    FindingsError,
    MpbertError,
    OutputError,
    RowsFailedError,
    StoppedError,
    Terminated,
    closest,
    full_memory,
    printable,
)
from mpbert.foundation.extras import missing_package
from mpbert.foundation.logs import is_json, take_style, written
from mpbert.foundation.objects import local_copies
from mpbert.foundation.processes import ended_by_sigterm

logger = logging.getLogger(__name__)
_CODES: dict[type[MpbertError], int] = {FindingsError: 3, RowsFailedError: 3, StoppedError: 143}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code, one of ``command_help.EXIT_CODES``."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        style, words = take_style(words)
    except ConfigError as error:
        print(f"mpbert: {error}", file=sys.stderr)
        return 2
    command, *words = words or ["--help"]
    with written(style, command):
        return _run(command, words)


def _run(command: str, words: list[str]) -> int:
    place = f"mpbert {command}" if command in COMMANDS else "mpbert"
    try:
        with ended_by_sigterm("stopped; what is finished stays"), _checked_output():
            _act(command, words)
    except MpbertError as error:
        return _failed(place, str(error), type(error).__name__, _CODES.get(type(error), 2))
    except _ReaderGoneError:
        return 141  # as a shell says of cat; the 1 of click and pip would be an error to report
    except KeyboardInterrupt as error:  # its text: of a command that has ended in its own way
        message = str(error) or "interrupted; what is finished stays"
        code = _CODES[StoppedError] if isinstance(error, Terminated) else 130
        return _failed(place, message, type(error).__name__, code)
    except Exception as error:
        if told := missing_package(error) or full_memory(error):
            return _failed(place, str(told), type(told).__name__, 2)
        if not is_json():
            raise
        return _failed(place, str(error), type(error).__name__, 1, traceback=True)
    return 0


def _act(command: str, words: list[str]) -> None:
    if command in ("-h", "--help"):
        print(_overview())
    elif command == "--version":
        import mpbert

        print(mpbert.__version__)
    elif command in COMMANDS:
        module = importlib.import_module("mpbert.commands." + command.replace("-", "_"))
        with local_copies(parse_config(module.Config, command, words)) as config:
            module.run(config)
    else:
        hint = closest(command, COMMANDS) or "; see mpbert --help"
        raise ConfigError(f"unknown command {command!r}{hint}")


class _ReaderGoneError(Exception):
    """Nobody reads standard output any more, such as head, which has its lines."""


class _Output:
    """Standard output whose failures are told from those of files.

    :raises _ReaderGoneError: nobody reads it any more.
    :raises OutputError: it cannot be written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        return self._tried(self._stream.write, text)

    def flush(self) -> None:
        self._tried(self._stream.flush)

    def _tried(self, act: Callable[..., Any], *values: str) -> Any:
        try:
            return act(*values)
        except OSError as error:
            # what is left fails again, and the interpreter would write it once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise _ReaderGoneError from error
            raise OutputError(
                f"standard output: cannot be written ({error.strerror}); write it elsewhere"
            ) from error


@contextmanager
def _checked_output() -> Iterator[None]:
    """Write standard output to its end while it can still be said that this fails."""
    if sys.stdout is None:  # it was closed before we began, and print writes nothing
        yield
        return
    with redirect_stdout(_Output(sys.stdout)):
        try:
            yield
        finally:
            sys.stdout.flush()


def _failed(place: str, message: str, kind: str, code: int, traceback: bool = False) -> int:
    """Write the last line, for a reader or for a program, and return the exit code."""
    message = printable(message)
    if is_json():
        fields = {"error": kind, "exit_code": code}
        logger.error("%s", message, extra={"fields": fields}, exc_info=traceback)
    else:
        print(f"{place}: {message}", file=sys.stderr)
    return code


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            "usage: mpbert COMMAND INPUT... OUTPUT [--flags]     (or: python -m mpbert ...)",
            "",
            "Citation recommendation with MP-BERT4CR: manuscript and citation vectors.",
            f"Begin with: {BEGIN}",
            "",
            "commands, in the order of work:",
            *lines,
            "",
            "mpbert COMMAND --help shows the options of one, with defaults and an example.",
            "--log json writes one JSON object a line on standard error, without progress bars.",
        ]
    )
