"""Where sentences stand in the text that they were read from, by words that both have."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_RUN = 3  # words in a row that both have
_NEAR = 16  # words that commands and keys may push them apart
_MOST = 50  # places of a run that are looked at


def locate(sentences: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Return the [start, end) of each sentence, as far as its runs of three words reach.

    Each run votes for where the sentence begins, and the place with the most votes wins. None where
    no run is found, as of a sentence of two words, or one of another file.
    """
    found = list(_WORD.finditer(text))
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, run in enumerate(_runs([match[0].lower() for match in found])):
        runs[run].append(place)
    spans: list[tuple[int, int] | None] = []
    for sentence in sentences:
        own = _runs([match[0].lower() for match in _WORD.finditer(sentence)])
        places = _places([runs.get(run, [])[:_MOST] for run in own])
        spans.append(
            (found[min(places)].start(), found[max(places) + _RUN - 1].end()) if places else None
        )
    return spans


def _places(found: Sequence[Sequence[int]]) -> list[int]:
    """Return where the runs of a sentence are, of each the place that agrees most with the others.

    :param found: of each run all its places.
    """
    begins = Counter(place - number for number, places in enumerate(found) for place in places)
    if not begins:
        return []
    groups: Counter[int] = Counter()
    for begin, votes in begins.items():
        for side in (-1, 0, 1):
            groups[begin // _NEAR + side] += votes
    best = max(begins, key=lambda begin: (groups[begin // _NEAR], begins[begin], -begin))
    nearest = [
        min((abs(place - number - best), place) for place in places)
        for number, places in enumerate(found)
        if places
    ]
    return [place for shift, place in nearest if shift <= _NEAR]


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[shift:] for shift in range(_RUN)), strict=False))
