"""The trees of an index, as a file of plain arrays: they rank the first papers of its fusion.

``trees.safetensors`` is for places, ``trees.whole.safetensors`` for whole papers.

    score(d) = Σ_f w_f · f(q, d) + Σ_t leaf of tree t that the signals of d reach

:mod:`mpbert.recommending.tree_learning` learns them with LightGBM; an answer needs numpy alone.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpbert.foundation.errors import IndexFormatError
from mpbert.methods.rankings import Ranking
from mpbert.recommending.confidence.coefficients import Confidence, read_confidence
from mpbert.recommending.learnt import LearntWeights, read_fusion
from mpbert.recommending.signals import DEPTH, fused_signals, own_signals, signal_names

if TYPE_CHECKING:  # few indexes have trees
    from mpbert.methods.lambdamart.related import KnownCitations
    from mpbert.methods.lambdamart.tree_masks import TreeMasks

FILE = "trees{}.safetensors"
_SIGNALS = "signals"  # of the file's metadata
_TIE = 1e-9  # less than a difference of scores that matters; the fusion decides then


class LearntTrees(NamedTuple):
    """Trees over the signals of papers.

    :param trees: columns are those of ``signals``.
    :param signals: (S,) names.
    """

    trees: "TreeMasks"
    signals: tuple[str, ...]

    def rerank(
        self,
        found: dict[str, np.ndarray],
        fused: Ranking,
        without_accepted: np.ndarray,
        allowed: np.ndarray,
        known: "KnownCitations",
        year: int,
    ) -> Ranking:
        """Return the ranking of one question, its first papers by fusion and trees.

        :param found: name to (N,) features; ``allowed`` (N,) whether a paper may be ranked.
        :param fused: (1, K) by the fusion.
        :param without_accepted: (M,) scores of the first by it as if no paper were accepted.
        """
        first = fused.first(DEPTH)
        rows = first.rows[0]
        if not len(rows):
            return fused
        signals = np.column_stack(
            [own_signals(found, allowed, rows), fused_signals(rows, without_accepted, known, year)]
        )
        scores = first.scores + self.trees.scores(signals) - _TIE * np.arange(len(rows))
        return fused.reordered(scores)

    def write(self, folder: Path, of: str) -> None:
        """Write the file into a folder that exists.

        :param of: ``PLACES`` or ``WHOLES``.
        """
        from safetensors.numpy import save

        from mpbert.methods.lambdamart.tree_arrays import ARRAYS

        arrays = {name: np.ascontiguousarray(getattr(self.trees.arrays, name)) for name in ARRAYS}
        (folder / FILE.format(of)).write_bytes(save(arrays, {_SIGNALS: json.dumps(self.signals)}))


def read_trees(folder: Path, known: Sequence[str], of: str) -> LearntTrees | None:
    """Return the trees in a folder; None: there are none.

    :param known: features that the index has.
    :param of: ``PLACES`` or ``WHOLES``.
    :raises IndexFormatError: the file is damaged, or its trees read what the index lacks.
    """
    path = folder / FILE.format(of)
    if not path.exists():
        return None
    from safetensors import SafetensorError, safe_open

    from mpbert.methods.lambdamart.tree_arrays import ARRAYS, typed_arrays
    from mpbert.methods.lambdamart.tree_masks import TreeMasks

    expected = signal_names(known)
    try:
        with safe_open(path, "np") as file:
            signals = json.loads((file.metadata() or {}).get(_SIGNALS, "[]"))
            trees = typed_arrays({name: file.get_tensor(name) for name in ARRAYS})
        if signals != expected:
            raise ValueError("trees read other signals than the index has")
        trees.check(len(expected))
        return LearntTrees(TreeMasks(trees), tuple(signals))
    except (OSError, ValueError, TypeError, LookupError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise IndexFormatError(
            f"{path}: found no trees ({reason}); expected those of this index, build the index "
            f"again with mpbert build-index"
        ) from error


class Learnt(NamedTuple):
    """What an index learnt to rank by: for places, or for whole papers.

    :param trees: over the first papers of the fusion; None: the fusion alone ranks.
    :param confidence: how sure answers are; None: too little was there to learn it from.
    """

    fusion: LearntWeights
    trees: LearntTrees | None = None
    confidence: Confidence | None = None

    def write(self, folder: Path, of: str) -> None:
        """Write the files into a folder that exists.

        :param of: ``PLACES`` or ``WHOLES``.
        """
        self.fusion.write(folder, of)
        for part in (self.trees, self.confidence):
            if part is not None:
                part.write(folder, of)


def read_learnt(folder: Path, known: Sequence[str], of: str) -> Learnt | None:
    """Return what was learnt; None: nothing.

    :param known: features that the index has.
    :param of: ``PLACES`` or ``WHOLES``.
    :raises IndexFormatError: a file is damaged, or reads what the index lacks.
    """
    fusion = read_fusion(folder, known, of)
    if fusion is None:
        return None
    return Learnt(fusion, read_trees(folder, known, of), read_confidence(folder, of))
