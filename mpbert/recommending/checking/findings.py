"""What a check of a manuscript finds: one record for each thing to look at."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
# kind of a finding -> how severe it is, and what it means
KINDS: dict[str, tuple[Severity, str]] = {
    "undefined-key": ("error", "a key is cited that no bibliography defines"),
    "missing-bibliography": ("error", "a bibliography is named that is not there"),
    "unread-bibliography": ("error", "a bibliography cannot be read"),
    "broken-entry": ("warning", "an entry of a bibliography cannot be read"),
    "repeated-key": ("warning", "two entries have one key, of which the first counts"),
    "same-work": ("warning", "two entries are the same work"),
    "newer-than-manuscript": ("warning", "a cited paper appeared after the manuscript"),
    "doubtful-citation": ("warning", "a cited paper does not fit its sentence"),
    "unused-entry": ("note", "an entry of a bibliography is cited nowhere"),
}


@dataclass(frozen=True)
class Finding:
    """One thing to look at.

    :param kind: one of :data:`KINDS`.
    :param path: the file to look into, as it was named or from the folder of the manuscript.
    :param line: from 1; None where the file has no lines, or it is not known.
    :param key: that it is about; empty for none.
    :param other_key: of the other entry, or that was probably meant; empty for none.
    """

    kind: str
    path: Path
    line: int | None
    message: str
    key: str = ""
    other_key: str = ""

    @property
    def severity(self) -> Severity:
        """How severe it is: ``error``, ``warning`` or ``note``."""
        return KINDS[self.kind][0]

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.path}{line}: {self.severity}: {self.message} [{self.kind}]"

    def as_json(self) -> dict[str, Any]:
        """Return what ``check-citations --format json`` prints."""
        return {**asdict(self), "path": str(self.path), "severity": self.severity}
