"""Names of authors as files give them: several in one field, or one that has "and" in it."""

import re

from mpbert.foundation.lazy_patterns import lazy_re

_BETWEEN = lazy_re(r"(?:\s*,)?\s+and\s+|\s*;\s*", re.IGNORECASE)
_OTHERS = lazy_re(r"(?:^|,?\s+)(?:and\s+others|et\s+al\b\.?)$", re.IGNORECASE)
_MOST_FULL = 4
_NAME = lazy_re(r"(?:[^\W\d_a-z][\w'’]*[.-]?)+")  # Ann, B., J.-P., O'Neil
_NO_NAME = lazy_re(
    r"\b(?:abstract|appendix|chapter|contents|documentation|draft|edition|faculty|guide|insti\w*"
    r"|introduction|january|february|march|april|june|july|august|september|october|november"
    r"|december|manual|package|page|preprint|reference|release|report|revision|section|street"
    r"|summary|supplement\w*|table|the|thesis|user\w*|version|volume|of|for|in|on|with|to|a|an)\b",
    re.IGNORECASE,
)
_COMMA = lazy_re(r"\s*,\s*")
_PARTICLES = frozenset(
    "al ben da das de del della den der di dos du el la le ten ter van von".split()
)
# a name with one of these is that of a group
GROUP = lazy_re(
    r"\b(?:academy|administration|agency|alliance|association|authority|board|bureau|cent(?:er|re)"
    r"|college|commission|committee|companies|company|consortium|corporation|corps|council"
    r"|department|development|division|education|engineering|federal|federation|forum|foundation"
    r"|group|health|inc|initiative|institut|institute|institutes|institution|international"
    r"|laboratories|laboratory|labs?|ll[cp]|ltd|medicine|ministry|national|network|office|organi[sz]ation"
    r"|partnership|partners|plc|prevention|press|program|programme|project|research|royal|school"
    r"|sciences?|services?|society|standards|statistics|systems|task force|team|technology|trust"
    r"|union|united|university|working)\b",
    re.IGNORECASE,
)

# a last name before its initials: "van Dijk J.-P.", "Smith JA", "Ivanov II", and no "John Smith II"
INITIALS_LAST = lazy_re(
    r"(?!.* (?:[JS]r\.?|\S+ I[IV]{1,2})$)"
    r"(.+?) ((?:[^\W\d_]{1,2}\.-?\s?)+|[A-Z]{1,3}(?:[ -][A-Z])*)",
)


def persons(name: str) -> tuple[str, ...]:
    """Return the persons that a field names: ``Rada Mihalcea and Dan Moldovan`` are two.

    A group stays one, such as "Barnes and Noble" or "Centers for Disease Control and Prevention":
    each part must have a last name and a given one, and no word of groups.
    """
    name = _OTHERS.sub("", " ".join(name.split()))
    parts = [part for part in _BETWEEN.split(name) if part]
    if len(parts) > 1 and not GROUP.search(name):
        listed = [person for part in parts for person in _listed(part)]
        if all(map(_is_person, listed)):
            return tuple(listed)
    return (name,) if name else ()


def is_full_name(text: str) -> bool:
    """Whether a text is the name of one person, with given names before the last one, and no more.

    Four words without an initial may be two persons, as papers print them side by side.
    """
    words = text.split()
    full = [word for word in words if len(word.strip(".")) > 1 and word.lower() not in _PARTICLES]
    is_name = all(word.lower() in _PARTICLES or _NAME.fullmatch(word) for word in words)
    is_plain = not GROUP.search(text) and not _NO_NAME.search(text)
    return is_plain and is_name and len(full) < _MOST_FULL and _is_person(text)


def _listed(part: str) -> list[str]:
    """Return full names that commas join; a last name before its given ones is one name."""
    names = [name for name in _COMMA.split(part) if name]
    return names if len(names) > 1 and all(" " in name for name in names) else [part]


def _is_person(name: str) -> bool:
    words = [word for word in _COMMA.sub(" ", name).split() if word.lower() not in _PARTICLES]
    return 2 <= len(words) <= 4 and all(word[0].isalpha() and not word.islower() for word in words)
