"""Lists of names in running text, read backwards: ``Briscoe, de Paiva, and Copestake``."""

import re
from dataclasses import dataclass, replace

from mpbert.citations.names import PARTICLES, fold
from mpbert.foundation.lazy_patterns import lazy_re

_LETTERS = r"[\w'’`´¨ˆ^ˇ˜~?\ufffd]*"  # accents that extraction put beside their letters
_TOKEN = lazy_re(
    rf"(?:[dDlLO]['’`]\s?)?[^\W\d_?]{_LETTERS}(?:-\s?[^\W\d_]{_LETTERS})*\.?"
    r"|\?[a-z][\w?]*(?:-[A-Z]\w*)?|['’?]s?(?=\s|$)|\S"
)
# words that begin with a capital and are no names
_STOP = frozenset(
    """
    the in see using following while as although both by for from with unlike like since when
    however recently also furthermore moreover but or if then this these that our we section
    sections table tables may march figure figures fig chapter task treebank corpus january
    february april june july august september october november december spring summer autumn
    fall winter acl emnlp conll coling naacl eacl trec muc duc tac senseval semeval nist wmt
    iwslt lrec clef ntcir hlt ijcnlp proceedings conference workshop university press journal
    linguistics language version release wordnet framenet verbnet propbank windows until before
    after between during around about circa early late mid a an at on of to is are it they he
    she his her their its not all some many most other others similarly additionally finally
    thus hence here there where such according each two three more equation equations eq example
    examples appendix algorithm step part parts phase model models system systems method theorem
    lemma definition note footnote pages page vol volume no later first second third
    """.split()
)
# words that are names of authors too: taken for such after "and", before "et al." and in brackets
_NAMES_TOO = frozenset("may march he page an to on so see her long part all early".split())
_BEFORE_NAME = ("(", "[", ";", "and", "&")
_CONNECTORS = (",", "and", "&", "und")
_GENERATION = ("jr.", "jr", "sr.", "iii", "ii", "iv")
_POSSESSIVE = ("'s", "’s", "?s", "'", "’", "?", "`")
_AL = lazy_re(r"a[l1]s?\.?(?:['’`]s?)?", re.IGNORECASE)
_ET = ("et", "el", "er", "ct", "e", "at")  # as extraction spells it
_COLLEAGUES = ("colleagues", "others", "coworkers", "associates")
_MOST_NAMES, _MOST_WORDS = 9, 3


@dataclass(frozen=True, slots=True)
class Name:
    """A printed name: its folded words, and where it and they start.

    :param follows_and: it is the last of a list, as Lin in "Pantel and Lin".
    """

    words: tuple[str, ...]
    start: int
    word_starts: tuple[int, ...] = ()
    follows_and: bool = False


def _is_initials(token: str) -> bool:
    return len(token) <= 2 and token[0].isupper() and (len(token) == 1 or token[1] == ".")


def _is_name(token: str, is_likely: bool) -> bool:
    if not (token[0].isupper() or (token[0] == "?" and len(token) > 3)):
        return False
    folded = fold(token)
    if len(folded) < 2 or _is_initials(token):
        return False
    return folded not in _STOP or (is_likely and folded in _NAMES_TOO)


def read_names_backwards(text: str, low: int, high: int) -> tuple[tuple[Name, ...], bool]:
    """Read the list of names that ends at ``high``.

    :param low: where to stop at the latest.
    :returns: names in reading order, none where the text there is no list of names; and whether
        "et al." closes them.
    """
    tokens = [(m.group(), m.start() + low) for m in _TOKEN.finditer(text[low:high])]
    place = len(tokens) - 1
    while place >= 0 and tokens[place][0] in _POSSESSIVE:
        place -= 1
    before_et_al = _before_et_al(tokens, place)
    et_al = before_et_al != place
    place = before_et_al
    names: list[Name] = []
    while place >= 0 and len(names) < _MOST_NAMES:
        if names or et_al:  # a connector must stand between two names
            connected = place
            while place >= 0 and tokens[place][0] in _CONNECTORS:
                place -= 1
            if names and connected == place:
                break
            if names and any(token != "," for token, _ in tokens[place + 1 : connected + 1]):
                names[-1] = replace(names[-1], follows_and=True)
        last = place
        name, place = _read_name(tokens, place, bool(names) or et_al)
        if name is None and et_al and not names:  # "et al." makes a name of whatever stands there
            name, place = _any_name(tokens, last)
        if name is None:
            break
        names.append(name)
    return tuple(reversed(names)), et_al


def _before_et_al(tokens: list[tuple[str, int]], place: int) -> int:
    """Return the place before "et al." or "and colleagues" that ends at a place, or that place."""
    last = place
    if place >= 1 and tokens[place][0] == "." and _AL.fullmatch(tokens[place - 1][0]):
        place -= 1
    if place >= 1 and _AL.fullmatch(tokens[place][0]):
        if tokens[place - 1][0].lower().rstrip(".") in _ET:
            return place - 2
        if place >= 2 and tokens[place - 1][0] == "." and tokens[place - 2][0].lower() == "et":
            return place - 3
    elif place >= 0 and tokens[place][0].lower().rstrip(".") == "etal":
        return place - 1
    elif place >= 0 and tokens[place][0].lower().rstrip("'’") in _COLLEAGUES:
        place -= 1
        while place >= 0 and tokens[place][0] in ("his", "her", "their", "co", "-"):
            place -= 1
        if place >= 1 and tokens[place][0] in ("and", "&"):
            return place - 1
    return last


def _read_name(
    tokens: list[tuple[str, int]], place: int, is_likely: bool
) -> tuple[Name | None, int]:
    while place >= 1 and (
        tokens[place][0].lower() in _GENERATION or _is_initials(tokens[place][0])
    ):
        place -= 1  # "Smith, J." and "Smith Jr."
        if tokens[place][0] == ",":
            place -= 1
    is_likely = is_likely or (place >= 1 and tokens[place - 1][0] in _BEFORE_NAME)
    if place < 0 or not _is_name(tokens[place][0], is_likely):
        return None, place
    words, starts = [fold(tokens[place][0])], [tokens[place][1]]
    start = starts[0]
    place -= 1
    while place >= 0:
        token, token_start = tokens[place]
        if token.lower() in PARTICLES or (
            len(words) < _MOST_WORDS and _is_name(token, False) and token[-1] != "."
        ):
            words.append(fold(token))
            starts.append(token_start)
        elif not _is_initials(token) and token != "-":
            break
        start = token_start
        place -= 1
    while len(words) > 1 and words[-1] in ("i", "y", "d", "do", "la", "le"):
        words.pop()
        start = starts[-2]
        starts.pop()
    return Name(tuple(reversed(words)), start, tuple(reversed(starts))), place


def _any_name(tokens: list[tuple[str, int]], place: int) -> tuple[Name | None, int]:
    if place < 0 or len(fold(tokens[place][0])) < 3:
        return None, place
    token, start = tokens[place]
    return Name((fold(token),), start, (start,)), place - 1


def names_near(text: str, low: int, high: int) -> tuple[Name, ...]:
    """Return each capitalised word as a name, for a year that stands apart from its names."""
    found = []
    for token in _TOKEN.finditer(text, low, high):
        if _is_name(token.group(), False):
            found.append(Name((fold(token.group()),), token.start(), (token.start(), token.end())))
    return tuple(found)
