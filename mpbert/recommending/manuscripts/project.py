"""A project of LaTeX as a folder or a ``.zip``, as Overleaf gives it: the file that is the root."""

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mpbert.foundation.errors import ManuscriptError
from mpbert.foundation.lazy_patterns import lazy_re

if TYPE_CHECKING:
    from zipfile import ZipFile

_READ = (".tex", ".ltx", ".bib", ".bbl", ".typ", ".md", ".qmd", ".rmd", ".org", ".rst", ".json")
_MOST_FILES, _MOST_BYTES = 10_000, 1 << 28
_ROOT = lazy_re(
    r"^[^%\n]*\\documentclass.*^[^%\n]*\\begin\s*\{document\}", re.DOTALL | re.MULTILINE
)
_CLASS = lazy_re(
    r"^[^%\n]*\\documentclass\s*(?:\[[^\]]*\])?\s*\{(subfiles|standalone)\}", re.MULTILINE
)
_INPUT = lazy_re(r"\\(?:input|include|subfile)\s*\{([^{}]+)\}")
_NAMED_ROOT = ("main", "thesis", "paper", "ms", "manuscript", "article", "dissertation", "root")


def root_of(path: Path) -> Path:
    """Return the file to read of a folder or an archive; any other path as it is.

    An archive is unpacked into a folder that goes when the program ends.

    :raises ManuscriptError: there is no manuscript in it, or several that could be meant.
    """
    if path.is_dir():
        return _root_in(path, str(path))
    if path.suffix.lower() != ".zip" or not path.is_file():
        return path
    import atexit  # a file alone need not wait for these
    import shutil
    import tempfile
    import zipfile

    folder = Path(tempfile.mkdtemp(prefix="mpbert-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with zipfile.ZipFile(path) as archive:
            _unpack(archive, folder, path)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise ManuscriptError(f"{path}: cannot be unpacked ({error})") from error
    return _root_in(folder, str(path))


def _unpack(archive: "ZipFile", folder: Path, path: Path) -> None:
    found = [
        info
        for info in archive.infolist()
        if not info.is_dir() and info.filename.lower().endswith(_READ)
    ]
    total = sum(info.file_size for info in found)
    if len(found) > _MOST_FILES or total > _MOST_BYTES:
        raise ManuscriptError(f"{path}: holds {len(found):,} files of {total:,} bytes; too much")
    for info in found:
        name = PurePosixPath(info.filename)
        if name.is_absolute() or ".." in name.parts or name.parts[0] == "__MACOSX":
            continue
        target = folder.joinpath(*name.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(archive.read(info))


def _root_in(folder: Path, name: str) -> Path:
    texts = {
        file: file.read_text("utf-8", "replace")
        for file in sorted(folder.rglob("*.tex"))
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    }
    roots = [file for file, text in texts.items() if _ROOT.search(text) and not _CLASS.search(text)]
    included = {
        PurePosixPath(name.strip()).name.removesuffix(".tex")
        for text in texts.values()
        for name in _INPUT.findall(text)
    }
    roots = [file for file in roots if file.stem not in included] or roots
    if not texts:
        roots = [file for end in (".typ", ".qmd", ".md", ".org") for file in folder.glob(f"*{end}")]
        roots = [file for file in roots if file.stem.lower() != "readme"]
    named = [file for file in roots if file.stem.lower() in _NAMED_ROOT]
    most = max((len(file.parts) for file in roots), default=0)
    shallow = [file for file in roots if len(file.parts) == min(len(f.parts) for f in roots)]
    for some in (roots, named, [file for file in named if file in shallow], shallow):
        if len(some) == 1 and most:
            return some[0]
    listed = ", ".join(str(file.relative_to(folder)) for file in roots[:5])
    if roots:
        raise ManuscriptError(
            f"{name}: found {len(roots)} manuscripts ({listed}); name one of them"
        )
    raise ManuscriptError(
        f"{name}: found no file with \\documentclass and \\begin{{document}}; name the manuscript"
    )
