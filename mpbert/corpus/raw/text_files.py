"""Text files as people have them: in UTF-8, in UTF-16, or in the letters of Windows."""

import codecs
import logging
from functools import lru_cache
from pathlib import Path

from mpbert.corpus.raw.files import open_file, too_large
from mpbert.foundation.errors import CorpusError

logger = logging.getLogger(__name__)
_MOST_BYTES = 1 << 28  # of a file: 100,000 papers with abstracts
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # how a file of it begins


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked; bytes that are no UTF-8 are read as Windows-1252.

    :raises CorpusError: it is unreadable or too large, or says that it is UTF-16 and is not.
    """
    with open_file(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise too_large(path, "file", _MOST_BYTES)
    if data.startswith(UTF_16):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{path}: found broken UTF-16; expected a file in UTF-8: export the library so"
            ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _tell_of_bytes(path, data.count(b"\n", 0, error.start) + 1)
        return data.decode("utf-8-sig", errors="windows-1252")


@lru_cache(maxsize=1024)  # a library is read in two steps, and again when it changes
def _tell_of_bytes(path: Path, line: int) -> None:
    logger.warning(
        "%s:%s: found bytes that are no UTF-8, read as Windows-1252; expected a file in UTF-8: if "
        "letters are wrong, export the library so",
        path,
        line,
    )


def _windows(error: UnicodeError) -> tuple[str, int]:
    """Return what bytes are in Windows-1252, in a text that is UTF-8 elsewhere."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("windows-1252", _windows)
