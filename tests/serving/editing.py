"""An editor without a window: it starts the language server, and makes the edits that it is told.

Edits are made on bytes of the encoding that was agreed on, by code that shares nothing with ours.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from mpbert.cli import main

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
NAMES = "names2003"
PAPERS = [
    ("routers2001", "Routers drop packets", ["Ada Lovelace"], 2001, "Routers drop packets."),
    ("mail2002", "Relays of mail", ["Zoë Élan", "Bo Dahl"], 2002, "Hosts relay mail."),
    (NAMES, "Names of hosts", ["Ada Lovelace", "Cy Roe"], 2003, "Servers resolve names."),
    ("clocks2004", "Clocks that drift", ["Dee Poe"], 2004, "Servers set clocks."),
]  # fmt: skip
ENTRY = """@misc{names2003,
  title = {{Names of hosts}},
  author = {Ada Lovelace and Cy Roe},
  year = {2003},
}
"""

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Editor:
    """A client of the server, its buffers, and what it was told."""

    def __init__(self, encoding: str = "utf-16") -> None:
        self.client = LanguageClient("test", "1")
        self.encoding, self.texts, self.messages, self.diagnostics = encoding, {}, [], {}
        self.version = 0

        @self.client.feature(lsp.WORKSPACE_APPLY_EDIT)
        def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            self.make(params.edit)
            return lsp.ApplyWorkspaceEditResult(applied=True)

        @self.client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def show(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = params.diagnostics

    async def start(self, index: Path, options: object = None) -> "Editor":
        words = ["-m", "mpbert", "lsp", str(index)]
        await self.client.start_io(sys.executable, *words, env=ENVIRONMENT)
        edits = lsp.WorkspaceEditClientCapabilities(
            document_changes=True, resource_operations=[lsp.ResourceOperationKind.Create]
        )
        capabilities = lsp.ClientCapabilities(
            general=lsp.GeneralClientCapabilities(position_encodings=[self.encoding]),
            workspace=lsp.WorkspaceClientCapabilities(workspace_edit=edits, apply_edit=True),
        )
        params = lsp.InitializeParams(capabilities, initialization_options=options)
        found = await self.client.initialize_async(params)
        assert found.capabilities.position_encoding == self.encoding
        self.client.initialized(lsp.InitializedParams())
        return self

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def open(self, path: Path, text: str | None = None, language: str = "latex") -> str:
        """Open a file, with another text than it has where one is given."""
        text = path.read_bytes().decode() if text is None else text
        uri = path.as_uri()
        self.texts[uri] = text
        item = lsp.TextDocumentItem(uri, language, self._next(), text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def write(self, uri: str, text: str) -> None:
        """Change a buffer."""
        self.texts[uri] = text
        document = lsp.VersionedTextDocumentIdentifier(self._next(), uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        params = lsp.DidChangeTextDocumentParams(document, [change])
        self.client.text_document_did_change(params)

    def _next(self) -> int:
        self.version += 1
        return self.version

    def position(self, uri: str, offset: int) -> lsp.Position:
        codec, unit = CODECS[self.encoding]
        before = self.texts[uri][:offset]
        line = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), len(line.encode(codec)) // unit)

    async def complete(self, uri: str, offset: int) -> list[lsp.CompletionItem]:
        """Return the items at a place of a buffer, in the order in which they are shown."""
        document = lsp.TextDocumentIdentifier(uri)
        params = lsp.CompletionParams(document, self.position(uri, offset))
        found = await self.client.text_document_completion_async(params)
        if found is None:
            return []
        assert found.is_incomplete
        return sorted(found.items, key=lambda item: item.sort_text)

    async def choose(self, uri: str, item: lsp.CompletionItem) -> None:
        """Make the edit of an item, and run its command."""
        self._edit(uri, [item.text_edit])
        if item.command is not None:
            params = lsp.ExecuteCommandParams(item.command.command, item.command.arguments)
            await self.client.workspace_execute_command_async(params)
            await asyncio.sleep(0)

    def make(self, edit: lsp.WorkspaceEdit) -> None:
        """Make an edit of several files; a file that is not open is opened first, as editors do."""
        for change in edit.document_changes:
            if isinstance(change, lsp.CreateFile):
                self.texts.setdefault(change.uri, "")
                continue
            uri = change.text_document.uri
            if uri not in self.texts:
                self.open(Path(lsp_path(uri)), language="bibtex")
            self._edit(uri, change.edits)

    def _edit(self, uri: str, edits: list[lsp.TextEdit]) -> None:
        for edit in sorted(
            edits,
            key=lambda each: (each.range.start.line, each.range.start.character),
            reverse=True,
        ):
            text = self.texts[uri]
            start, end = (self._offset(text, place) for place in (edit.range.start, edit.range.end))
            text = text[:start] + edit.new_text + text[end:]
            self.write(uri, text)

    def _offset(self, text: str, position: lsp.Position) -> int:
        codec, unit = CODECS[self.encoding]
        lines = text.split("\n")
        line = lines[position.line].encode(codec)[: position.character * unit].decode(codec)
        return sum(len(each) + 1 for each in lines[: position.line]) + len(line)


def make_index(folder: Path) -> Path:
    """Return an index of four papers in a folder."""
    names = ("paper_id", "title", "authors", "year", "abstract")
    papers = [(*about, [abstract]) for *about, abstract in PAPERS]
    lines = [json.dumps(dict(zip(names, paper, strict=True))) for paper in papers]
    (folder / "papers.jsonl").write_text("\n".join(lines))
    assert main(["index", str(folder / "papers.jsonl"), str(folder / "index")]) == 0
    return folder / "index"


def lsp_path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(uri).path)


def edited(index: Path, use, encoding: str = "utf-16", options: object = None):
    """Start a server, and return what a coroutine function of its editor returns."""

    async def talk():
        editor = await Editor(encoding).start(index, options)
        try:
            return await asyncio.wait_for(use(editor), 300)
        finally:
            await editor.stop()

    return asyncio.run(talk())
