"""``lsp``: index directory -> a language server for editors, over standard input and output."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import positional
from mpbert.foundation.extras import check_installed


@dataclass(frozen=True)
class Config:
    """Help an editor to cite: papers at the cursor, what a key is, where its entry stands.

    The editor starts this command and talks with it over standard input and output. It writes no
    file: the editor makes all changes, and can undo them. Nothing leaves the machine.
    """

    index: Path = positional("index", "index made by mpbert index or build-index")


def run(config: Config) -> None:
    """Answer until standard input ends.

    :raises MpbertError: the index cannot be read.
    :raises ModuleNotFoundError: pygls is not installed.
    """
    check_installed("pygls")
    from mpbert.serving.editor.language_server import create_language_server
    from mpbert.serving.live import LiveIndex

    create_language_server(LiveIndex.open(config.index)).start_io()
