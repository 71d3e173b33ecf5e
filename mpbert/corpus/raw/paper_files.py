"""What the readers of PDF and XML files have in common: a folder of files, one paper in each.

The heads of all files are read first, so that references can be resolved; then each file is parsed
on its own, in any process. A paper's id is the name of its file.
"""

import logging
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from mpbert.corpus.formats.base import Reader
from mpbert.corpus.raw.files import FileSet, Source, id_of_file, walk
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.records import RawPaper
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress

logger = logging.getLogger(__name__)


class PaperFileReader(Reader):
    """Reads files of one paper each; one that cannot be read is named, counted and left out.

    :cvar suffixes: how names of files end, the longest first; they are no part of ids.
    :cvar bar: what its bar of progress says; empty: opening them takes a moment.
    :cvar problem: error of a file that is left out; counts tell its ``kind``.
    :ivar ids: of files whose papers are not called by their names.
    """

    suffixes: ClassVar[tuple[str, ...]]
    bar: ClassVar[str] = ""
    problem: ClassVar[type[CorpusError]] = CorpusError

    def __init__(self) -> None:
        super().__init__()
        self.linker = Linker()
        self.ids: dict[Path, str] = {}
        self._found: dict[Path, str] = {}

    @abstractmethod
    def identifiers_of(self, file: Path) -> Identifiers:
        """Return what the head of a file says of its paper, or raise ``problem``."""

    @abstractmethod
    def paper_of(self, file: Path, paper_id: str) -> RawPaper:
        """Return the paper of a file, or raise ``problem``."""

    def prepare(self, path: Source) -> None:
        """Read all heads: which papers there are.

        :raises CorpusError: no file can be read; the first problem is named.
        """
        first_problem: CorpusError | None = None
        files = walk(path, self.suffixes)
        for file in progress(files, self.bar, "file") if self.bar else files:
            try:
                identifiers = self.identifiers_of(file)
            except self.problem as error:
                first_problem = first_problem or error
                self._leave_out(error)
                continue
            paper_id = self.ids.get(file) or id_of_file(file, path, self.suffixes)
            if self.linker.add(paper_id, identifiers):
                self._found[file] = paper_id
            else:
                self.counts["files_with_the_name_of_another"] += 1
        if first_problem is not None and not self._found and not isinstance(path, FileSet):
            raise CorpusError(f"{first_problem} (and no other of {len(files)} files can be read)")

    def read_records(self, path: Source) -> Iterator[object]:
        """Yield the paths of the files whose head could be read, by name."""
        return iter(self._found)

    def paper_id_of(self, record: object) -> str:
        """Return the id of the paper in a file."""
        return self._found[record]

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a file; None, and a line in the log, where it is broken."""
        try:
            return self.paper_of(record, self._found[record])
        except self.problem as error:
            self._leave_out(error)
            return None

    def _leave_out(self, error: CorpusError) -> None:
        self.counts[f"files_left_out_as_{getattr(error, 'kind', 'broken')}"] += 1
        logger.warning("left out: %s", error)
