"""The buffers of an editor, and one thread that answers for them, as they are when it begins."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lsprotocol.types import ClientCapabilities, PositionEncodingKind, TextDocumentItem
from pygls.uris import to_fs_path

from mpbert.recommending.manuscripts.forms import form_of
from mpbert.serving.editor.bib_texts import EntryPapers
from mpbert.serving.editor.edits import Client
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.places import PlaceQuestions
from mpbert.serving.editor.projects import Projects
from mpbert.serving.editor.texts import Buffer, DiskTexts, EditorTexts, real
from mpbert.serving.editor.uses import UsesReader
from mpbert.serving.live import LiveIndex

_LANGUAGES = {  # of buffers without a name that tells
    **dict.fromkeys(("latex", "tex", "plaintex"), "tex"),
    **dict.fromkeys(("markdown", "quarto", "rmd", "rmarkdown", "pandoc"), "markdown"),
    **dict.fromkeys(("restructuredtext", "rst"), "rst"),
    **{"org": "org", "typst": "typst"},
}
T = TypeVar("T")
Act = Callable[[ManuscriptState], T]


class Desk:
    """What an editor has open, and what answers for it.

    Its methods are called from the loop; what they are given is run in the thread.

    :ivar client: what the editor can do.
    """

    def __init__(self, live: LiveIndex) -> None:
        self._live, self._buffers = live, {}
        self._disk, self._projects = DiskTexts(), Projects()
        self._entries, self._uses = EntryPapers(), UsesReader()
        self._questions: PlaceQuestions | None = None
        self._thread, self._slow_thread = (ThreadPoolExecutor(1, name) for name in ("fast", "slow"))
        self.client = Client(PositionEncodingKind.Utf16.value, ClientCapabilities())

    def open(self, document: TextDocumentItem) -> None:
        """Take a text that was opened."""
        path = real(Path(to_fs_path(document.uri) or document.uri.rpartition(":")[2]))
        form = form_of(path) or _LANGUAGES.get(document.language_id.lower(), "")
        buffer = Buffer(document.uri, path, document.text, document.version, form)
        self._buffers[document.uri] = buffer

    def change(self, uri: str, text: str, version: int | None) -> None:
        """Take what a text is now."""
        old = self._buffers.get(uri)
        if old is not None:
            self._buffers[uri] = Buffer(uri, old.path, text, version, old.form)

    def close(self, uri: str) -> None:
        """Forget a text; that of the disk counts again."""
        self._buffers.pop(uri, None)

    def buffer(self, uri: str) -> Buffer | None:
        """Return a manuscript that is open; None for other texts."""
        buffer = self._buffers.get(uri)
        return buffer if buffer is not None and buffer.form else None

    @property
    def manuscripts(self) -> list[str]:
        """Addresses of the manuscripts that are open."""
        return [uri for uri, buffer in self._buffers.items() if buffer.form]

    @property
    def others(self) -> list[Buffer]:
        """Other texts that are open, such as bibliographies."""
        return [buffer for buffer in self._buffers.values() if not buffer.form]

    async def answer(
        self, uri: str, act: Act[T], at_any_rate: bool = False, slowly: bool = False
    ) -> T | None:
        """Return what a function says of the manuscript of a buffer, as it is now.

        A request that was cancelled, or whose text has changed, is dropped before it begins.

        :param at_any_rate: whether it is answered all the same where the text has changed.
        :param slowly: whether it takes long, and other answers do not wait for it.
        """
        edition = await self._live.edition()
        buffer = self.buffer(uri)
        if buffer is None:
            return None
        texts = EditorTexts({each.path: each for each in self._buffers.values()}, self._disk)

        def run() -> T | None:
            if self._buffers.get(uri) is not buffer and not at_any_rate:
                return None
            if self._questions is None or self._questions.edition is not edition:
                self._questions = PlaceQuestions(edition)
            state = ManuscriptState(
                *(buffer, texts, self._questions, self._projects, self._entries, self._uses)
            )
            return act(state)

        thread = self._slow_thread if slowly else self._thread
        return await asyncio.get_running_loop().run_in_executor(thread, run)
