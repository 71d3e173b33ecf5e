"""The passage of a paper that supports a place: the best sentence of its abstract and body."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mpbert.methods.lexical.bm25_formulas import idf
from mpbert.recommending.bodies import page_at, parts_of
from mpbert.recommending.directory import IndexData
from mpbert.recommending.passage_scores import PassageScores
from mpbert.recommending.records import Passage
from mpbert.recommending.sentence_codes import abstract_sentences, codes_of

_COMMON, _CONTENT = 0.9, 0.5  # a word that more papers hold is left out; is no content word
_STEMS = 1 << 16  # that are remembered by their columns
_TEXTS = 1 << 10  # that are remembered: an older index has no codes, 40 KB a body


class Evidence:
    """Finds passages in the abstracts and bodies of an index."""

    def __init__(self, data: IndexData) -> None:
        self._papers, self._bodies = data.tables.papers, data.tables.bodies
        self._stem = lru_cache(_STEMS)(data.vocabulary.__getitem__)
        self._offsets = data.lookup.word_offsets
        self._text = lru_cache(_TEXTS)(self._text_at)

    def passages(
        self, rows: np.ndarray, asked: tuple[np.ndarray, np.ndarray]
    ) -> list[Passage | None]:
        """Return the passage of each paper that supports a place best; None: none does.

        :param rows: (K,) of the papers.
        :param asked: (U,) columns of the stems of the question, and (U,) their counts.
        """
        scores = self._scores(*asked)
        if scores is None or not len(rows):
            return [None] * len(rows)
        texts = list(map(self._text, rows.tolist()))
        found = scores.bounds([text.codes for text in texts])
        return [_best(scores, text, *each) for text, each in zip(texts, found, strict=True)]

    def _scores(self, columns: np.ndarray, counts: np.ndarray) -> PassageScores | None:
        """Return what scores sentences for a question; None: it has no content word."""
        number = len(self._papers["year"])
        holding = self._offsets[columns + 1] - self._offsets[columns]
        is_told = holding <= _COMMON * number
        columns, counts, holding = columns[is_told], counts[is_told], holding[is_told]
        is_content = holding <= _CONTENT * number
        if not is_content.any():
            return None
        stems = list(map(self._stem, columns.tolist()))
        return PassageScores(stems, (1 + np.log(counts)) * idf(holding, number), is_content)

    def _text_at(self, row: int) -> "_PaperText":
        abstract, bodies = self._papers["abstract"], self._bodies
        body = memoryview(b"") if bodies is None else bodies["body"].encoded(row)
        if bodies is not None and "codes" in bodies:
            offsets, values = bodies["codes"].offsets, bodies["codes"].values
            codes = values[offsets[row] : offsets[row + 1]]
            if len(codes):
                return _PaperText(abstract.encoded(row), body, codes)
        sentences = abstract_sentences(self._papers["title"][row], abstract[row])
        codes = codes_of([*sentences, *parts_of(str(body, "utf-8"))])
        return _PaperText(memoryview(" ".join(sentences).encode()), body, codes)


class _PaperText(NamedTuple):
    """Abstract and body of a paper, in UTF-8.

    :param codes: of their words, see :mod:`mpbert.recommending.sentence_codes`.
    """

    abstract: memoryview
    body: memoryview
    codes: np.ndarray

    def sentence(self, sizes: np.ndarray, number: int) -> tuple[str, int]:
        """Return a sentence, and its first byte in the body; below 0: it is of the abstract.

        :param sizes: of all sentences.
        """
        before = int(sizes.sum()) - (len(self.body) + 1 if len(self.body) else 0)
        first, size = int(sizes[:number].sum()), int(sizes[number]) - 1
        if first < before:
            return str(self.abstract[first : first + size], "utf-8"), first - before
        first -= before
        return str(self.body[first : first + size], "utf-8"), first

    def page(self, first: int) -> int | None:
        """Return the page of a byte of the body; None: not known."""
        before = bytes(self.body[:first])
        if b"\f" not in before:
            return None
        text = before.decode()
        return page_at(text, len(text)) or None


def _best(
    scores: PassageScores, text: _PaperText, bounds: np.ndarray, sizes: np.ndarray
) -> Passage | None:
    """Return the best sentence of a text.

    Bounds give way to scores, from the highest on, until a score is the highest.

    :param bounds: (S,) of the scores of its sentences; changed. ``sizes`` of these.
    """
    read: dict[int, tuple[str, int, tuple[str, ...]]] = {}
    while len(bounds) and bounds[number := int(bounds.argmax())] > 0:
        if number in read:
            sentence, first, shared = read[number]
            where, page = ("abstract", None) if first < 0 else ("body", text.page(first))
            return Passage(sentence, where, page, shared, float(bounds[number]))
        sentence, first = text.sentence(sizes, number)
        bounds[number], shared = scores.read(sentence)
        read[number] = sentence, first, shared
    return None
