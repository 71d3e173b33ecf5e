"""Search of titles as one types."""

from collections.abc import Sequence

from mpbert.corpus.text import words


class TitleIndex:
    """All titles, as lower-case words.

    :param titles: of N papers.
    """

    def __init__(self, titles: Sequence[str]) -> None:
        self._titles = ["".join(f" {word}" for word in words(title)) for title in titles]
        self._lengths = [len(title) for title in titles]

    def search(self, query: str, top: int) -> list[int]:
        """Return rows of titles that hold all words of the query, each as the start of a word.

        Those that begin with the query come first, then shorter ones, then by row.
        """
        parts = [f" {word}" for word in words(query)]
        if not parts:
            return []
        asked = "".join(parts)
        found = [
            (not title.startswith(asked), self._lengths[row], row)
            for row, title in enumerate(self._titles)
            if all(part in title for part in parts)
        ]
        return [row for _, _, row in sorted(found)[:top]]
