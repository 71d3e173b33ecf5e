"""Order of files and number of processes change no byte of a corpus store."""

from collections import Counter

import numpy as np
import pytest

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.links import link_papers
from mpbert.corpus.spill import sort_papers
from mpbert.corpus.tables import write_tables
from mpbert.foundation.engines import OwnProcesses
from tests.papers import record


@pytest.mark.parametrize("processes", [1, 2])
def test_the_order_of_files_and_records_changes_no_byte(tmp_path, processes):
    built = []
    for name, numbers in (("forth", range(40)), ("back", range(39, -1, -1))):
        folder, output = tmp_path / name, tmp_path / f"{name}.out"
        folder.mkdir(), output.mkdir()
        lines = [record(number) for number in numbers]
        for shard in range(4):
            text = "\n".join(lines[shard::4]) + "\n"
            (folder / f"{shard}.jsonl").write_text(text)
        counts: Counter[str] = Counter()
        papers = sort_papers(
            iter_clean_papers(READERS["jsonl"](), folder, OwnProcesses(processes), counts), output
        )
        links = link_papers(papers, "drop", counts)
        write_tables(output, papers, links, np.array(["train", "test"] * 20))
        files = {path.name: path.read_bytes() for path in sorted(output.iterdir())}
        built.append((files, counts))
    assert built[0] == built[1]
    assert len(built[0][0]) > 5
