"""The passage of a paper that supports a place: the sentence that shares most with the place.

    score(s) = Σ_w weight(w) / √max(letters of s, 120),   w: content words that s shares
    weight(w) = (1 + ln count of w in the question) · idf(w)

A content word is one that at most half of the papers of the index hold. A passage shares two of
them, or the one that the place has. How this was chosen: docs/confidence.md.
"""

import numpy as np

from mpbert.corpus.text import split_sentences, stem, words
from mpbert.methods.lexical.bm25 import idf
from mpbert.recommending.bodies import ENDS, page_at
from mpbert.recommending.directory import IndexData
from mpbert.recommending.records import Passage
from mpbert.recommending.word_search import WordSearch, characters_of, text_of

_LEAST = 2  # content words that a passage shares
_SHORT = 120  # letters; a shorter sentence is no better
_ENDS = ENDS.encode()


class Evidence:
    """Finds passages in the abstracts and bodies of an index."""

    def __init__(self, data: IndexData) -> None:
        self._papers, self._bodies = data.tables.papers, data.tables.bodies
        self._vocabulary, self._offsets = data.vocabulary, data.lookup.word_offsets

    def passages(
        self, rows: np.ndarray, asked: tuple[np.ndarray, np.ndarray]
    ) -> list[Passage | None]:
        """Return the passage of each paper that supports a place best; None: none does.

        :param rows: (K,) of the papers.
        :param asked: (U,) columns of the stems of the question, and (U,) their counts.
        """
        columns, weights = self._content(*asked)
        if not len(columns) or not len(rows):
            return [None] * len(rows)
        stems = [self._vocabulary[column] for column in columns]
        forms = {form: number for number, each in enumerate(stems) for form in _forms(each)}
        numbers = np.fromiter(forms.values(), np.int64)
        texts = list(map(self._text, rows.tolist()))
        found = WordSearch(list(forms)).find([text.characters for text in texts])
        found = [(starts, numbers[which]) for starts, which in found]
        chosen = _best([text.ends for text in texts], found, weights)
        return [
            text.passage(number, score, set(stems)) if score else None
            for text, number, score in zip(texts, *chosen, strict=True)
        ]

    def _content(self, columns: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (F,) columns of the content words of a question, and (F,) their weights."""
        number = len(self._papers["year"])
        holding = self._offsets[columns + 1] - self._offsets[columns]
        is_content = 2 * holding <= number
        weights = (1 + np.log(counts)) * idf(holding, number)
        return columns[is_content], weights[is_content]

    def _text(self, row: int) -> "_PaperText":
        """Return abstract and body; an abstract that is the title alone tells nothing."""
        abstract, title = self._papers["abstract"][row], self._papers["title"][row]
        sentences = [] if abstract.rstrip(".") == title.rstrip(".") else split_sentences(abstract)
        first = "".join(f"{sentence}\n" for sentence in sentences)
        body = b"" if self._bodies is None else self._body(row)
        return _PaperText(characters_of(b"".join((first.encode(), body, b"\n"))), len(sentences))

    def _body(self, row: int) -> bytes:
        column = self._bodies["body"]
        body: bytes = column.letters[column.offsets[row] : column.offsets[row + 1]].tobytes()
        if any(end in body for end in _ENDS):
            return body
        return "\n".join(split_sentences(body.decode())).encode()  # of an older index


class _PaperText:
    """Abstract and body of a paper.

    :param characters: (C,) of all sentences, with an end behind each.
    :param of_abstract: sentences of the abstract.
    :ivar ends: (S,) places of the ends; a form feed may end a sentence that is empty.
    """

    def __init__(self, characters: np.ndarray, of_abstract: int) -> None:
        self.characters, self._of_abstract = characters, of_abstract
        self.ends = np.flatnonzero((characters >= 10) & (characters <= 12))

    def passage(self, number: int, score: float, stems: set[str]) -> Passage:
        """Return a sentence by its number, and its words that have one of some stems."""
        start = int(self.ends[number - 1]) + 1 if number else 0
        text = text_of(self.characters[start : self.ends[number]])
        shared = dict.fromkeys(word for word in words(text) if stem(word) in stems)
        if number < self._of_abstract:
            return Passage(text, "abstract", None, tuple(shared), score)
        page = page_at(text_of(self.characters[:start]), start)
        return Passage(text, "body", page or None, tuple(shared), score)


def _best(
    ends: list[np.ndarray], found: list[tuple[np.ndarray, np.ndarray]], weights: np.ndarray
) -> tuple[list[int], list[float]]:
    """Return the number of the best sentence of each text, and its score; 0: it shares too little.

    :param ends: (S,) of the sentences of each text.
    :param found: where content words begin in each, and their numbers.
    :param weights: (F,) of content words.
    """
    sizes = list(map(len, ends))
    firsts = np.cumsum([0, *sizes[:-1]])
    places = zip(firsts, ends, found, strict=True)
    sentences = np.concatenate([n + np.searchsorted(own, starts) for n, own, (starts, _) in places])
    shares = np.zeros((sum(sizes), len(weights)), dtype=bool)
    shares[sentences, np.concatenate([which for _, which in found])] = True
    sentences, which = np.divmod(np.flatnonzero(shares), len(weights))
    lengths = np.concatenate([np.diff(each, prepend=0) for each in ends])
    sums = np.bincount(sentences, weights[which], len(shares))
    scores = sums / np.sqrt(np.maximum(lengths, _SHORT))
    scores[np.bincount(sentences, minlength=len(shares)) < min(_LEAST, len(weights))] = 0
    of_each = np.split(scores, firsts[1:])
    best = [int(np.argmax(own)) for own in of_each]
    return best, scores[firsts + best].tolist()


def _forms(of_stem: str) -> list[str]:
    """Return the words that have a stem."""
    forms = of_stem, f"{of_stem}s", f"{of_stem[:-1]}ies"
    return [form for form in forms if stem(form) == of_stem]
