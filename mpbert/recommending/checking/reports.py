"""Findings for programs that show them beside the text: SARIF 2.1.0, and commands of GitHub.

SARIF: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. GitHub's commands: what a step of a workflow
prints becomes an annotation, https://docs.github.com/actions/reference/workflow-commands.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import mpbert
from mpbert.recommending.checking.findings import KINDS, Finding

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_OF_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}


def sarif(findings: Sequence[Finding], folder: Path) -> dict[str, Any]:
    """Return a log of SARIF, whose files are named from the folder that the program runs in.

    :param folder: of the manuscript, from which findings name files.
    """
    rules = [
        {
            "id": kind,
            "shortDescription": {"text": means},
            "defaultConfiguration": {"level": severity},
        }
        for kind, (severity, means) in KINDS.items()
    ]
    driver = {"name": "mpbert", "version": mpbert.__version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, folder) for finding in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, folder: Path) -> dict[str, Any]:
    place = file_of(finding, folder)
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(place.as_posix())}}
    if place.is_absolute():
        location = {"artifactLocation": {"uri": place.as_uri()}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
    return {
        "ruleId": finding.kind,
        "ruleIndex": list(KINDS).index(finding.kind),
        "level": finding.severity,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
    }


def github(findings: Sequence[Finding], folder: Path) -> Iterator[str]:
    """Yield a line for each finding, which GitHub shows at its place; ``folder`` as of SARIF."""
    for finding in findings:
        place = _escaped(file_of(finding, folder).as_posix())
        place = place.replace(":", "%3A").replace(",", "%2C")
        line = "" if finding.line is None else f",line={finding.line}"
        kind = _OF_GITHUB[finding.severity]
        yield f"::{kind} file={place}{line},title={finding.kind}::{_escaped(finding.message)}"


def file_of(finding: Finding, folder: Path) -> Path:
    """Return the file of a finding: from the folder that the program runs in, if it lies there."""
    path = finding.path if finding.path.exists() else folder / finding.path
    here = Path.cwd()
    path = path.resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
