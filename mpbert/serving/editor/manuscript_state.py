"""A manuscript in an editor at one moment: its files and entries, and the papers that these are."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mpbert.recommending.bibliography import OwnReference
from mpbert.recommending.entries import NewEntries
from mpbert.recommending.manuscripts.forms import form_of
from mpbert.serving.editor.bib_texts import BibEntries, EntryPapers, read_bibliographies
from mpbert.serving.editor.places import PlaceQuestions
from mpbert.serving.editor.projects import Project, Projects
from mpbert.serving.editor.texts import Buffer, EditorTexts
from mpbert.serving.editor.uses import FileUses, UsesReader


@dataclass(frozen=True)
class ManuscriptState:
    """What is known of the manuscript of a buffer.

    :param projects: and ``entry_papers`` and ``uses_reader`` know what was read before.
    """

    buffer: Buffer
    texts: EditorTexts
    questions: PlaceQuestions
    projects: Projects
    entry_papers: EntryPapers
    uses_reader: UsesReader

    @cached_property
    def project(self) -> Project:
        """Its files."""
        return self.projects.project_of(self.buffer, self.texts)

    @cached_property
    def bibliography(self) -> BibEntries:
        """Its entries."""
        return read_bibliographies(self.project.bibliographies, self.texts)

    @cached_property
    def papers(self) -> dict[str, str]:
        """Key -> id of the entries that are papers of the index."""
        return self.entry_papers.paper_ids(self.bibliography, self.questions.edition.matcher)

    @cached_property
    def key_of(self) -> dict[str, str]:
        """Id -> key of the same; of two keys of a paper, the first."""
        return {paper_id: key for key, paper_id in reversed(self.papers.items())}

    @property
    def bib(self) -> Path | None:
        """The file for new entries; None: the manuscript names none."""
        return next(iter(self.project.bibliographies), None)

    def uses_of(self, path: Path) -> FileUses:
        """Return what one of its files cites."""
        text = self.texts.text(path) or ""
        return self.uses_reader.of(path, text, form_of(path) or self.buffer.form)

    def new_entries(self) -> NewEntries:
        """Return what adds entries to that file."""
        text = self.texts.text(self.bib) or "" if self.bib else ""
        entries = self.bibliography.entries
        return NewEntries(text, self.questions.edition.recommender, entries)

    def paper_id(self, key: str) -> str | None:
        """Return the paper of a key, by its entry, or by its name where it has none."""
        if key in self.bibliography.entries:
            return self.papers.get(key)
        return self.questions.edition.matcher.paper_id(key, OwnReference())

    def paper_ids(self, keys: Iterable[str]) -> list[str]:
        """Return the papers of keys, each once."""
        return list(dict.fromkeys(filter(None, map(self.paper_id, keys))))
