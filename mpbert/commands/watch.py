"""``watch``: a library and its index -> the index stays as the library is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.corpus.formats.base import READERS
from mpbert.foundation.config import option, positional
from mpbert.retrieval.stores.urls import changed_store_option


@dataclass(frozen=True)
class Config:
    """Follow a library: what is new, changed or gone there is in the index seconds later.

    An index that is not there is made first, as mpbert index makes it. It may be served meanwhile.
    """

    library: Path = positional("library", "papers: a file or a folder in any format that is read")
    index: Path = positional("index", "index of the library")
    reader: Optional[str] = option(
        None, "format of the library; without it, told from the files", choices=READERS.names()
    )
    grobid: Optional[str] = option(
        None, "address of a GROBID server to read the PDF files; without it, mpbert reads them"
    )
    store: str = changed_store_option()


def run(config: Config) -> None:
    """Follow the library until Ctrl+C or SIGTERM; print a line for each change.

    :raises CorpusError: there is no such library.
    :raises OutputError: another process follows a library for this index.
    :raises KeyboardInterrupt: SIGINT came; the index is whole.
    """
    from mpbert.foundation.errors import CorpusError, Terminated
    from mpbert.foundation.processes import ended_by_sigterm
    from mpbert.recommending.following.beside import make_index
    from mpbert.recommending.following.following import follow
    from mpbert.recommending.following.updating import Followed

    if not config.library.exists():
        raise CorpusError(f"{config.library}: no such file; expected a file or folder of papers")
    followed = Followed(
        config.library, config.index, config.reader, config.grobid or "", config.store
    )
    try:
        with ended_by_sigterm("stopped"):
            make_index(followed)
            print(f"following {config.library} for {config.index}; Ctrl+C stops", flush=True)
            follow(followed, lambda line: print(line, flush=True))
    except Terminated:
        print("stopped", flush=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped") from None
