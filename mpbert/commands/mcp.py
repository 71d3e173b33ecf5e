"""``mcp``: index directory -> tools for an assistant, over standard input and output."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import positional
from mpbert.foundation.extras import check_installed


@dataclass(frozen=True)
class Config:
    """Give an assistant tools over MCP: papers to cite at a place of a text, titles, BibTeX.

    The assistant starts this command and talks with it over standard input and output. Nothing
    leaves the machine but what the assistant does with the answers.
    """

    index: Path = positional("index", "index made by mpbert index or build-index")


def run(config: Config) -> None:
    """Answer until standard input ends.

    :raises MpbertError: the index cannot be read.
    :raises ModuleNotFoundError: the SDK is not installed.
    """
    check_installed("mcp")
    from mpbert.serving.assistant import create_assistant
    from mpbert.serving.live import LiveIndex

    create_assistant(LiveIndex.open(config.index)).run("stdio")
