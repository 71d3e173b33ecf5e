"""PDF files to TEI by a service of GROBID that runs elsewhere: its interface is plain HTTP."""

import logging
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from mpbert.corpus.formats.pdf.lines import MOST_BYTES
from mpbert.corpus.raw.files import LARGEST, read_whole
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.progress import progress

logger = logging.getLogger(__name__)
_AT_ONCE = 4  # files; GROBID takes 10 as it is set up
_SECONDS = 300.0  # that one file may take
_TRIES, _PAUSE = 6, 5.0  # while it is busy, seconds between two
_BUSY = 503
_FIELDS = {"consolidateHeader": "0", "consolidateCitations": "0", "segmentSentences": "1"}


class Grobid:
    """A service of GROBID.

    :param url: such as ``http://localhost:8070``.
    :param pause: seconds between two tries while it is busy.
    :raises ConfigError: it is no address of HTTP, or nothing answers there.
    """

    def __init__(self, url: str, pause: float = _PAUSE) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise ConfigError(f"--grobid {url}: expected an address such as http://localhost:8070")
        self._url, self._pause = url.rstrip("/"), pause
        try:
            with urllib.request.urlopen(f"{self._url}/api/isalive", timeout=10) as answer:
                answer.read(100)
        except (OSError, HTTPException) as error:
            raise ConfigError(
                f"--grobid {url}: no service answers there ({_reason(error)}); start one: docker "
                f"run --rm --init -p 8070:8070 grobid/grobid:0.9.1-crf"
            ) from error

    def write_tei(self, files: Sequence[Path], folder: Path) -> list[Path | None]:
        """Write the TEI of each PDF file into a folder.

        :returns: the files written; None for each that the service could not read.
        """
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            steps = pool.map(self._try, files)
            found = list(progress(steps, "ask GROBID", "file", total=len(files)))
        written: list[Path | None] = []
        for number, tei in enumerate(found):
            if tei is not None:
                (folder / f"{number}.tei.xml").write_bytes(tei)
            written.append(None if tei is None else folder / f"{number}.tei.xml")
        return written

    def _try(self, file: Path) -> bytes | None:
        """Return the TEI of a file; None, and a line in the log, where there is none."""
        try:
            return self.tei_of(file)
        except CorpusError as error:
            logger.warning("read without GROBID: %s", error)
            return None

    def tei_of(self, file: Path) -> bytes:
        """Return the TEI of a PDF file.

        :raises CorpusError: the service cannot read it, or does not answer.
        """
        boundary = uuid.uuid4().hex
        request = urllib.request.Request(
            f"{self._url}/api/processFulltextDocument",
            data=_form(read_whole(file, MOST_BYTES), boundary),
            headers={
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Accept": "application/xml",
            },
        )
        for attempt in range(_TRIES):
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                    tei = answer.read(LARGEST + 1)
            except urllib.error.HTTPError as error:
                if error.code == _BUSY and attempt < _TRIES - 1:
                    time.sleep(self._pause)
                    continue
                raise CorpusError(f"{file}: GROBID answered {_reason(error)}") from error
            except (OSError, HTTPException) as error:
                raise CorpusError(f"{file}: GROBID did not answer ({_reason(error)})") from error
            if not tei or len(tei) > LARGEST:
                raise CorpusError(f"{file}: GROBID answered with {len(tei):,} bytes; expected TEI")
            return tei
        raise AssertionError("the last try returns or raises")


def _form(data: bytes, boundary: str) -> bytes:
    """Return a form of the fields and one file, as browsers send it."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in _FIELDS.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="input"; filename="paper.pdf"\r\n'
        f"Content-Type: application/pdf\r\n\r\n"
    )
    return "".join([*parts, head]).encode() + data + f"\r\n--{boundary}--\r\n".encode()


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())[:200]
