"""A sentence of a raw text and the citation markers in it: what the parser of citations makes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker in a sentence, to be cut out of it.

    :param start: first character of the marker in the sentence's text.
    :param end: one past its last character.
    :param cited_ids: ids of the papers it cites that the reader could resolve; empty for a marker
        whose paper is unknown or outside the corpus (it is cut out all the same).
    """

    start: int
    end: int
    cited_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawSentence:
    """A sentence as a reader found it, markers included.

    :param page: of a PDF file on which it begins, from 1; 0: not known.
    """

    text: str
    markers: tuple[Marker, ...] = ()
    page: int = 0
