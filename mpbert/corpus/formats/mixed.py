"""Reader of a library in any mixture of formats: each file is read by the reader it is for.

A paper that several files tell of, such as an entry of BibTeX and the PDF file attached to it, is
one paper: title, authors, year and id are those of the first reader in the order of ``_ORDER``
that knows them, the text is that of the first that has one. References find papers of all files.
"""

import importlib.util
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.formats.guess import Unit, units_of
from mpbert.corpus.formats.pdf.grobid import Grobid
from mpbert.corpus.formats.pdf.reader import PdfReader
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.files import FileSet, Source, walk
from mpbert.corpus.raw.linkage import CommonLinker
from mpbert.corpus.records import NOTES, RawPaper
from mpbert.corpus.splits import YearSplits
from mpbert.foundation.errors import ConfigError

logger = logging.getLogger(__name__)
_INSTALL = "expected the package pypdfium2: pip install 'mpbert[pdf]'"
# who is believed first; the others come behind, by name
_ORDER = (
    *("bibtex", "csl", "ris", "zotero", "endnote", "wos", "pubmed", "spreadsheet", "dblp"),
    *("crossref", "semantic_scholar", "openalex", "arxiv", "jats", "tei", "pdf"),
)
MERGED = (*_ORDER, "mixed", "zip")  # readers by which a paper of two sources is known to be one
# readers whose records may name attached files
_WITH_FILES = ("bibtex", "csl", "ris", "zotero", "endnote", "spreadsheet")
_TITLE_ALONE = "papers_known_by_their_title_alone"


