"""Remarks become diagnostics of low severity, published a moment after the last change."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from mpbert.foundation.errors import MpbertError
from mpbert.serving.editor.desk import Desk
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.remarks import (
    DOUBTFUL,
    OPEN,
    UNDEFINED,
    UNMARKED,
    UNUSED,
    Remark,
    remarks_on_buffer,
    studied,
    unused_entries,
)
from mpbert.serving.editor.settings import EditorSettings
from mpbert.serving.editor.texts import real

_PAUSE = 0.3  # seconds without a change
_BEFORE = 40  # characters before a key by which it is found again
_BEHIND = 12  # characters behind a sentence in which a citation belongs to it
_SEVERITY = {
    **dict.fromkeys((OPEN, UNUSED, UNMARKED), lsp.DiagnosticSeverity.Hint),
    **dict.fromkeys((UNDEFINED, DOUBTFUL), lsp.DiagnosticSeverity.Information),
}


class Diagnoses:
    """The remarks on all that an editor has open."""

    def __init__(self, server: LanguageServer, desk: Desk) -> None:
        self._server, self._desk = server, desk
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._to_study: set[str] = set()
        self._studied: dict[str, tuple[str, list[Remark]]] = {}  # a text, and remarks on it
        self._unused: dict[str, dict[Path, set[str]]] = {}  # by manuscript
        self.settings = EditorSettings()

    def look(self, uri: str, study: bool = False) -> None:
        """Look at a buffer in a moment; a bibliography is looked at with all manuscripts.

        :param study: whether sentences are looked for that lack a citation, too.
        """
        if self._desk.buffer(uri) is None:
            for other in self._desk.manuscripts:
                self.look(other)
            return
        if study:
            self._to_study.add(uri)
        if task := self._tasks.get(uri):
            task.cancel()
        self._tasks[uri] = asyncio.create_task(self._look(uri))

    def forget(self, uri: str) -> None:
        """Take the remarks on a buffer back, which was closed."""
        if task := self._tasks.pop(uri, None):
            task.cancel()
        self._to_study.discard(uri)
        self._studied.pop(uri, None)
        self._unused.pop(uri, None)
        self._publish(uri, None, [])

    async def _look(self, uri: str) -> None:
        await asyncio.sleep(_PAUSE)
        try:
            await self._tell(uri)
            if uri in self._to_study:
                await self._study(uri)
                await self._tell(uri)
        except MpbertError:  # as it is being written: a broken YAML block, an index that is gone
            return

    async def _study(self, uri: str) -> None:
        def act(state: ManuscriptState) -> tuple[str, list[Remark]]:
            found = studied(state, self.settings.doubtful, self.settings.unmarked)
            return state.buffer.text, list(found)

        found = await self._desk.answer(uri, act, slowly=True)
        if found is not None:
            self._studied[uri] = found
            self._to_study.discard(uri)

    async def _tell(self, uri: str) -> None:
        found = await self._desk.answer(uri, self._diagnosed)
        if found is None:
            return
        diagnostics, unused, version = found
        self._publish(uri, version, diagnostics)
        self._unused[uri] = unused
        for bib in self._desk.others:
            await self._tell_bibliography(uri, bib.uri)

    async def _tell_bibliography(self, uri: str, bib: str) -> None:
        """Publish the entries that none of the open manuscripts cites."""

        def act(state: ManuscriptState) -> list[lsp.Diagnostic] | None:
            path = next(p for p, each in state.texts.buffers.items() if each.uri == bib)
            named = [each[path] for each in self._unused.values() if path in each]
            if path not in self._unused.get(uri, {}):
                return None
            keys = set.intersection(*named) if self.settings.unused_entries else set()
            found = [e for e in unused_entries(state) if e.path == path and e.key in keys]
            return self._diagnostics(state, path, found)

        diagnostics = await self._desk.answer(uri, act)
        if diagnostics is not None:
            self._publish(bib, None, diagnostics)

    def _diagnosed(
        self, state: ManuscriptState
    ) -> tuple[list[lsp.Diagnostic], dict[Path, set[str]], int | None]:
        shown = {OPEN: self.settings.open_places, UNDEFINED: self.settings.undefined_keys}
        found = [remark for remark in remarks_on_buffer(state) if shown[remark.kind]]
        found += self._still_there(state)
        unused: dict[Path, set[str]] = {real(p): set() for p in state.project.bibliographies}
        for remark in unused_entries(state) if self._desk.others else ():
            unused[real(remark.path)].add(remark.key)
        path = state.buffer.path
        return self._diagnostics(state, path, found), unused, state.buffer.version

    def _still_there(self, state: ManuscriptState) -> list[Remark]:
        """Return what was found of sentences and keys that stand there still."""
        old, remarks = self._studied.get(state.buffer.uri, ("", []))
        uses, text = state.uses_of(state.buffer.path), state.buffer.text
        cited = [use.start for use in uses.keys] + [place.start for place, _ in uses.open_places]
        found = []
        for remark in remarks:
            before = min(_BEFORE, remark.start) if remark.kind == DOUBTFUL else 0
            at = text.find(old[remark.start - before : remark.end])
            start, end = at + before, at + before + remark.end - remark.start
            lacks = remark.kind == UNMARKED
            if at < 0 or (lacks and any(start <= place <= end + _BEHIND for place in cited)):
                continue
            found.append(replace(remark, start=start, end=end))
        return found

    def _diagnostics(
        self, state: ManuscriptState, path: Path, remarks: Sequence[Remark]
    ) -> list[lsp.Diagnostic]:
        lines = self._desk.client.lines(state.texts.text(path) or "")
        return [
            lsp.Diagnostic(
                lines.range(remark.start, remark.end),
                remark.message,
                severity=_SEVERITY[remark.kind],
                code=remark.kind,
                source="mpbert",
                tags=[lsp.DiagnosticTag.Unnecessary] if remark.kind == UNUSED else None,
            )
            for remark in remarks
        ]

    def _publish(self, uri: str, version: int | None, found: list[lsp.Diagnostic]) -> None:
        params = lsp.PublishDiagnosticsParams(uri, found, version)
        self._server.text_document_publish_diagnostics(params)
