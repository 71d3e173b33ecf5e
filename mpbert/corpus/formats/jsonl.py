"""Reader of JSON Lines, the interchange form: one paper a line, as ``jsonl.schema.json`` says."""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from mpbert.citations.records import Marker, RawSentence
from mpbert.corpus.formats.base import READERS, Reader
from mpbert.corpus.published import Publication
from mpbert.corpus.raw.files import read_lines, walk
from mpbert.corpus.raw.identifiers import plain_doi
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.splits import YearSplits
from mpbert.foundation.errors import CorpusError


@READERS.register
class JsonlReader(Reader):
    """Reads ``.jsonl`` or a folder of such files; markers are given, nothing is guessed."""

    name = "jsonl"
    default_splits = YearSplits(valid_year=2012, test_year=2013)

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place as ``path:line``, line as bytes)."""
        for shard in walk(path, (".jsonl",)):
            for line_number, line in read_lines(shard):
                yield f"{shard}:{line_number}", line

    def parse(self, record: object) -> RawPaper:
        """Return the paper of a line.

        :raises CorpusError: with the first problem of the line.
        """
        place, line = record
        paper, problems = check_line(line)
        if problems:
            raise CorpusError(
                f"{place}: {problems[0]}; mpbert validate lists all bad records with their lines"
            )
        return _raw_paper(paper)


def check_line(line: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return the record of a line and all that is wrong with it, each as "found, expected"."""
    try:
        record = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        return {}, [f"found broken UTF-8 at byte {error.start} of the line, expected UTF-8"]
    except (ValueError, RecursionError) as error:
        return {}, [f"found no JSON ({error}), expected one JSON object"]
    problems = [_describe(error) for error in _validator().iter_errors(record)]
    return record, problems or _marker_problems(record)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # takes a moment

    schema = json.loads(files(__package__).joinpath("jsonl.schema.json").read_text("utf-8"))
    return Draft202012Validator(schema)


def _describe(error: Any) -> str:
    place = error.json_path.removeprefix("$").lstrip(".") or "record"
    message = error.message if len(error.message) < 200 else error.message[:200] + " …"
    return f"{place}: found {message}" if error.validator == "required" else f"{place}: {message}"


def _marker_problems(record: dict[str, Any]) -> list[str]:
    places = {"abstract": record.get("abstract", [])}
    for number, section in enumerate(record.get("sections", [])):
        places[f"sections[{number}].sentences"] = section["sentences"]
    problems = []
    for place, sentences in places.items():
        for number, sentence in enumerate(sentences):
            if isinstance(sentence, str):
                continue
            last, length = 0, len(sentence["text"])
            for marker in sentence.get("markers", []):
                start, end = marker["start"], marker["end"]
                if not last <= start < end <= length:
                    problems.append(
                        f"{place}[{number}]: found a marker from {start} to {end}, expected "
                        f"{last} <= start < end <= {length}, the length of the text"
                    )
                last = max(last, end)
    return problems


def _raw_paper(record: dict[str, Any]) -> RawPaper:
    return RawPaper(
        paper_id=record["paper_id"],
        title=record["title"],
        year=int(record["year"]),
        abstract=_sentences(record.get("abstract", [])),
        sections=tuple(
            RawSection(section.get("heading", ""), _sentences(section["sentences"]))
            for section in record.get("sections", [])
        ),
        authors=tuple(record.get("authors", [])),
        venue=record.get("venue", ""),
        references=tuple(record.get("references", [])),
        published=Publication(doi=plain_doi(record.get("doi", ""))),
    )


def _sentences(sentences: list[Any]) -> tuple[RawSentence, ...]:
    return tuple(
        RawSentence(sentence)
        if isinstance(sentence, str)
        else RawSentence(
            sentence["text"],
            tuple(
                Marker(int(marker["start"]), int(marker["end"]), tuple(marker.get("cited_ids", [])))
                for marker in sentence.get("markers", [])
            ),
        )
        for sentence in sentences
    )
