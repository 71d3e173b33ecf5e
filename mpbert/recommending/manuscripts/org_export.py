"""What Org exports: not trees tagged ``:noexport:`` or headed ``COMMENT``."""

import re

_HEADING = re.compile(
    r"^(?P<stars>\*+)[ \t]+(?:(?:TODO|DONE)[ \t]+)?(?:\[#\w\][ \t]+)?(?P<comment>COMMENT\b)?"
    r"[^\n]*?(?:[ \t]:(?P<tags>[\w@#%:]+):)?[ \t]*$",
    re.MULTILINE,
)
_EXCLUDED = re.compile(r"^[ \t]*#\+exclude_tags:(.*)$", re.MULTILINE | re.IGNORECASE)


def unexported_spans(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of trees that Org does not export, in order."""
    named = {tag for tags in _EXCLUDED.findall(text) for tag in re.split(r"[\s:]+", tags) if tag}
    excluded = (named or {"noexport"}) | {"ARCHIVE"}
    spans, start, depth = [], 0, 0  # of the tree that is left out
    for heading in _HEADING.finditer(text):
        level = len(heading["stars"])
        if depth and level > depth:
            continue
        if depth:
            spans.append((start, heading.start()))
        tags = (heading["tags"] or "").split(":")
        is_out = heading["comment"] or not excluded.isdisjoint(tags)
        start, depth = heading.start(), level if is_out else 0
    return [*spans, (start, len(text))] if depth else spans


def exported(text: str) -> str:
    """Return a text without trees that Org does not export."""
    pieces, last = [], 0
    for start, end in unexported_spans(text):
        pieces.append(text[last:start])
        last = end
    return "".join([*pieces, text[last:]])
