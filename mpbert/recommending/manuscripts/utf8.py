"""Text files of manuscripts."""

from pathlib import Path

from mpbert.foundation.errors import ManuscriptError


def read_utf8(path: Path) -> str:
    """Return the text of a file.

    :raises ManuscriptError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManuscriptError(
            f"{path}: byte {error.start} is not UTF-8; save the text as UTF-8"
        ) from error
    except OSError as error:
        raise ManuscriptError(f"{path}: {error.strerror}; expected a manuscript") from error
