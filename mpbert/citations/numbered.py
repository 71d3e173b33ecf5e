"""Citations by number, ``[12]`` or ``[3, 5-7]``, and by label, ``[KR86]``."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpbert.citations.author_year import Citation
from mpbert.citations.names import fold
from mpbert.citations.printed_names import read_names_backwards
from mpbert.citations.references import Reference

_NUMBERS = re.compile(
    r"\[\s?(\d{1,3}(?:\s?[,;&–-]\s?\d{1,3})*)(?:\s?[,:;]\s?(?:pp?\.|page|ch|sec)[^\]\[]{0,20})?\s?\]"
)
_LABEL = r"[A-Z][A-Za-z+]{0,11}[-:' ]?\d\d(?:[a-h]|\d\d)?"
_LABELS = re.compile(rf"\[\s?({_LABEL}(?:\s?[,;]\s?{_LABEL})*)\s?\]")
_ONE_LABEL = re.compile(r"([A-Za-z+]+)[-:' ]?(\d{2,4})[a-h]?")
_LEAST_MARKERS, _LONGEST_RANGE = 3, 10


@dataclass(slots=True)
class NumberedCitation:
    """A bracket of numbers; ``start`` is where the names before it begin, if there are any."""

    start: int
    bracket: int
    end: int
    numbers: tuple[int, ...]
    before: Citation | None = None


def find_numbers(text: str) -> list[NumberedCitation]:
    """Return the brackets of a sentence that hold nothing but numbers from 1 on."""
    found: list[NumberedCitation] = []
    for match in _NUMBERS.finditer(text):
        numbers = expand_numbers(match.group(1))
        if not numbers or 0 in numbers:
            continue
        low = found[-1].end if found else 0
        high = len(text[: match.start()].rstrip())
        names, et_al = read_names_backwards(text, max(low, high - 120), high)
        before = Citation(names[0].start, high, names, et_al, None) if names else None
        found.append(NumberedCitation(match.start(), match.start(), match.end(), numbers, before))
    return found


def expand_numbers(printed: str) -> tuple[int, ...]:
    """Return the numbers of a printed list such as ``"3, 5-7"``, short ranges written out."""
    numbers: list[int] = []
    for part in re.split(r"\s?[,;&]\s?", printed):
        ends = [int(n) for n in re.split(r"\s?[–-]\s?", part)]
        if len(ends) == 2 and 0 < ends[1] - ends[0] < _LONGEST_RANGE:
            numbers += range(ends[0], ends[1] + 1)
        else:
            numbers += ends
    return tuple(dict.fromkeys(numbers))


def is_numbered(citations: Sequence[NumberedCitation], num_author_year: int) -> bool:
    """Return whether a paper cites by number.

    :param num_author_year: its citations by names and year that are certain.
    """
    numbers = {n for c in citations for n in c.numbers}
    return (
        len(citations) >= _LEAST_MARKERS
        and len(citations) > num_author_year
        and len(numbers) >= _LEAST_MARKERS
        and min(numbers) <= 3
    )


def learn_numbers(
    citations: Sequence[NumberedCitation], resolved: Mapping[int, str], known: Mapping[int, str]
) -> dict[int, str]:
    """Return which reference each number means.

    :param resolved: position in ``citations`` -> the one reference that the names before it mean.
    :param known: number -> reference, as read in the printed list; it wins.
    """
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    for place, paper_id in resolved.items():
        if len(citations[place].numbers) == 1:
            votes[citations[place].numbers[0]][paper_id] += 1
    learned: dict[int, str] = {}
    for number in sorted(votes):
        (paper_id, count), *others = votes[number].most_common()
        if not others or count > others[0][1]:
            learned[number] = paper_id
    times = Counter(learned.values())
    return {n: p for n, p in learned.items() if times[p] == 1} | dict(known)


def find_labels(
    text: str, references: Iterable[Reference]
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the spans of labels such as ``[KR86]`` or ``[Smi99]``, each with what it means."""
    found = []
    for match in _LABELS.finditer(text):
        ids: list[str] = []
        for letters, digits in _ONE_LABEL.findall(match.group(1)):
            fits = [r.paper_id for r in references if _fits(letters, digits, r)]
            ids += fits if len(fits) == 1 else []
        found.append((match.start(), match.end(), tuple(dict.fromkeys(ids))))
    return found


def _fits(letters: str, digits: str, reference: Reference) -> bool:
    if not str(reference.year).endswith(digits) or not reference.authors:
        return False
    last = [fold(author.split()[-1]) for author in reference.authors]
    letters = letters.rstrip("+")
    if letters.isupper() and len(letters) >= 2:
        initials = "".join(name[:1] for name in last)
        return initials.startswith(letters.lower()) and (
            len(last) == len(letters) or len(letters) >= 3
        )
    return len(letters) >= 3 and last[0].startswith(letters.lower())
