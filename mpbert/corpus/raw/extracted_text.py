"""Sentences extracted from PDF files: joined where they were split wrongly, junk recognised."""

import re
from collections.abc import Sequence

_NO_END = re.compile(
    r"(?:\bet\.?\s?al\.?|\b(?:cf|e\.\s?g|i\.\s?e|[Ff]igs?|[Ee]qs?|[Ss]ect?s?|pp|ca|vs|viz|Jr|Dr|Mr|Prof|St|resp|approx|[Cc]h|[Vv]ol|[Nn]o)\."
    r"|(?<![\w.])[A-Z]\.|[,(\[&]|\b(?:and|by|in|of|the|see))$"
)
_YEAR_FIRST = re.compile(r"[(\[]{0,2}\s?(?:1[89]|20)\d\d[a-h]?\s?[;,)\]]")
_LONGEST_JOINED, _LONGEST_OPEN = 1200, 250
_ABSTRACT = re.compile(r"\W*(?:\d\W*)?(?:a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary)\W*$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"\W*\d{1,4}\W*$")
_RUNNING = re.compile(
    r"\W*\d*\s*(?:(?:In:?\s)?Proceedings of (?:the|[A-Z]).{0,250}(?:pages?|pp\.?)\s?\d"
    r"|.{0,20}Association for Computational Linguistics\W*$"
    r"|(?:\(c\)|c|©|Copyright).{0,6}(?:1[89]|20)\d\d\b.{0,120}$"
    r"|Proceedings of (?:the|[A-Z])[^.]{0,160}(?:1[89]|20)\d\d\b.{0,60}$"
    r"|Volume \d+, Number \d+\W*$)"
)
_RUNNING_TAIL = re.compile(
    r"\bc?\W{1,3}(?:1[89]|20)\d\d,? Association for Comp"
    r"|\bpages \d+\s?[–-]\s?\d+,\s.{0,60}(?:19|20)\d\d"
    r"|Computational Linguistics,? Volume \d+, Number"
)
_RUNNING_HINTS = ("Proceedings", "Association for", "Copyright", "©", "(c)", "Volume", "pages")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SEARCHED = 400  # characters of a sentence in which words are looked for


def join_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the sentences, joined where a split fell into a citation or after an abbreviation.

    ``["by McDonald et al.", "(2005b), obtain"]`` becomes one sentence.
    """
    joined: list[str] = []
    for sentence in sentences:
        sentence = sentence.strip()
        if not sentence:
            continue
        if joined and len(joined[-1]) + len(sentence) < _LONGEST_JOINED:
            if goes_on(joined[-1], sentence):
                joined[-1] += " " + sentence
                continue
        joined.append(sentence)
    return joined


def goes_on(before: str, after: str) -> bool:
    """Return whether the first of two sentences ends inside a citation or after an abbreviation."""
    if _NO_END.search(before[-12:]) or _YEAR_FIRST.match(after):
        return True
    opened = before.rfind("(")
    if opened > before.rfind(")") and len(before) - opened < _LONGEST_OPEN:
        return -1 < after.find(")") < _LONGEST_OPEN
    opened = before.rfind("[")
    if opened > before.rfind("]") and len(before) - opened < _LONGEST_OPEN:
        return -1 < after.find("]") < _LONGEST_OPEN
    if before.endswith(("?", "?)")):  # a question mark may be a lost quotation mark or accent
        return after[0].islower() or (after[0] == "?" and after[1:2].islower())
    return False


def page_junk(sentence: str) -> str | None:
    """Return what a line of the page's frame is, or None where it is text."""
    if _PAGE_NUMBER.match(sentence) and not _YEAR_FIRST.match(sentence):
        return "page_numbers"
    if len(sentence) < 300 and any(hint in sentence for hint in _RUNNING_HINTS):
        if _RUNNING.match(sentence) or _RUNNING_TAIL.search(sentence):
            return "running_headers"
    return None


def debris(sentence: str) -> str | None:
    """Return what is left of a formula, table or figure here, or None where it is text."""
    first = _WORD.search(sentence, 0, _SEARCHED)
    if not first:
        return "debris_without_words"
    return None if _WORD.search(sentence, first.end(), _SEARCHED) else "single_words"


def is_abstract_heading(heading: str, index: int) -> bool:
    """Return whether a section is the abstract: by its heading, or as the first one without any."""
    return _ABSTRACT.match(heading) is not None or (not heading and index == 0)
