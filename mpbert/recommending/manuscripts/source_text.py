r"""Bytes of manuscripts to text, in the encoding that ``\usepackage[...]{inputenc}`` names.

A preamble that the manuscript includes may name it, too.

Without it a manuscript is UTF-8, as LaTeX has taken it since 2018.
"""

import codecs
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.foundation.lazy_patterns import lazy_re

logger = logging.getLogger(__name__)

UTF8 = "utf-8"
# what inputenc calls an encoding -> what Python calls it
INPUTENC = {
    **{f"latin{number}": f"iso8859-{number}" for number in (1, 2, 3, 4)},
    **{"latin5": "iso8859-9", "latin9": "iso8859-15", "latin10": "iso8859-16"},
    **{name: name for name in ("cp437", "cp850", "cp852", "cp858", "cp865", "cp866")},
    **{name: name for name in ("cp1250", "cp1251", "cp1252", "cp1257", "ascii")},
    **{"ansinew": "cp1252", "cp437de": "cp437", "applemac": "mac-roman"},
    **{"koi8-r": "koi8-r", "koi8-ru": "koi8-u", "utf8": UTF8, "utf8x": UTF8},
}
_INPUT = lazy_re(rb"^[^%\n]{0,2000}?\\(?:input|include)\s*\{?([^\s{}%\\]{1,200})", re.M)
_INPUTENC = lazy_re(
    rb"^[^%\n]{0,2000}?\\(?:usepackage|RequirePackage)\s*\[([^\]]{0,200})\]\s*\{inputenc\}", re.M
)


@dataclass(frozen=True)
class SourceText:
    """A file as it was read: ``text`` has one character where the file has one.

    :param encoding: as Python names it.
    :param has_bom: whether the bytes begin with the mark of UTF-8, which ``text`` lacks.
    :param member: of the archive that the file is, whose text this is; empty if it is none.
    """

    path: Path
    text: str = field(repr=False)
    encoding: str = UTF8
    has_bom: bool = False
    member: str = ""

    def byte_at(self, position: int) -> int:
        """Return the place in the file's bytes of a character."""
        before = self.text[:position].encode(self.encoding)
        return len(before) + len(codecs.BOM_UTF8) * self.has_bom


def read_source(path: Path, encoding: str | None = None) -> SourceText:
    """Return the text of a file.

    :param encoding: that of the file which includes it; None: the file names it, or it is UTF-8.
    :raises ManuscriptError: it cannot be read, or its bytes are not of the encoding.
    """
    try:
        data = path.read_bytes()
        preamble = b"" if encoding else _included_preamble(path, data)
    except OSError as error:
        what = "a manuscript" if error.filename == str(path) else f"a preamble of {path}"
        raise ManuscriptError(f"{error.filename}: {error.strerror}; expected {what}") from error
    return decoded(path, data, encoding, preamble)


def _included_preamble(path: Path, data: bytes) -> bytes:
    """Return the files that a manuscript includes before its text, one after the other."""
    preamble, has_text, _ = data.partition(rb"\begin{document}")
    if path.suffix.lower() != ".tex" or not has_text:
        return b""
    folder = path.parent.resolve()
    names = [os.fsdecode(name) for name in _INPUT.findall(preamble)]
    files = [Path(os.path.join(folder, name + end)) for name in names for end in ("", ".tex")]
    return b"\n".join(
        file.read_bytes()
        for file in files
        if os.path.isfile(file) and file.resolve().is_relative_to(folder)
    )


def read_included(source: SourceText, names: Sequence[str]) -> SourceText | None:
    r"""Return the file that ``\input`` of a manuscript names; None, with a warning: it has none.

    :param names: that it may have, from the folder of the manuscript.

    :raises ManuscriptError: as :func:`read_source`.
    """
    folder = source.path.parent.resolve()
    name = names[0]
    places = (os.path.join(folder, each + end) for each in names for end in ("", ".tex"))
    found = next(filter(os.path.isfile, places), None)  # of odd names too, unlike Path.is_file
    if found is None or not Path(found).resolve().is_relative_to(folder):
        where = "no such file" if found is None else "a file outside of the folder"
        logger.warning("%s: \\input of %r: found %s; left out", source.path, name, where)
        return None
    return read_source(Path(found), source.encoding)


def read_beside(main: SourceText, source: SourceText, name: str) -> SourceText | None:
    """Return the file that a part of a manuscript names from its own folder.

    :param main: the manuscript, as :func:`read_included` takes it.
    """
    folder = os.path.relpath(source.path.parent.resolve(), main.path.parent.resolve())
    return read_included(main, [os.path.normpath(os.path.join(folder, name))])


def decoded(
    path: Path, data: bytes, encoding: str | None = None, preamble: bytes = b""
) -> SourceText:
    """Return the text of a file's bytes; all else as :func:`read_source`.

    :param preamble: what it includes, which counts where the file itself names no encoding.
    """
    has_bom = data.startswith(codecs.BOM_UTF8)
    name, by = encoding or UTF8, ""
    if has_bom:
        name, data = UTF8, data[len(codecs.BOM_UTF8) :]
    elif path.suffix.lower() == ".tex" and (
        named := _INPUTENC.findall(data) or _INPUTENC.findall(preamble)
    ):
        by = named[-1].decode("latin-1").split(",")[-1].strip()
        name = _codec(path, by)
    try:
        return SourceText(path, data.decode(name), name, has_bom)
    except UnicodeDecodeError as error:
        byte = error.start + len(codecs.BOM_UTF8) * has_bom
        if by and name != UTF8:
            told = f"is no {by}, which inputenc names; name the encoding it has"
        elif name != UTF8:
            told = f"is no {name}, the encoding of the file that includes it; save both in one"
        elif path.suffix.lower() == ".tex":
            told = "is not UTF-8; save the text as UTF-8, or name its encoding with inputenc"
        else:
            told = "is not UTF-8; save the text as UTF-8"
        raise ManuscriptError(f"{path}: byte {byte} {told}") from error


def _codec(path: Path, name: str) -> str:
    if name.lower() not in INPUTENC:
        raise ManuscriptError(
            f"{path}: found the encoding {name!r} of inputenc; expected one of "
            f"{', '.join(sorted(INPUTENC))}; save the text as UTF-8"
        )
    return INPUTENC[name.lower()]
