"""The Language Server Protocol, by pygls: what an editor asks -> what answers it."""

import logging
import os

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

import mpbert
from mpbert.foundation.errors import ConfigError, MpbertError
from mpbert.serving.editor.acting import actions_at
from mpbert.serving.editor.at_cursor import typing_at
from mpbert.serving.editor.completing import ADD_ENTRY, completion_list
from mpbert.serving.editor.desk import Desk
from mpbert.serving.editor.diagnosing import Diagnoses
from mpbert.serving.editor.edits import Client
from mpbert.serving.editor.hovering import definition_at, hover_at, references_at
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.settings import read_settings
from mpbert.serving.live import LiveIndex

_TRIGGERS = ["{", "@", ",", "<", "`", ":", ";", " "]


class CitationServer(LanguageServer):
    """A language server, and what the editor that started it has open.

    An editor sends each changed text whole: one that is broken in any way is mended by the next.
    """

    def __init__(self, live: LiveIndex) -> None:
        full = lsp.TextDocumentSyncKind.Full
        super().__init__("mpbert", mpbert.__version__, text_document_sync_kind=full)
        self.desk = Desk(live)
        self.diagnoses = Diagnoses(self, self.desk)


def create_language_server(live: LiveIndex) -> CitationServer:
    """Return the server of an index."""
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of what is usual
    logging.getLogger("mpbert.recommending.manuscripts").setLevel(logging.ERROR)
    server = CitationServer(live)
    _add_buffers(server)
    _add_answers(server)
    _add_changes(server)
    _add_end(server)
    return server


def _add_buffers(server: CitationServer) -> None:
    desk, diagnoses = server.desk, server.diagnoses

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        encoding = server.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        desk.client = Client(getattr(encoding, "value", encoding), params.capabilities)
        set_up(params.initialization_options)

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        workspace = desk.client.capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            bibs = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*.bib")])
            watch = lsp.Registration("bib", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, bibs)
            await server.client_register_capability_async(lsp.RegistrationParams([watch]))

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: lsp.DidChangeConfigurationParams) -> None:
        set_up(params.settings)
        for uri in desk.manuscripts:
            diagnoses.look(uri, study=True)

    def set_up(found: object) -> None:
        try:
            diagnoses.settings = read_settings(found)
        except ConfigError as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, str(error)))

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        for uri in desk.manuscripts:
            diagnoses.look(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        desk.open(params.text_document)
        diagnoses.look(uri, study=True)
        # what a first answer would wait for
        await desk.answer(uri, lambda state: state.key_of)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        for change in params.content_changes[-1:]:
            desk.change(document.uri, change.text, document.version)
        diagnoses.look(document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        diagnoses.look(params.text_document.uri, study=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        desk.close(params.text_document.uri)
        diagnoses.forget(params.text_document.uri)


def _add_answers(server: CitationServer) -> None:
    desk = server.desk

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=_TRIGGERS)
    )
    async def completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        def complete(state: ManuscriptState) -> lsp.CompletionList | None:
            lines = desk.client.lines(state.buffer.text)
            cursor = lines.offset(params.position)
            typing = typing_at(state.buffer.text, state.buffer.form, cursor)
            return None if typing is None else completion_list(state, typing, lines)

        return await desk.answer(params.text_document.uri, complete)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        return await desk.answer(
            params.text_document.uri, lambda state: hover_at(state, *_at(state, params))
        )

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        return await desk.answer(
            params.text_document.uri, lambda state: definition_at(state, *_at(state, params))
        )

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        return await desk.answer(
            params.text_document.uri, lambda state: references_at(state, *_at(state, params))
        )

    def _at(state: ManuscriptState, params: lsp.TextDocumentPositionParams) -> tuple[int, Client]:
        return desk.client.lines(state.buffer.text).offset(params.position), desk.client


def _add_changes(server: CitationServer) -> None:
    desk = server.desk
    kinds = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        def act(state: ManuscriptState) -> list[lsp.CodeAction]:
            lines = desk.client.lines(state.buffer.text)
            span = lines.offset(params.range.start), lines.offset(params.range.end)
            told = [each for each in params.context.diagnostics if each.source == "mpbert"]
            return actions_at(state, span, told, desk.client)

        return await desk.answer(params.text_document.uri, act)

    @server.command(ADD_ENTRY)
    async def add_entry(uri: str, paper_id: str, key: str) -> None:
        """Add the entry of a paper to the bibliography of a manuscript; the editor writes it."""

        def act(state: ManuscriptState) -> lsp.WorkspaceEdit | str:
            return _entry_edit(state, desk.client, paper_id, key)

        try:
            edit = await desk.answer(uri, act, at_any_rate=True)
        except MpbertError as error:
            edit = str(error)
        if isinstance(edit, lsp.WorkspaceEdit):
            label = f"Add the entry {key}"
            await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, label))
        elif edit:
            message = lsp.ShowMessageParams(lsp.MessageType.Info, edit)
            server.window_show_message(message)


def _add_end(server: CitationServer) -> None:
    told: list[None] = []  # whether the editor said that it is going to end the server

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        told.append(None)

    @server.feature(lsp.EXIT)
    def end(params: None) -> None:
        # a thread waits for standard input, which editors leave open; there is nothing to save
        os._exit(0 if told else 1)


def _entry_edit(
    state: ManuscriptState, client: Client, paper_id: str, key: str
) -> lsp.WorkspaceEdit | str:
    """Return the edit that adds an entry; a line for the writer where there is none."""
    if key in state.bibliography.entries:
        return ""
    if state.bib is None:
        return (
            f"{state.buffer.path.name}: names no .bib, so {key} has no entry; name one by "
            f"\\bibliography, \\addbibresource or, in Markdown, bibliography in the YAML block"
        )
    text = state.texts.text(state.bib)
    if text is None and not client.creates_files:
        return f"{state.bib}: is not there, so {key} has no entry; make an empty file of that name"
    entries = state.new_entries()
    entries.add(paper_id, key)
    end = len(text or "")
    return client.edit({state.bib: [(end, end, entries.added)]}, state.texts)
