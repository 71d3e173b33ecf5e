"""Search of titles as one types."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.bags import spaced_words


class TitleIndex:
    """All titles, as lower-case words.

    :param titles: (N,) large strings.
    """

    def __init__(self, titles: pa.Array) -> None:
        self._titles = pc.binary_join_element_wise(
            *(pa.scalar("", pa.large_string()), spaced_words(titles)),
            pa.scalar(" ", pa.large_string()),
        )  # a space before every word
        self._lengths = pc.utf8_length(titles).to_numpy()

    def search(self, query: str, top: int) -> list[int]:
        """Return rows of titles that hold all words of the query, each as the start of a word.

        Those that begin with the query come first, then shorter ones, then by row.
        """
        asked = spaced_words(pa.array([query], pa.large_string()))[0].as_py()
        if not asked:
            return []
        holds = [pc.match_substring(self._titles, f" {word}") for word in asked.split(" ")]
        found = np.flatnonzero(
            np.logical_and.reduce([h.to_numpy(zero_copy_only=False) for h in holds])
        )
        titles = self._titles.take(pa.array(found))
        begins = pc.starts_with(titles, f" {asked}").to_numpy(zero_copy_only=False)
        return found[np.lexsort((found, self._lengths[found], ~begins))][:top].tolist()
