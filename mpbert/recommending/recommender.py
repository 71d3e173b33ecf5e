"""The recommender: a place in a text -> ranked papers, and why."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.bibliography import known_papers
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.manuscripts.files import draft_with_text, read_manuscript_file
from mpbert.recommending.manuscripts.project import root_of
from mpbert.recommending.manuscripts.sentences import manuscript_of, whole_sentences, with_place
from mpbert.recommending.options import Options, Wanted
from mpbert.recommending.places import PlaceRecommender, Places

if TYPE_CHECKING:  # what a question for papers need not wait for
    from mpbert.recommending.checking.checking import CheckedManuscript
    from mpbert.recommending.unmarked.finding import UnmarkedSentence


class Recommender(AnsweringIndex):
    """Recommends papers of an index for a place in a text; it needs no corpus and no training.

    >>> from mpbert import Recommender
    >>> recommender = Recommender("runs/index/rfc")
    >>> papers = recommender.recommend("Names of hosts are resolved by the domain system", top=3)
    >>> [len(papers), papers[0].year > 1980, len(papers[0].authors) > 0]
    [3, True, True]

    Options of all answers are the fields of :class:`mpbert.recommending.options.Options`: ``top``,
    ``year``, ``accepted`` and ``ranker``.

    :param path: index made by ``mpbert index`` or ``mpbert build-index``.
    :param store: URL of a store that proposes papers by their vectors, and is brought up to date
        first; empty: the vectors are searched here.
    :raises IndexFormatError: it is no index, of another version, or damaged.
    :raises EncoderError: its encoder is damaged.
    :raises StoreUnavailableError: the store does not answer; so do all answers then.
    """

    def __init__(self, path: str | Path, store: str = "") -> None:
        self.path = Path(path)
        index = self.path.resolve() if self.path.is_symlink() else self.path  # one, all along
        if store:
            from mpbert.recommending.stored import read_stored  # few ask one

            data, near = read_stored(index, store)
        else:
            data, near = read_index(index), None
        super().__init__(data, encoder_of_index(index, data), near)

    def __repr__(self) -> str:
        return f"Recommender({str(self.path)!r}): {len(self):,} papers"

    def recommend(
        self,
        text: str,
        place: int | None = None,
        title: str = "",
        abstract: str = "",
        **options: Unpack[Wanted],
    ) -> Recommendations:
        """Return papers for a place in a text, best first.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> text = "Mail is routed by names. Names are resolved by servers. It is slow."
        >>> found = recommender.recommend(text, place=text.index(" Names"), top=5, year=2000)
        >>> len(found), max(paper.year for paper in found) <= 2000
        (5, True)

        A text that seems to be in another language than the papers is a ``UserWarning``, too.

        :param text: the manuscript around the place; of a long one, the 10,000 characters before.
        :param place: a citation belongs before this character of ``text``, counted from 0 in
            Unicode code points; None for its end.
        :param title: of the manuscript, and ``abstract``; both are read as in training.
        :param options: see :class:`mpbert.recommending.options.Options`.
        :raises ManuscriptError: the place is outside of the text, or there is no word.
        :raises UnknownPaperError: an accepted paper is not in the index.
        :raises ConfigError: an option cannot be, or there are no vectors for ``dense``.
        """
        return _warned(self.answer(self.asked(text, place, title, abstract, **options)))

    def recommend_whole(
        self, title: str, abstract: str = "", **options: Unpack[Wanted]
    ) -> Recommendations:
        """Return papers to read for a whole paper, best first.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> found = recommender.recommend_whole("Routing of mail", "Mail is routed by names.")
        >>> len(found)
        10

        :param title: of the paper, and ``abstract``; one of them may be empty.
        :param options: and errors as of :meth:`recommend`.
        """
        sentences = whole_sentences(title, abstract)
        return _warned(self.answer(self.asked_whole(sentences, Options(**options))))

    def recommend_file(self, path: str | Path, **options: Unpack[Wanted]) -> Places:
        r"""Return papers for each place of a manuscript in a file.

        >>> from pathlib import Path
        >>> from mpbert import Recommender
        >>> _ = Path("mail.txt").write_text("Mail is routed [CITATION]. Names are stored [?].")
        >>> found = Recommender("runs/index/rfc").recommend_file("mail.txt", top=2)
        >>> found[1].sentence, len(found[1].papers)
        ('Names are stored.', 2)

        Papers that stand at a place already may be among those returned.

        :param path: .tex, .md, .txt, .json or another that ``mpbert recommend`` reads; places are
            ``\cite{...}``, ``[CITATION]``, ``[?]``, ``[@key]``, or the end where there is none.
        :param options: as of :meth:`recommend`, for each place.
        :raises ManuscriptError: the file cannot be read, or holds no word.
        :raises ConfigError: as of :meth:`recommend`.
        """
        manuscript = with_place(read_manuscript_file(root_of(Path(path))), str(path))
        places, wanted = PlaceRecommender(self, manuscript, {}), Options(**options)
        found = [places.answer(number, wanted) for number in range(len(manuscript.places))]
        for place in found:
            _warned(place.papers)
        return Places(found)

    def find_unmarked(
        self, manuscript: str | Path, sentences: int = 10, **options: Unpack[Wanted]
    ) -> "list[UnmarkedSentence]":
        """Return sentences that probably need a citation and have none, the likeliest first.

        >>> from mpbert import Recommender
        >>> text = "It has been shown that hosts relay mail. We now say what we did."
        >>> found = Recommender("runs/index/rfc").find_unmarked(text, sentences=1, top=3)
        >>> found[0].line, found[0].answer.sentence, len(found[0].answer.papers)
        (1, 'It has been shown that hosts relay mail.', 3)

        :param manuscript: a ``Path`` is a file, as of :meth:`recommend_file`; a ``str`` a text.
        :param sentences: at most.
        :param options: as of :meth:`recommend`, for the papers of each.
        :raises ManuscriptError: as of :meth:`recommend_file`.
        """
        from mpbert.recommending.manuscripts.pasted import NAME, draft_of
        from mpbert.recommending.unmarked.finding import find_unmarked

        file = root_of(manuscript) if isinstance(manuscript, Path) else Path(NAME)
        if isinstance(manuscript, Path):
            draft, text = draft_with_text(file)
        else:
            draft, text = draft_of(manuscript, "text"), manuscript
        known = known_papers(self, manuscript_of(draft), file)
        return find_unmarked(self, draft, text, known, sentences, Options(**options))

    def check_citations(
        self, path: str | Path, bibliographies: Sequence[str | Path] = (), year: int | None = None
    ) -> "CheckedManuscript":
        r"""Return which citations of a finished manuscript are doubtful, and what else is wrong.

        >>> from pathlib import Path
        >>> from mpbert import Recommender
        >>> text = r"Path MTU discovery finds the size of packets \cite{RFC1191,nobody}."
        >>> _ = Path("mtu.tex").write_text(text + r"\bibliography{mtu}")
        >>> _ = Path("mtu.bib").write_text("@misc{RFC1191, title={Path MTU discovery}, year=1990}")
        >>> found = Recommender("runs/index/rfc").check_citations("mtu.tex")
        >>> [(one.kind, one.line, one.key) for one in found.findings]
        [('undefined-key', 1, 'nobody')]

        :param path: as of :meth:`recommend_file`.
        :param bibliographies: files to read instead of those that the manuscript names.
        :param year: of the manuscript; None: that of its date, or today's.
        :raises ManuscriptError: the file cannot be read.
        """
        from mpbert.recommending.checking.checking import check_file

        return check_file(self, root_of(Path(path)), list(map(Path, bibliographies)), year)


def _warned(answer: Recommendations) -> Recommendations:
    """Return an answer; its warning is one of the method's caller, too."""
    if answer.warning:
        warnings.warn(answer.warning, stacklevel=3)
    return answer