@READERS.register
class MixedReader(Reader):
    """Reads a folder whose files are of several formats; papers that files share are merged.

    :ivar grobid: address of a service that reads PDF files; empty: they are read here.
    :ivar units: what each reader reads; None: told from the files.
    """

    name = "mixed"
    default_splits = YearSplits(valid_year=2018, test_year=2020)

    def __init__(self, units: Sequence[Unit] | None = None, grobid: str = "") -> None:
        super().__init__()
        self.units, self.grobid = units, grobid
        self._linker = CommonLinker()
        self._readers: list[tuple[Reader, Source]] = []

    def prepare(self, path: Source) -> None:
        """Let all readers learn which papers there are.

        :raises CorpusError: a file is broken, or no reader is known for any.
        :raises ConfigError: no service answers at the address of ``grobid``.
        :raises ModuleNotFoundError: a reader needs a package that is not installed.
        """
        units = units_of(path) if self.units is None else list(self.units)
        units.sort(key=lambda unit: (*_ORDER, unit[0]).index(unit[0]))
        attached: dict[Path, str] = {}
        for name, source in units:
            if name != "pdf":
                reader = self._begin(name, source)
                attached |= getattr(reader, "attached", {})
        own = [file for name, source in units if name == "pdf" for file in source.files]
        files = list(dict.fromkeys(file.resolve() for file in [*attached, *own]))
        if files:
            folder = path.folder if isinstance(path, FileSet) else path
            ids = {file: attached[file] for file in files if file in attached}
            self._begin_pdf(FileSet(folder.resolve(), tuple(files)), ids)

    def _begin(self, name: str, source: Source, ids: dict[Path, str] | None = None) -> Reader:
        reader = READERS[name]()
        reader.needs_citations = self.needs_citations
        if name in _ORDER:
            self._linker.begin()
            reader.linker = self._linker
        if ids is not None:
            reader.ids = ids
        reader.prepare(source)
        self._readers.append((reader, source))
        self._take_counts(reader)
        return reader

    def _begin_pdf(self, source: FileSet, ids: dict[Path, str]) -> None:
        """Read PDF files by a service where there is one, and here what it cannot read."""
        left = source.files
        if self.grobid:
            self._made = tempfile.TemporaryDirectory(prefix="mpbert-")  # goes with this reader
            folder = Path(self._made.name)
            made = dict(zip(left, Grobid(self.grobid).write_tei(left, folder), strict=True))
            pdf = READERS["pdf"]
            names = {tei: ids.get(f) or pdf.id_of(f, source) for f, tei in made.items() if tei}
            left = tuple(file for file, tei in made.items() if tei is None)
            self.counts["files_read_by_grobid"] += len(names)
            if names:
                self._begin("tei", FileSet(folder, tuple(names)), names)
        if not left:
            return
        if set(left) <= set(ids) and importlib.util.find_spec("pypdfium2") is None:
            self.counts["attached_files_left_unread"] += len(left)
            logger.warning("left unread: %s attached PDF files; %s", len(left), _INSTALL)
            return
        self._begin("pdf", FileSet(source.folder, left), ids)

    def read_records(self, path: Source) -> Iterator[object]:
        """Yield the records of each paper: number of the reader, and its record."""
        waiting: dict[str, list[tuple[int, object]]] = {}
        for number, (reader, source) in enumerate(self._readers):
            for record in reader.read_records(source):
                paper_id = reader.paper_id_of(record)
                if paper_id is None:
                    yield None, [(number, record)]
                    continue
                paper_id = self._linker.paper_of(paper_id)
                parts = waiting.setdefault(paper_id, [])
                parts.append((number, record))
                if len(parts) == self._linker.copies[paper_id]:
                    yield paper_id, waiting.pop(paper_id)
            self._take_counts(reader)
        yield from waiting.items()

    def paper_id_of(self, record: object) -> str | None:
        """Return the id of the paper that several records tell of."""
        return record[0]

    def content_of(self, record: object) -> object:
        """Return what each reader makes the paper of."""
        return [self._readers[number][0].content_of(part) for number, part in record[1]]

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper that several records tell of; None where none of them gives one.

        :raises CorpusError: a record is broken.
        """
        paper_id, parts = record
        found = []
        for number, part in parts:
            reader, _ = self._readers[number]
            paper = reader.parse(part)
            self._take_counts(reader)
            found += [] if paper is None else [paper]
        if not found:
            return None
        merged = found[0] if len(found) == 1 else self._merged(found)
        return merged if paper_id is None else replace(merged, paper_id=paper_id)

    def _merged(self, papers: Sequence[RawPaper]) -> RawPaper:
        """Return one paper of all that is told of it, the first of which is believed first."""
        self.counts["copies_of_papers_merged"] += len(papers) - 1
        first = papers[0]
        alone = [_has_title_alone(paper) for paper in papers]
        abstracts = [p.abstract for p, is_alone in zip(papers, alone, strict=True) if not is_alone]
        if any(alone) and any(abstracts):
            self.counts[_TITLE_ALONE] -= sum(alone)
        texts = [[part for part in paper.sections if part.heading != NOTES] for paper in papers]
        notes = [part for paper in papers for part in paper.sections if part.heading == NOTES]
        references = dict.fromkeys(cited for paper in papers for cited in paper.references)
        return replace(
            first,
            year=next((paper.year for paper in papers if paper.year is not None), None),
            abstract=next(filter(None, abstracts), first.abstract),
            sections=(*next(filter(None, texts), ()), *notes),
            authors=next((paper.authors for paper in papers if paper.authors), ()),
            venue=next((paper.venue for paper in papers if paper.venue), ""),
            references=tuple(references),
            published=reduce(Publication.filled, (paper.published for paper in papers)),
        )

    def _take_counts(self, reader: Reader) -> None:
        self.counts.update(reader.counts)
        reader.counts.clear()


def _has_title_alone(paper: RawPaper) -> bool:
    """Whether the abstract of a paper is its title."""
    return " ".join(sentence.text for sentence in paper.abstract) == paper.title


def library_reader(path: Path, name: str, grobid: str = "") -> Reader:
    """Return a reader, that of mixtures where records may have attached files, or for a service.

    :param grobid: address of a service that reads PDF files; empty: they are read here.
    :raises ConfigError: there is a service, and the format has no PDF files.
    """
    if name in ("mixed", "zip"):
        return READERS[name](grobid=grobid)
    if name in _WITH_FILES:
        return MixedReader([(name, path)], grobid)
    if name == "pdf" and grobid:
        files = walk(path, PdfReader.suffixes)
        return MixedReader([(name, FileSet(path, tuple(files)))], grobid)
    if grobid:
        raise ConfigError(
            f"--grobid {grobid}: {path} is read as {name}, which has no PDF files; expected a "
            f"folder with some, or leave it out"
        )
    return READERS[name]()
