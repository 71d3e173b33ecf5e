"""validate: check a JSON Lines corpus and report every bad record with its line."""

from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.config import positional
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress

_SHOWN = 100  # problems printed; all are counted


@dataclass(frozen=True)
class Config:
    """Check a JSON Lines corpus: schema, UTF-8, unique ids, markers inside their sentences."""

    input: Path = positional("input", ".jsonl to check, plain or packed as .gz, .xz or .zst")


def run(config: Config) -> None:
    """Print what is wrong, one problem a line as ``path:line: found, expected``.

    :raises CorpusError: some record is bad, there is none, or the file cannot be read.
    """
    from mpbert.corpus.formats.jsonl import check_line
    from mpbert.corpus.raw.files import read_lines

    line_of: dict[str, int] = {}
    num_records = num_bad = num_problems = 0
    for line_number, line in progress(read_lines(config.input), "validate", "record"):
        record, problems = check_line(line)
        if not problems:
            first = line_of.setdefault(record["paper_id"], line_number)
            if first != line_number:
                paper_id = record["paper_id"]
                problems = [f"paper_id: found {paper_id!r} as on line {first}, expected unique ids"]
        for problem in problems[: max(0, _SHOWN - num_problems)]:
            print(f"{config.input}:{line_number}: {problem}")
        num_records += 1
        num_bad += bool(problems)
        num_problems += len(problems)
    if num_problems > _SHOWN:
        print(f"... and {num_problems - _SHOWN:,} more problems, not shown")
    if num_bad:
        raise CorpusError(
            f"{config.input}: {num_bad:,} of {num_records:,} records are bad "
            f"({num_problems:,} problems); correct the lines above and validate again"
        )
    if not num_records:
        raise CorpusError(f"{config.input}: found no records; expected one JSON object a line")
    print(f"{num_records:,} records, all good")
