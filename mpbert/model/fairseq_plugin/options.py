"""fairseq's options, made from the knobs of the configurations."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

import dataclasses
from collections.abc import Iterable

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from omegaconf import II

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
