"""The references section of an RFC: what its tags and series numbers stand for."""

import re
from collections.abc import Iterator, Mapping

RFC = re.compile(r"(?i)(?<![a-z])RFCs?[\s:#_-]{0,3}0*(\d{1,5})(?!\d)")
SERIES = re.compile(r"\b(STD|BCP|FYI)[\s:#-]{0,3}0*(\d{1,3})\b")
_ENTRY = re.compile(r"^\s{0,12}\[([^\[\]]{1,60})\](.*)$")
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_RELATED = re.compile(
    r"(?i)\(?(?:obsolete[sd]?|update[sd]?)(?: by)?:? (?:RFC ?\d+(?:, ?| and )?)+\)?"
)


def normalise_tag(tag: str) -> str:
    """Return the form in which a bracketed tag is compared: no spaces, no case."""
    return re.sub(r"\s+", "", tag).lower()


class RfcReferences:
    """The references section of one RFC: what its tags and series numbers stand for.

    :param number: its own.
    :param lines: lines of all its references sections.
    :param series: RFC ids of ``("STD", 13)`` and the like, known from metadata, which are of today.
    """

    def __init__(
        self, number: int, lines: list[str], series: Mapping[tuple[str, int], tuple[str, ...]]
    ) -> None:
        self.tags: dict[str, tuple[str, ...]] = {}
        self._number = number
        self._metadata_series = series
        self._series: dict[tuple[str, int], list[str]] = {}
        for tag, text in _entries(lines):
            ids = _ids_of_entry(tag, text)
            self.tags.setdefault(normalise_tag(tag), ids)
            for kind, number in SERIES.findall(f"{tag} {text}"):
                listed = self._series.setdefault((kind, int(number)), [])
                listed += [i for i in ids if i not in listed]
        self.paper_ids = tuple(dict.fromkeys(i for ids in self.tags.values() for i in ids))

    def of_series(self, kind: str, number: int) -> tuple[str, ...]:
        """RFC ids of a series number: those listed here with it, else those in the metadata.

        A later RFC, which joined the series since, cannot have been meant.
        """
        if listed := self._series.get((kind, number)):
            return tuple(listed)
        known = self._metadata_series.get((kind, number), ())
        return tuple(i for i in known if int(i.removeprefix("RFC")) < self._number)


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    tag, parts = "", []
    for line in lines:
        if match := _ENTRY.match(line):
            if tag:
                yield tag, " ".join(parts)
            tag, parts = match.group(1).strip(), [match.group(2).strip()]
        elif tag:
            parts.append(line.strip())
    if tag:
        yield tag, " ".join(parts)


def _ids_of_entry(tag: str, text: str) -> tuple[str, ...]:
    if match := re.fullmatch(r"(?i)RFC[\s:#_-]*0*(\d+)", tag.strip()):
        return (f"RFC{match.group(1)}",)
    text = _RELATED.sub(" ", text)
    numbers = RFC.findall(_QUOTED.sub(" ", text)) or RFC.findall(text)
    return tuple(dict.fromkeys(f"RFC{number}" for number in numbers))
