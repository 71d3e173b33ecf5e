"""Changes of files that an editor makes, and so can undo: a new entry, a citation and its entry."""

from dataclasses import dataclass
from pathlib import Path

from lsprotocol.types import (
    ClientCapabilities,
    CreateFile,
    CreateFileOptions,
    OptionalVersionedTextDocumentIdentifier,
    ResourceOperationKind,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from mpbert.serving.editor.positions import Lines
from mpbert.serving.editor.texts import EditorTexts, real


@dataclass(frozen=True)
class Client:
    """What an editor can do.

    :param encoding: in whose units it counts.
    """

    encoding: str
    capabilities: ClientCapabilities

    def lines(self, text: str) -> Lines:
        """Return the lines of a text, as it counts them."""
        return Lines(text, self.encoding)

    def edit(
        self, changes: dict[Path, list[tuple[int, int, str]]], texts: EditorTexts
    ) -> WorkspaceEdit:
        """Return an edit of several files.

        :param changes: (start, end, what stands there then) in the characters of each.
        """
        found: list[TextDocumentEdit | CreateFile] = []
        plain: dict[str, list[TextEdit]] = {}
        for path, parts in changes.items():
            uri, text = texts.uri(path), texts.text(path)
            lines = self.lines(text or "")
            edits = [TextEdit(lines.range(start, end), new) for start, end, new in parts]
            if text is None:
                found.append(CreateFile(uri, options=CreateFileOptions(ignore_if_exists=True)))
            buffer = texts.buffers.get(real(path))
            version = None if buffer is None else buffer.version
            document = OptionalVersionedTextDocumentIdentifier(uri, version)
            found.append(TextDocumentEdit(document, edits))
            plain[uri] = edits
        edit = self.capabilities.workspace and self.capabilities.workspace.workspace_edit
        if edit and edit.document_changes:
            return WorkspaceEdit(document_changes=found)
        return WorkspaceEdit(changes=plain)

    @property
    def creates_files(self) -> bool:
        """Whether it makes a file that an edit names."""
        edit = self.capabilities.workspace and self.capabilities.workspace.workspace_edit
        kinds = (edit and edit.document_changes and edit.resource_operations) or ()
        return ResourceOperationKind.Create in kinds
