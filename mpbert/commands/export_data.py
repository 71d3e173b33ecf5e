"""``export-data``: corpus store -> the data of another program's benchmark."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import option, positional
from mpbert.foundation.manifest import is_reused, output_directory


@dataclass(frozen=True)
class Config:
    """Write the papers, queries and citations of a corpus as a folder of BEIR (MTEB, pyserini).

    The text of a paper is its abstract. A query is a citing sentence with its neighbours (local),
    or title and abstract of a paper (global), which is then to be left out of its own results.
    Sentences of validation and test that repeat another are left out.
    """

    corpus: Path = positional("corpus", "corpus store to read")
    output: Path = positional("output", "folder to write, a new directory")
    task: str = option("local", "queries are contexts, or whole papers (global)", choices=TASKS)


def run(config: Config) -> None:
    """Write the folder; print what is in it."""
    from mpbert.corpus.beir import write_beir
    from mpbert.corpus.store import CorpusStore

    if is_reused(config.output, "export-data", config, [config.corpus]):
        return
    with output_directory(config.output, "export-data", config, [config.corpus]) as out:
        out.counts.update(write_beir(CorpusStore(config.corpus), config.task, out.path))
    width = max(map(len, out.counts))
    for name, count in out.counts.items():
        print(f"{name:<{width}} {count:>10,}")
