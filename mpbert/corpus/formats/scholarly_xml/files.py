"""XML files from strangers: parsed without entities, network or document type.

Only the declaration of a document type is allowed, as JATS files have it; it is never loaded. A
file that declares entities is refused, since they can expand without end or name other files.
"""

from pathlib import Path
from typing import BinaryIO

from lxml import etree

from mpbert.corpus.raw.files import open_file, too_large
from mpbert.foundation.errors import CorpusError

LARGEST = 1 << 26  # bytes of a file
MOST_MARKS = 3 << 20  # characters < and = of a file, for elements and attributes: 400 bytes each
_SAFE = {"resolve_entities": False, "no_network": True, "huge_tree": False, "load_dtd": False}
_SAFE |= {"collect_ids": False}  # GROBID repeats an xml:id now and then


def local_name(element: etree._Element) -> str:
    """Return the tag without its namespace; empty for a comment, an instruction or an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def read_root(path: Path, tag: str) -> etree._Element:
    """Return the root element of a file, plain or packed.

    :param tag: its expected tag, without namespace.
    :raises CorpusError: broken, declares entities, or has another root.
    """
    with open_file(path) as file:
        try:
            root = etree.parse(_Bounded(path, file), etree.XMLParser(**_SAFE)).getroot()
        except etree.XMLSyntaxError as error:
            raise _broken(path, error) from error
    return _checked(path, root, tag)


def read_head(path: Path, tag: str, head: str) -> etree._Element:
    """Return the first element ``head`` of a file and read no further.

    :param tag: expected tag of the root, without namespace.
    :param head: tag of the wanted element, without namespace.
    :raises CorpusError: as :func:`read_root`, or there is no such element.
    """
    with open_file(path) as file:
        try:
            found = etree.iterparse(_Bounded(path, file), tag=f"{{*}}{head}", **_SAFE)
            for _, element in found:
                _checked(path, element.getroottree().getroot(), tag)
                return element
            _checked(path, found.root, tag)
        except etree.XMLSyntaxError as error:
            raise _broken(path, error) from error
    raise CorpusError(f"{path}: found no <{head}>; expected one in a file of <{tag}>")


class _Bounded:
    """A file whose reading ends in an error where it is too large for memory."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file
        self._bytes = self._marks = 0

    def read(self, size: int) -> bytes:
        """Return so many bytes, or what is left."""
        data = self._file.read(size)
        self._bytes += len(data)
        self._marks += data.count(b"<") + data.count(b"=")
        if self._bytes > LARGEST:
            raise too_large(self._path, "file", LARGEST)
        if self._marks > MOST_MARKS:
            raise too_large(self._path, "file", MOST_MARKS, "tags and attributes")
        return data


def _checked(path: Path, root: etree._Element, tag: str) -> etree._Element:
    declared = root.getroottree().docinfo.internalDTD
    names = [entity.name for entity in declared.iterentities()] if declared is not None else []
    if names:
        raise CorpusError(
            f"{path}: declares the entity {names[0]!r}; expected none, as entities may expand "
            f"without end or name other files: write their text instead"
        )
    if local_name(root) != tag:
        raise CorpusError(f"{path}: found <{local_name(root)}>; expected a file of <{tag}>")
    return root


def _broken(path: Path, error: etree.XMLSyntaxError) -> CorpusError:
    reason = " ".join(error.msg.split()) if error.msg else "the file is empty"
    return CorpusError(
        f"{path}:{error.lineno or 1}: broken XML ({reason}); expected a well-formed file, "
        f"write or copy it again"
    )
