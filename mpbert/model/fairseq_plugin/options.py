"""From configurations to fairseq's flags and dataclasses, and back from its checkpoints."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

import ast
import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, TypeVar

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from omegaconf import II

from mpbert.model.config import (
    FINETUNE,
    PRETRAIN,
    Configuration,
    ModelConfig,
    NoiseConfig,
    ObjectiveConfig,
    ReadingConfig,
    TrainingConfig,
)
from mpbert.model.configuration import from_nested, knobs

S = TypeVar("S")
PARTS = {  # of fairseq's command line: task, model, criterion
    PRETRAIN: ("mpbert_pretrain", "mpbert_hibert", "mpbert_masked_sentences"),
    FINETUNE: ("mpbert_finetune", "mpbert_two_tower", "mpbert_multi_positive"),
}
_SCHEDULES = {"inverse_sqrt": "inverse_sqrt", "linear": "mpbert_linear", "fixed": "fixed"}
_OF_TASK, _OF_MODEL = ("max_valid",), ("bf16",)  # the knobs of training that are not fairseq's own


def fairseq_dataclass(name: str, fields: Iterator[dataclasses.Field], **more: object) -> type:
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


SEED = II("common.seed")


def knobs_of(section: type, stage: str, *names: str) -> Iterator[dataclasses.Field]:
    """Yield the knobs of a section, or those with these names."""
    return (field for field in knobs(section, stage) if not names or field.name in names)


def section_of(section: type[S], cfg: object, stage: str) -> S:
    """Return a section without fairseq from the options that were made of its knobs."""
    return from_nested(section, _nested(section, cfg, stage))


def _nested(section: type, cfg: object, stage: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(section):
        if dataclasses.is_dataclass(field.type):
            found[field.name] = _nested(field.type, cfg, stage)
        elif stage in field.metadata["stages"]:
            found[field.name] = type(field.default)(getattr(cfg, field.name))
    return found


def flags_of(configuration: Configuration, stage: str) -> list[str]:
    """Return the words of fairseq's command line that say a configuration."""
    task, arch, criterion = PARTS[stage]
    flags = [f"--task={task}", f"--arch={arch}", f"--criterion={criterion}"]
    for section in (ModelConfig, ReadingConfig, NoiseConfig, ObjectiveConfig):
        made = getattr(configuration, _NAME_OF[section])
        flags += _flags(knobs(section, stage), made)
    flags += _flags(
        knobs_of(TrainingConfig, stage, *_OF_TASK, *_OF_MODEL), configuration.training
    )
    return flags + _training_flags(configuration.training)


_NAME_OF = {field.type: field.name for field in dataclasses.fields(Configuration)}


def _flags(fields: Iterator[dataclasses.Field], section: object) -> Iterator[str]:
    for field in fields:
        holder = section if hasattr(section, field.name) else section.bag
        value = getattr(holder, field.name)
        flag = "--" + field.name.replace("_", "-")
        if not isinstance(value, bool):
            yield f"{flag}={value}"
        elif value != field.default:  # fairseq's flag of a boolean is the one that changes it
            yield flag


def _training_flags(training: TrainingConfig) -> list[str]:
    flags = [
        f"--max-tokens={training.batch_tokens}",
        f"--update-freq={training.update_freq}",
        "--optimizer=adam",
        f"--adam-betas=(0.9, {training.adam_beta2})",
        f"--weight-decay={training.weight_decay}",
        f"--clip-norm={training.clip_norm}",
        f"--lr={training.lr}",
        f"--lr-scheduler={_SCHEDULES[training.lr_scheduler]}",
        f"--warmup-updates={training.warmup_updates}",
        f"--max-epoch={training.max_epoch}",
        f"--max-update={training.max_update}",
        f"--save-interval-updates={training.save_interval_updates}",
        *("--keep-interval-updates=1", "--no-epoch-checkpoints"),
        f"--seed={training.seed}",
        *("--num-workers=0", "--log-interval=20"),
    ]
    if training.lr_scheduler == "inverse_sqrt":
        flags.append(f"--warmup-init-lr={training.warmup_init_lr}")
    return flags


def configuration_of(cfg: dict[str, Any], stage: str, model: dict[str, Any]) -> Configuration:
    """Return the configuration that a checkpoint was trained with.

    :param cfg: fairseq's own, as it stands in the checkpoint.
    :param model: sizes of the model, as the task has noted them there.
    """
    task, criterion = SimpleNamespace(**cfg["task"]), SimpleNamespace(**cfg["criterion"])
    return Configuration(
        from_nested(ModelConfig, model),
        section_of(ReadingConfig, task, stage),
        section_of(NoiseConfig, task, stage),
        section_of(ObjectiveConfig, criterion, stage),
        _training_of(cfg),
    )


def _training_of(cfg: dict[str, Any]) -> TrainingConfig:
    """Return what :func:`_training_flags` says, from fairseq's configuration."""
    optimization, optimizer, schedule = cfg["optimization"], cfg["optimizer"], cfg["lr_scheduler"]
    names = {fairseqs: ours for ours, fairseqs in _SCHEDULES.items()}
    return TrainingConfig(
        batch_tokens=cfg["dataset"]["max_tokens"],
        update_freq=optimization["update_freq"][0],
        lr=optimization["lr"][0],
        lr_scheduler=names[schedule["_name"]],
        warmup_updates=schedule["warmup_updates"],
        warmup_init_lr=max(schedule.get("warmup_init_lr", 0), 0),  # fairseq's default is -1
        adam_beta2=ast.literal_eval(str(optimizer["adam_betas"]))[1],
        weight_decay=optimizer["weight_decay"],
        clip_norm=optimization["clip_norm"],
        max_epoch=optimization["max_epoch"],
        max_update=optimization["max_update"],
        save_interval_updates=cfg["checkpoint"]["save_interval_updates"],
        max_valid=cfg["task"]["max_valid"],
        bf16=cfg["model"]["bf16"],
        seed=cfg["common"]["seed"],
    )
