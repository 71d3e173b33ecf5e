"""The address for a manuscript as a PDF file; a process of its own reads each file."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

from mpbert.foundation.errors import MpbertError
from mpbert.foundation.extras import check_installed, missing_package
from mpbert.serving.description import problems
from mpbert.serving.limits import Limits
from mpbert.serving.paths import PDF

_KIND = "application/pdf"
_READER = "mpbert.corpus.formats.pdf.manuscript"
# numpy's libraries take addresses for each thread, of which the process has few
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_SIGN, _SIGN_WITHIN = b"%PDF", 1024  # bytes
_BODY = {
    "requestBody": {
        "required": True,
        "content": {_KIND: {"schema": {"type": "string", "format": "binary"}}},
    }
}


class PdfText(BaseModel):
    """What a PDF file holds, for a writer."""

    title: str
    abstract: str
    text: str = Field(description="without the list of references, [CITATION] at each citation")
    places: int = Field(description="how many [CITATION] there are")


def add_uploads(app: FastAPI, limits: Limits) -> None:
    """Add the address.

    :param limits: its ``seconds`` are those of the process that reads a file, too.
    """
    one_at_a_time = ThreadPoolExecutor(1)

    @app.post(PDF, responses=problems(415), openapi_extra=_BODY)
    async def read_pdf(request: Request) -> PdfText:
        """Return the text of a PDF file, with a mark at each citation.

        Send the file as it is, with content-type: application/pdf. A file that is broken, encrypted
        or a scan without text is refused in one line.
        """
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
            raise HTTPException(415, f"the body is not said to be PDF; send content-type: {_KIND}")
        data, loop = await request.body(), asyncio.get_running_loop()
        return PdfText(**await loop.run_in_executor(one_at_a_time, _read, data, limits.seconds))


def _read(data: bytes, seconds: float) -> dict[str, Any]:
    """Return what the process says of a file.

    :raises MpbertError: the file cannot be read, or a package is missing.
    """
    try:
        check_installed("pypdfium2")
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from error
    if _SIGN not in data[:_SIGN_WITHIN]:  # PDFium would say the same, a process later
        raise MpbertError("found no %PDF at its beginning; expected a PDF file")
    with tempfile.TemporaryDirectory(prefix="mpbert-") as folder:
        file = Path(folder, "paper.pdf")
        file.write_bytes(data)
        command = [sys.executable, "-m", _READER, str(file)]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=seconds, env=os.environ | _ONE_THREAD
            )
        except subprocess.TimeoutExpired as error:
            raise MpbertError(f"the file is not read after {seconds:g} s; send a part") from error
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise MpbertError("the reader of PDF files failed on it; send the text") from error
    if "error" in found:
        raise MpbertError(found["error"])
    return found
