"""What a report needs of a run, in a small file: rows that were measured elsewhere or earlier.

A file ``NAME.npz`` is of one row and seed. It holds these arrays, compressed, without pickle:

* ``num_hits`` (Q,) and ``ranks`` (H,): the ranks, from 1, of the relevant papers of each query.
* ``depths`` (Q,): number of papers that were ranked, at most the depth of the task.
* ``about``: JSON in UTF-8, of what it is and how it was made, see :func:`write_kept`.
* ``cutoffs``, ``mean_rank``, ``best_rank``, ``share`` (C,), where there are authors.

The same result has the same bytes.
"""

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tokenize import TokenError

import numpy as np

from mpbert.corpus.trec import Qrels
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tuned import Settings
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.rows import with_needs
from mpbert.foundation.errors import OutputError, RunError
from mpbert.foundation.option_files import read_yaml
from mpbert.foundation.ragged import row_numbers

_SELF_CITATION = ("cutoffs", "mean_rank", "best_rank", "share")
# keys of a row, beside its settings, on which its run depends
_MAKING = ("method", "similarity", "task", "top", "vectors", "dim", "inputs", "training")
_NAMED = ("sentences", "start")  # those that a digest has where the row names them alone
# what numpy, zipfile and zlib raise where an archive is damaged, and we where a part is missing
_BROKEN = (
    *(OSError, ValueError, LookupError, TypeError, EOFError, MemoryError, AttributeError),
    *(RuntimeError, SyntaxError, TokenError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


@dataclass(frozen=True)
class KeptRun:
    """What a report needs of the run of one row and seed.

    :param judged: of all queries of the split.
    :param settings: that were in force, but for the defaults of the method.
    :param recipe: the row, and each that it needs, to a digest of all that its run depends on.
    :param remarks: what a reader should know of the run.
    :param counted: which queries remarks and self-citation are of, ``distinct`` or ``all``.
    :param cost: with that of the rows it needs; None where it is not known.
    """

    judged: Judged
    settings: Settings = field(default_factory=dict)
    recipe: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    self_citation: SelfCitation | None = None
    cost: RowCost | None = None
    counted: str = "distinct"


def subject_of(
    corpus: str,
    split: str,
    task: str,
    depth: int,
    qrels: Qrels,
    papers: Sequence[str],
    training: Sequence[str],
) -> dict[str, str | int]:
    """Return what a result is of: two with the same subject can stand in one report.

    :param depth: ranks of each query that are looked at.
    :param qrels: of all queries that the runs rank.
    :param papers: of the corpus, in order: their ids, and what else a run depends on.
    :param training: training queries, in order, with what they cite.
    """
    owners = row_numbers(np.diff(qrels.offsets))
    pairs = sorted(
        f"{qrels.query_ids[owner]} {qrels.paper_ids[code]}"
        for owner, code in zip(owners.tolist(), qrels.codes.tolist(), strict=True)
    )
    order = "\n".join(qrels.query_ids) + "\n"
    return {
        "corpus": corpus,
        "split": split,
        "task": task,
        "depth": depth,
        "queries": _digest(order + "\n".join(pairs)),
        "papers": _digest("\n".join(papers)),
        "training": _digest("\n".join(training)),
    }


def recipe_of(experiment: Experiment, variant: Variant) -> dict[str, str]:
    """Return a digest of all that the run of a row depends on; of each row that it needs, too.

    :returns: name of the row to digest; itself first.
    """
    names = with_needs(list(experiment.rows.values()), {variant.row.name})
    names = [variant.row.name, *sorted(names - {variant.row.name})]
    return {name: _digest_of_row(experiment, experiment.variant(name)) for name in names}


def write_kept(path: Path, run: KeptRun, subject: Mapping[str, str | int]) -> None:
    """Write the file of a run, in place of an older one.

    :param subject: of :func:`subject_of`.
    :raises OutputError: it cannot be written.
    """
    depth = run.judged.hits.shape[1]
    owner, place = np.nonzero(run.judged.hits)
    num_hits = np.bincount(owner, minlength=len(run.judged.hits))
    kind = np.min_scalar_type(depth)
    about = {
        **{"subject": dict(subject), "settings": dict(run.settings), "recipe": dict(run.recipe)},
        **{"remarks": list(run.remarks), "cost": asdict(run.cost) if run.cost else None},
        "counted": run.counted,
    }
    text = json.dumps(about, ensure_ascii=False, allow_nan=False, sort_keys=True)
    arrays = {
        "about": np.frombuffer(text.encode(), dtype=np.uint8),
        "num_hits": num_hits.astype(kind),
        "ranks": (place + 1).astype(kind),
        "depths": run.judged.depths.astype(kind),
        **(vars(run.self_citation) if run.self_citation else {}),
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # numpy leaves the time of each part at 1980
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content.getvalue())
        partial.replace(path)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); choose another folder for --kept"
        ) from error


def read_kept(path: Path, subject: Mapping[str, str | int]) -> KeptRun:
    """Read the file of a run.

    :param subject: that it is to be of.
    :raises RunError: it is unreadable, or of another corpus, split, task, or of other queries.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
        about = json.loads(found["about"].tobytes().decode())
        of = about["subject"]
        if different := [key for key in subject if of.get(key) != subject[key]]:
            named = ", ".join(f"{key} {_short(of.get(key))}" for key in different)
            wanted = ", ".join(f"{key} {_short(subject[key])}" for key in different)
            raise RunError(
                f"{path}: found a result of {named}; expected {wanted}: take it away, and measure "
                f"the row again with report --kept"
            )
        return KeptRun(
            _judged(found, int(of["depth"])),
            about["settings"],
            about["recipe"],
            tuple(about["remarks"]),
            SelfCitation(*(found[key] for key in _SELF_CITATION)) if "share" in found else None,
            RowCost(**about["cost"]) if about["cost"] else None,
            about["counted"],
        )
    except RunError:
        raise
    except _BROKEN as error:
        raise RunError(
            f"{path}: unreadable ({type(error).__name__}); expected a file that report --kept "
            f"wrote: take it away, and measure the row again"
        ) from error


def _judged(arrays: Mapping[str, np.ndarray], depth: int) -> Judged:
    """Return the ranks of a file as a matrix.

    :raises ValueError: they do not fit together.
    """
    counts, ranks, depths = (arrays[key].astype(int) for key in ("num_hits", "ranks", "depths"))
    num_queries = len(depths)
    fits = len(counts) == num_queries and counts.sum() == len(ranks)
    if not fits or ranks.min(initial=1) < 1 or max(ranks.max(initial=1), depths.max()) > depth:
        raise ValueError("ranks do not fit")
    hits = np.zeros((num_queries, depth), dtype=bool)
    hits[row_numbers(counts), ranks - 1] = True
    return Judged(hits, depths)


def _digest_of_row(experiment: Experiment, variant: Variant) -> str:
    row, corpus = variant.row, experiment.corpus.name
    configs = [
        read_yaml(file, "a configuration")
        for stage, name in (("finetune", row.config), ("pretrain", row.pretrained))
        if name and (file := experiment.config_file(stage, name)).is_file()
    ]
    content = {
        **{key: getattr(row, key) for key in _MAKING},
        **{key: value for key in _NAMED if (value := getattr(row, key))},
        "settings": dict(variant.settings),
        "readings": row.readings,
        "vocab_size": row.vocab_size_on.get(corpus),
        "configs": configs,
    }
    return _digest(json.dumps(content, sort_keys=True, default=str))[:16]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _short(value: object) -> str:
    return str(value)[:12]
