"""The address for a manuscript as a file that is no text; a process of its own reads each."""

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
from mpbert.serving.paths import DOCUMENT

_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# content-type -> ending of a name
KINDS = {
    "application/pdf": ".pdf",
    _OFFICE: ".docx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/x-ipynb+json": ".ipynb",
    "application/x-lyx": ".lyx",
    "application/zip": ".zip",
}
_READER = "mpbert.recommending.manuscripts.uploaded"
# numpy's libraries take addresses for each thread, of which the process has few
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_SIGN, _SIGN_WITHIN = b"%PDF", 1024  # bytes
_BODY = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in KINDS},
    }
}


class DocumentText(BaseModel):
    """What a file holds, for a writer."""

    title: str
    abstract: str
    text: str = Field(description="without the list of references; each citation is a mark")
    places: int = Field(description="how many [CITATION] or [@key] there are")


def add_uploads(app: FastAPI, limits: Limits) -> None:
    """Add the address.

    :param limits: its ``seconds`` are those of the process that reads a file, too.
    """
    one_at_a_time = ThreadPoolExecutor(1)

    @app.post(DOCUMENT, responses=problems(415), openapi_extra=_BODY)
    async def read_document(request: Request) -> DocumentText:
        """Return the text of a file, with a mark at each citation.

        Send a PDF file, a document of Word, LibreOffice or LyX, a notebook, or a project of LaTeX
        as a .zip, as it is, with its content-type. What cannot be read is refused in one line.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in KINDS:
            raise HTTPException(
                415,
                f"the body is not said to be one of these; send content-type: {', '.join(KINDS)}",
            )
        data, loop = await request.body(), asyncio.get_running_loop()
        reading = loop.run_in_executor(one_at_a_time, _read, data, KINDS[kind], limits.seconds)
        return DocumentText(**await reading)


def _read(data: bytes, ending: str, seconds: float) -> dict[str, Any]:
    """Return what the process says of a file.

    :raises MpbertError: the file cannot be read, or a package is missing.
    """
    if ending == ".pdf":
        try:
            check_installed("pypdfium2")
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from error
        if _SIGN not in data[:_SIGN_WITHIN]:  # PDFium would say the same, a process later
            raise MpbertError("found no %PDF at its beginning; expected a PDF file")
    with tempfile.TemporaryDirectory(prefix="mpbert-") as folder:
        file = Path(folder, f"paper{ending}")
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
        raise MpbertError("the reader of files failed on it; send the text") from error
    if "error" in found:
        raise MpbertError(found["error"])
    return found
