"""fairseq's options, made from the knobs of the configurations."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

import dataclasses
from collections.abc import Iterable

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from omegaconf import II

from mpbert.model.config import TrainingConfig
from mpbert.model.configuration import knobs

SEED = II("common.seed")  # an option with the value of another one


def fairseq_dataclass(name: str, fields: Iterable[dataclasses.Field], **more: object) -> type:
    """Return a dataclass of fairseq's options, one for each field.

    :param fields: knobs, see :func:`~mpbert.model.configuration.knobs`.
    :param more: further options with their defaults; a text such as ``II("common.seed")`` takes
        over the value of another option.
    """
    options = []
    for field in fields:
        choices = field.metadata["choices"]
        kind = ChoiceEnum(sorted(choices)) if choices else type(field.default)
        made = dataclasses.field(
            default=field.default, metadata={"help": field.metadata["help"].replace("%", "%%")}
        )
        options.append((field.name, kind, made))
    for key, default in more.items():
        kind = int if default == SEED else type(default)
        # fairseq leaves out an option that has another's value and no help
        help_text = {} if default == SEED else {"help": key}
        options.append((key, kind, dataclasses.field(default=default, metadata=help_text)))
    return dataclasses.make_dataclass(name, options, bases=(FairseqDataclass,))


def task_options(name: str, stage: str, *sections: type, **more: str) -> type:
    """Return fairseq's options of a task: the knobs of sections, and what every task takes.

    :param more: options of this task alone, with their defaults.
    """
    fields = [field for section in sections for field in knobs(section, stage)]
    return fairseq_dataclass(
        name,
        [*fields, *knobs(TrainingConfig, stage, "max_valid")],
        data="",
        sentence_vectors="",
        # would keep the data workers of the first epoch: their masks, and what they have read
        reuse_dataloader=False,
        seed=SEED,
        **more,
    )
