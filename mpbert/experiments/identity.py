"""What the settings of a row amount to, and whether its method takes them."""

from collections.abc import Hashable

from mpbert.evaluation.tuned import Settings
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.outputs import output_of
from mpbert.experiments.pretrained_texts import check_pretrained_on
from mpbert.experiments.rows import INDEX, MODEL, PAIRS, PARTS, Row, with_needs
from mpbert.experiments.steps import setting_words, steps_of
from mpbert.foundation.config import from_settings, resolve_settings
from mpbert.foundation.errors import ConfigError
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.reranking import RERANKERS
from mpbert.model.config import FINETUNE
from mpbert.model.configuration import read_configuration

_FAMILIES = (EMBEDDERS, LEXICAL, RERANKERS)


def identity_of(row: Row, settings: Settings) -> Hashable:
    """Return what settings amount to, with the defaults of the method.

    :raises ConfigError: there is no such method, setting or value.
    """
    if row.method == MODEL:
        return tuple(sorted((name, str(value)) for name, value in settings.items()))
    if row.method == INDEX:
        _check_index(row, settings)
    if row.method == INDEX or row.run:
        return ()
    families = [family for family in _FAMILIES if row.method in family.names()]
    source = f"row {row.name}"
    if not families:
        known = [name for family in _FAMILIES for name in family.names()]
        raise ConfigError(
            f"{source}: unknown method {row.method!r}; expected one of "
            f"{', '.join([*known, MODEL, INDEX])}"
        )
    if families != [EMBEDDERS]:
        _check_words_alone(row, source)
    if (families == [RERANKERS]) != bool(row.inputs):
        need = "needs inputs, rows to take the runs of" if not row.inputs else "takes no inputs"
        raise ConfigError(f"{source}: {row.method} {need}")
    try:
        return tuple(resolve_settings(families[0][row.method], setting_words(settings), row.method))
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def in_force(experiment: Experiment, row: Row, settings: Settings) -> Hashable:
    """Return what settings amount to, as :func:`identity_of`, with those of a configuration.

    :raises ConfigError: there is no such method, configuration, setting or value.
    """
    if row.method != MODEL:
        return identity_of(row, settings)
    file = experiment.config_file(FINETUNE, row.config)
    try:
        return read_configuration(file, FINETUNE, setting_words(settings))
    except ConfigError as error:
        raise ConfigError(f"row {row.name}: {error}") from error


def check_row(experiment: Experiment, name: str) -> None:
    """Check, before anything is begun, that a row can be made.

    :raises ConfigError: its method, a setting or a configuration is wrong.
    """
    variant = experiment.variant(name)
    row = variant.row
    try:
        identity_of(row, variant.settings)
    except ConfigError as error:
        if not experiment.tuned.settings(name):
            raise
        raise ConfigError(f"{error} (settings that tuning chose)") from error
    check_pretrained_on(row, variant.settings)
    if "row" in row.training:
        _check_held_out(row, experiment, str(row.training["row"]))
    if row.method == PAIRS and row.start:
        _check_tuned(experiment, row, "start", row.start)
    if row.tunes_sentences:
        _check_tuned(experiment, row, "sentences", row.tunes_sentences)
    for stage, config in (("finetune", row.config), ("pretrain", row.pretrained)):
        file = experiment.config_file(stage, config)
        if config and not file.is_file():
            raise ConfigError(
                f"row {name}: there is no configuration {file}; give --configs, the folder with "
                f"{stage}/configs"
            )
    try:
        for step in steps_of(experiment, variant) if row.method == MODEL else []:
            output_of(step)
    except ConfigError as error:
        raise ConfigError(f"row {name}: {error}") from error


def learns_from(row: Row, settings: Settings) -> str:
    """Return the split whose queries the method of a row learns from; empty where it is none.

    That of training is not told for methods that make vectors, since all of these learn from it.
    """
    if row.method == INDEX:
        return "valid"
    if row.method not in RERANKERS.names():
        return ""
    return from_settings(RERANKERS[row.method], setting_words(settings), row.method).learns_from


def resumes(row: Row) -> bool:
    """Whether a step of the row goes on where a killed one was."""
    return row.method == MODEL or any(
        row.method in family.names() and family[row.method].resumes
        for family in (EMBEDDERS, RERANKERS)
    )


def _check_index(row: Row, settings: Settings) -> None:
    """Check that a row which ranks as an index answers says whose, and nothing else.

    :raises ConfigError: it does not.
    """
    if not row.vectors:
        raise ConfigError(
            f"row {row.name}: found no vectors; {INDEX} needs a line 'vectors: ROW', the row of "
            f"our model whose encoder the index is of"
        )
    others = {
        **{"settings": settings, "inputs": row.inputs, "training": row.training, "dim": row.dim},
        **{"similarity": row.similarity != "cosine"},
    }
    for key, is_given in others.items():
        if is_given:
            raise ConfigError(f"row {row.name}: {INDEX} has no {key}; leave it out")


def _check_tuned(experiment: Experiment, row: Row, key: str, name: str) -> None:
    """Check that the row which a key of another names leaves a fine-tuned transformer."""
    start = experiment.rows[name]
    settings = experiment.variant(name).settings
    methods = [EMBEDDERS[start.method]] if start.method in EMBEDDERS.names() else []
    methods += [RERANKERS[PAIRS]] if start.method == PAIRS else []
    made = [from_settings(each, setting_words(settings), start.method) for each in methods]
    if not any(getattr(each, "model", "") and getattr(each, "epochs", 0) for each in made):
        raise ConfigError(
            f"row {row.name}: {key} is {name}, which leaves no transformer; expected a row of "
            f"method transformer, sbert or {PAIRS} that is fine-tuned"
        )


def _check_held_out(row: Row, experiment: Experiment, name: str) -> None:
    """Check that a row can be made anew without a part of the training papers."""
    parts = row.training.get("parts", PARTS)
    if not isinstance(parts, int) or parts < 2:
        raise ConfigError(f"row {row.name}: training, parts is {parts!r}; expected 2 or more")
    names = with_needs(list(experiment.rows.values()), {name})
    made = [each for each in experiment.rows.values() if each.name in names]
    wrong = [each.name for each in made if each.training or each.method == INDEX]
    if wrong or experiment.rows[name].task != row.task:
        needing = f", which needs {wrong[0]}" if wrong and name not in wrong else ""
        raise ConfigError(
            f"row {row.name}: training, row is {name}{needing}; expected a row of the {row.task} "
            f"task that needs no index and no row that learns from lists"
        )


def _check_words_alone(row: Row, source: str) -> None:
    takes_vectors = row.method in RERANKERS.names() and RERANKERS[row.method].takes_vectors
    for key, given in (
        ("similarity", row.similarity != "cosine"),
        ("vectors", row.vectors and not takes_vectors),
        ("dim", row.dim),
    ):
        if given:
            raise ConfigError(f"{source}: {row.method} has no {key}; leave it out")
