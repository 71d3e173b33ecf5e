r"""Commands that include a file: ``\input``, those of subfiles, and those of import."""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping

from mpbert.recommending.manuscripts.macros import Frame, Macro
from mpbert.recommending.manuscripts.source_text import UTF8, SourceText

_IMPORTS = frozenset("import subimport inputfrom subinputfrom includefrom subincludefrom".split())
# command -> ending of the file with definitions that it names
PACKAGES = {"usepackage": ".sty", "RequirePackage": ".sty", "documentclass": ".cls"}
PACKAGES |= {"LoadClass": ".cls"}
INCLUDING = _IMPORTS | set("input include subfile subfileinclude @input InputIfFileExists".split())
_BARE_NAME = re.compile(r"[^\s{}%]*")
_COMMAND = re.compile(r"\\([A-Za-z@]+)\s*")


def included_names(
    frame: Frame, command: str, macros: Mapping[str, Macro]
) -> tuple[list[str], str]:
    r"""Take the argument of a command; return names that the file may have, and its folder.

    :param macros: that the name may hold, as in ``\input{\chapters/one}``.
    :returns: names from the folder of the manuscript, and the folder that the file includes from.
    """
    folder = frame.folder
    if command in _IMPORTS:  # \import{folder/}{name}
        frame.star()
        folder = posixpath.join(folder if "sub" in command else "", _name(frame, macros))
    name = _name(frame, macros)
    beside = os.path.dirname(frame.path)  # as subfiles takes it
    return [posixpath.join(folder, name), name, os.path.join(beside, name)], folder


def local_packages(source: SourceText, names: str, ending: str) -> Iterator[SourceText]:
    """Yield the packages, or the class, that stand in the folder of the manuscript.

    :param names: between commas.
    :param ending: of the files.
    """
    folder = source.path.parent.resolve()
    for name in names.split(","):
        path = folder / f"{name.strip()}{ending}"
        if "\0" not in name and path.is_file() and path.resolve().is_relative_to(folder):
            yield SourceText(path, path.read_text(UTF8, "replace"))


def _name(frame: Frame, macros: Mapping[str, Macro]) -> str:
    """Take the name of a file or a folder."""

    def said(command: re.Match[str]) -> str:
        macro = macros.get(command[1])
        return command[0] if macro is None or macro.parameters else macro.body

    frame.skip_space()
    group = frame.group()
    if group is None:  # \input name, without braces
        group = frame.take(_BARE_NAME.match(frame.text, frame.position).end())
    return _COMMAND.sub(said, group.text).strip().strip('"')
