"""Files that have a second name, so that a copy takes no room."""

import os
import shutil
from pathlib import Path


def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the file system cannot.

    :param source: a symbolic link stands for the file that it leads to.
    :raises OSError: there is no such file, or ``target`` cannot be written.
    """
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
