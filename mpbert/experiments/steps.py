"""Steps: the command lines of mpbert that make a row, in order."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mpbert.evaluation.tuned import Settings
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.rows import INDEX, MODEL, PARTS, TOP, Row, with_needs
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.reranking import RERANKERS
from mpbert.retrieval.options import POOLS


@dataclass(frozen=True)
class Step:
    """A command line.

    :param name: what records of cost call it.
    :param words: after ``python -m mpbert``.
    """

    name: str
    words: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """The whole command line."""
        return [sys.executable, "-m", "mpbert", *self.words]


def steps_of(
    experiment: Experiment,
    variant: Variant,
    splits: Sequence[str] = (),
    place: Path | None = None,
    sample: int | None = None,
) -> list[Step]:
    """Return the steps that make a row; each does nothing where its output is finished.

    :param splits: to rank for; empty: all.
    :param place: folder for vectors and run, where these are not to be kept; not for our model.
    :param sample: queries of each split to rank for, a fixed random sample; None: all.
    """
    if variant.row.run:  # another system has made it
        return []
    ranked = [*_flags("--sample", [sample]), *_flags("--splits", splits)]
    runs = place / "run" if place else experiment.runs(variant)
    if variant.row.method in LEXICAL.names():
        return [_lexical(experiment, variant, runs, ranked)]
    if variant.row.method in RERANKERS.names():
        return _rerank_steps(experiment, variant, runs, ranked)
    if variant.row.method == INDEX:
        return _index_steps(experiment, variant, runs, ranked)
    own = place and not variant.row.vectors
    vectors = place / "vectors" if own else experiment.vectors(variant)
    rank = _dense(experiment, variant, vectors, runs, ranked)
    if variant.row.vectors:
        return [rank]
    if variant.row.method == MODEL:
        return [*_training_steps(experiment, variant, vectors), rank]
    return [_fit(experiment, variant, vectors), rank]


def setting_words(settings: Settings) -> list[str]:
    """Return settings as ``name=value``."""
    return [f"{name}={value}" for name, value in settings.items()]


def _fit(experiment: Experiment, variant: Variant, vectors: Path) -> Step:
    words = ["fit", experiment.corpus, vectors, "--method", variant.row.method]
    settings = dict(variant.settings)
    if variant.row.start:
        start = experiment.needed(variant.row.start, variant.seed)
        settings["start"] = str(experiment.vectors(start))
    return _step("fit", [*words, *_seed(variant), *_settings(settings)])


def _training_steps(experiment: Experiment, variant: Variant, vectors: Path) -> list[Step]:
    """Return the steps of our model up to its vectors."""
    row, layout, corpus = variant.row, experiment.layout, experiment.corpus.name
    data, encoder = layout.binarized(corpus), layout.encoder(corpus, variant.name)
    size = _flags("--vocab-size", [row.vocab_size_on.get(corpus)])
    steps = [_step("binarize", ["binarize", experiment.corpus, data, *size])]
    finetune = ["finetune", data, experiment.config_file("finetune", row.config), encoder]
    tuned = int(variant.settings.get("tuned_layers", 0)) if row.sentences else 0
    stored = _stored_sentences(experiment, variant) if row.sentences else None
    if row.start:
        start = experiment.needed(row.start, variant.seed).name
        finetune += ["--init", layout.encoder(corpus, start)]
    if stored and (row.pretrained or not tuned):
        steps.append(stored)
    flags = ["--sentence-vectors", stored.words[3]] if stored else []
    if row.pretrained:
        start = layout.pretrained_encoder(corpus, variant.pretraining)
        words = ["pretrain", data, experiment.config_file("pretrain", row.pretrained), start]
        words += ["--training", layout.pretrained(corpus, variant.pretraining), *flags]
        steps.append(_step("pretrain", words))
        finetune += ["--document-level" if stored else "--init", start]
    if tuned:  # the vectors of the encoder as it was are those that it starts from
        steps.append(_stored_sentences(experiment, variant, tuned))
        flags[1] = steps[-1].words[3]
    finetune += flags
    embed = ["embed", data, encoder, vectors, "--readings", row.readings, *flags]
    finetune += ["--training", layout.finetuned(corpus, variant.name)]
    seed = {"seed": variant.seed} if variant.seed > 1 else {}
    finetune += _settings({**variant.settings, **seed})
    return [*steps, _step("finetune", finetune), _step("embed", embed)]


def _stored_sentences(experiment: Experiment, variant: Variant, tuned: int = 0) -> Step:
    """Return the step that stores vectors of sentences, and with tuned layers what enters these."""
    name = model = variant.row.sentences
    if variant.row.tunes_sentences:
        model = str(experiment.vectors(experiment.variant(name)) / "model")
    corpus, kind = experiment.corpus, variant.kind_of_sentences
    kind += f"-tuned-{tuned}" if tuned else ""
    output = experiment.layout.sentence_vectors(corpus.name, name, kind)
    words = ["embed-sentences", corpus, model, output]
    words += ["--parts", "abstract", "body", "citing"] if variant.kind_of_sentences else []
    words += _flags("--tuned-layers", [tuned or None])
    return _step("token states" if tuned else "sentence vectors", words)


def _dense(
    experiment: Experiment, variant: Variant, vectors: Path, runs: Path, ranked: Sequence[object]
) -> Step:
    row = variant.row
    words = ["retrieve", experiment.corpus, runs, "--vectors", vectors, *_kind(row)]
    if row.similarity != "cosine":
        words += ["--similarity", row.similarity]
    words += [*_flags("--dim", [row.dim or None]), *_pool(experiment)]
    return _step("retrieve", [*words, *ranked])


def _lexical(
    experiment: Experiment, variant: Variant, runs: Path, ranked: Sequence[object]
) -> Step:
    words = ["retrieve", experiment.corpus, runs, "--lexical", variant.row.method]
    words += [*_kind(variant.row), *_pool(experiment), *_settings(variant.settings)]
    return _step("retrieve", [*words, *ranked])


def _index_steps(
    experiment: Experiment, variant: Variant, runs: Path, ranked: Sequence[object]
) -> list[Step]:
    """Return the steps of a row that ranks as an index answers."""
    layout, corpus = experiment.layout, experiment.corpus.name
    index = layout.index(corpus, variant.name)
    encoder = layout.encoder(corpus, experiment.needed(variant.row.vectors, variant.seed).name)
    build = ["build-index", experiment.corpus, encoder, experiment.vectors(variant), index]
    answer = ["answer", experiment.corpus, index, runs, *_kind(variant.row)]
    answer += [*_pool(experiment), *ranked]
    return [_step("build index", build), _step("answer", answer)]


def _rerank_steps(
    experiment: Experiment, variant: Variant, runs: Path, ranked: Sequence[object]
) -> list[Step]:
    """Return the steps of a reranker: the lists that it learns from, if it does, and its own."""
    row, steps = variant.row, []
    words = ["rerank", experiment.corpus, runs, "--reranker", row.method]
    words += ["--runs", *experiment.inputs(variant), *_kind(row)]
    if row.vectors:
        words += ["--scored-by", experiment.vectors(variant)]
    if row.training:
        steps += _training_steps_of(experiment, variant)
        words += ["--training", experiment.training_lists(variant)]
    settings = dict(variant.settings)
    if row.start:
        start = experiment.needed(row.start, variant.seed)
        is_pairs = start.row.method in RERANKERS.names()
        made = experiment.runs(start) if is_pairs else experiment.vectors(start)
        settings["model"] = str(made / "model")
    words += [*_seed(variant), *_settings(settings), *ranked]
    return [*steps, _step("rerank", words)]


def _training_steps_of(experiment: Experiment, variant: Variant) -> list[Step]:
    """Return the steps that make the lists a reranker learns from."""
    made = variant.row.training
    if "row" not in made:
        return [_training_lists(experiment, variant)]
    number, steps, runs = int(made.get("parts", PARTS)), [], []
    for part in range(1, number + 1):
        without = experiment.without_part(part, number)
        numbers = ["--part", part, "--parts", number]
        steps.append(_step("hold out", ["hold-out", experiment.corpus, without.corpus, *numbers]))
        ranked = without.needed(str(made["row"]), variant.seed)
        top = int(made.get("top", TOP))
        runs.append(without.layout.runs(without.corpus.name, f"{ranked.name}-top-{top}"))
        steps += _held_out_steps(without, ranked, top, runs[-1])
    words = ["join-parts", experiment.corpus, experiment.training_lists(variant), "--runs", *runs]
    return [*steps, _step("training lists", [*words, *_kind(replace(variant.row, top=0))])]


def _held_out_steps(without: Experiment, variant: Variant, top: int, runs: Path) -> list[Step]:
    """Return the steps of a row that learns from all parts but one and ranks for this one.

    What it needs is made first. Runs that it takes are of validation, too: a fusion learns there.
    """
    variant = replace(variant, row=replace(variant.row, top=top))
    rows = list(without.rows.values())
    names = with_needs(rows, set(variant.row.needs))
    needed = [without.needed(row.name, variant.seed) for row in rows if row.name in names]
    ranked = {name for each in (variant, *needed) for name in each.row.inputs}
    made: list[Step] = []
    for each in needed:
        steps = steps_of(without, each)
        made += steps if each.row.name in ranked else steps[:-1]
    held_out = _flags("--splits", ["test"])
    if variant.row.method in RERANKERS.names():
        return [*made, *_rerank_steps(without, variant, runs, held_out)]
    held_out.append("--add-cited")
    if variant.row.method in LEXICAL.names():
        return [_lexical(without, variant, runs, held_out)]
    if not variant.row.vectors:
        made += steps_of(without, variant)[:-1]
    return [*made, _dense(without, variant, without.vectors(variant), runs, held_out)]


def _training_lists(experiment: Experiment, variant: Variant) -> Step:
    lists, made = experiment.training_lists(variant), dict(variant.row.training)
    words = ["retrieve", experiment.corpus, lists, "--task", variant.row.task]
    if name := made.pop("vectors", ""):
        words += ["--vectors", experiment.vectors(experiment.needed(str(name), variant.seed))]
    else:
        words += ["--lexical", made.pop("lexical", "bm25")]
    words += ["--top", made.pop("top", TOP), "--splits", "train", *_pool(experiment)]
    return _step("training lists", [*words, *_settings(made)])


def _kind(row: Row) -> list[object]:
    task = ["--task", row.task] if row.task != "local" else []
    return [*task, *_flags("--top", [row.top or None])]


def _pool(experiment: Experiment) -> list[object]:
    return ["--pool", experiment.pool] if experiment.pool != POOLS[0] else []


def _seed(variant: Variant) -> list[object]:
    return ["--seed", variant.seed] if variant.seed > 1 else []


def _settings(settings: Settings) -> list[object]:
    return _flags("--settings", setting_words(settings))


def _flags(flag: str, values: Sequence[object]) -> list[object]:
    """Return a flag with its values; nothing where there is none, or it is None."""
    return [flag, *values] if values and values[0] is not None else []


def _step(name: str, words: Sequence[object]) -> Step:
    return Step(name, tuple(map(str, words)))
