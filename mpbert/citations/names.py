"""Names of authors as papers print them: folded to plain letters and compared leniently.

Text from PDF files spoils names: ``M?rquez``, ``Mu¨ller``, ``Al-tun`` at a line's end. Everything
here works on *folded* names: lower case, letters a to z only.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_SPECIAL = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d", "ð": "d", "þ": "th"}
)
_UMLAUT = re.compile(r"(?<=[aou])e(?=[a-z])")
_GENERATION = {"jr", "sr", "ii", "iii", "iv"}
PARTICLES = frozenset(
    """abu al bin d da das de del della den der di do dos du el i la le st ten ter van von y
    zu""".split()
)
_REMEMBERED = 1 << 13  # names, or pairs of names: those of a paper come again and again


@lru_cache(maxsize=_REMEMBERED)
def fold(name: str) -> str:
    """Return a name in plain lower-case letters: ``"Màrquez's"`` -> ``"marquez"``.

    A question mark inside stays: it stands for letters that were lost.
    """
    name = re.sub(r"['’`]s?$", "", name.strip().rstrip(".,")).replace("\ufffd", "?")
    plain = unicodedata.normalize("NFKD", name.lower().translate(_SPECIAL))
    return re.sub(r"[^a-z?]", "", plain).rstrip("?")


def last_names(author: str) -> tuple[str, ...]:
    """Return the folded forms under which an author may be cited, the likeliest first.

    ``"Gertjan van Noord"`` gives ``("noord", "vannoord", "gertjan")``: the last word, longer
    endings of the name, then its other full words, for names written family name first.
    """
    words = [folded for word in re.split(r"[\s]+", author) if (folded := fold(word))]
    while len(words) > 1 and words[-1] in _GENERATION:
        words.pop()
    if not words or words[0] in _GENERATION:  # "III" stands as an author of its own in some lists
        return ()
    forms = [words[-1]]
    forms += ["".join(words[start:]) for start in range(len(words) - 2, 0, -1)]
    forms += [part for part in map(fold, author.split()[-1].split("-")) if len(part) > 3]
    forms += [word for word in words[:-1] if len(word) > 2 and word not in PARTICLES]
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=_REMEMBERED)
def is_same_name(printed: str, known: str) -> bool:
    """Return whether a folded name in the text may be the folded name of an author.

    A letter may be missing, doubled or swapped in names of six letters and more, or be another in
    those of seven and more; umlauts may be written with e; a question mark stands for up to two
    letters.
    """
    if printed == known:
        return True
    if len(printed) < 3 or len(known) < 3:
        return False
    if "?" in printed:
        pattern = "[a-z]{0,2}".join(printed.split("?"))
        return len(printed.replace("?", "")) >= 3 and re.fullmatch(pattern, known) is not None
    if _UMLAUT.sub("", printed) == _UMLAUT.sub("", known):
        return True
    return min(len(printed), len(known)) >= 5 and _is_misspelt(printed, known)


def _is_misspelt(first: str, second: str) -> bool:
    if len(first) > len(second):
        first, second = second, first
    if len(second) - len(first) > 1 or len(second) < 6:
        return False
    start = 0
    while start < len(first) and first[start] == second[start]:
        start += 1
    if len(first) < len(second):
        return first[start:] == second[start + 1 :]
    if first[start + 1 :] == second[start + 1 :]:
        return len(first) >= 7
    swapped = first[start : start + 2] == second[start : start + 2][::-1]
    return swapped and first[start + 2 :] == second[start + 2 :]


def is_author(printed: Sequence[str], forms: Sequence[str]) -> bool:
    """Return whether one printed name, as folded words, is an author with these forms.

    :param printed: words of the name, such as ``["van", "noord"]`` or ``["della", "pietra"]``.
    :param forms: what :func:`last_names` gives.
    """
    if not printed or not forms:
        return False
    joined = "".join(printed)
    if any(is_same_name(joined, form) for form in forms):
        return True
    if len(printed) == 1:
        return False
    main = forms[0]
    return is_same_name(printed[-1], main) or any(
        is_same_name(word, main) for word in printed if len(word) > 3
    )
