"""What comparing rankings has found: a table of pandas, text and Markdown."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpbert.evaluation.compared import ComparedScore
from mpbert.evaluation.side_by_side import as_markdown, as_text

if TYPE_CHECKING:  # it takes half a second to import
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """What :func:`mpbert.compare` has found; ``print`` shows it as text.

    :param scores: by measure, then by subset, then by run.
    """

    scores: list[ComparedScore]

    @property
    def table(self) -> "pd.DataFrame":
        """All numbers, by ``measure``, ``subset`` of the queries and ``run``.

        The columns are the fields of :class:`mpbert.evaluation.compared.ComparedScore`:
        ``queries``, ``missing``; ``mean`` from 0 to 1, ``low`` and ``high``, the ends of its 95 %
        interval; ``other``, the best other run; ``difference`` to it, with ``difference_low`` and
        ``difference_high``; ``p_randomization`` and ``p_t_test``, corrected by Holm. NaN is what
        cannot be had.

        >>> from mpbert import compare
        >>> cited = {f"p{i}#1": ["a"] for i in range(9)}
        >>> found = compare(cited, {"good": cited, "bad": dict.fromkeys(cited, ["b"])}, ["MRR@10"])
        >>> found.table.loc[("MRR@10", "P>=1"), "mean"].to_dict()
        {'good': 1.0, 'bad': 0.0}
        """
        import pandas as pd

        return pd.DataFrame(self.scores).set_index(["measure", "subset", "run"])

    def __str__(self) -> str:
        return as_text(self.scores)

    def to_markdown(self) -> str:
        """Return the tables of ``str`` in Markdown.

        >>> from mpbert import compare
        >>> cited = {f"p{i}#1": ["a"] for i in range(9)}
        >>> print(compare(cited, {"good": cited}, ["MRR@10"]).to_markdown().splitlines()[2])
        | run | missing | MRR@10 |
        """
        return as_markdown(self.scores)
