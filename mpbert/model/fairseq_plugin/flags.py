"""From a configuration to fairseq's command line, and back from one of its checkpoints."""

import ast
import dataclasses
from types import SimpleNamespace
from typing import Any, TypeVar

from mpbert.model.config import (
    FINETUNE,
    PRETRAIN,
    STACKED,
    Configuration,
    ModelConfig,
    NoiseConfig,
    ObjectiveConfig,
    ReadingConfig,
    TrainingConfig,
)
from mpbert.model.configuration import from_nested, knobs, named_values

S = TypeVar("S")
_BESIDE = ("mpbert_pretrain", "mpbert_document_level", "mpbert_masked_vectors")
PARTS = {  # of fairseq's command line: task, model, criterion
    PRETRAIN: ("mpbert_pretrain", "mpbert_hibert", "mpbert_masked_sentences"),
    FINETUNE: ("mpbert_finetune", "mpbert_two_tower", "mpbert_multi_positive"),
}
_SCHEDULES = {"inverse_sqrt": "inverse_sqrt", "linear": "mpbert_linear", "fixed": "fixed"}
# the knobs of training that our tasks and models ask for; the others are fairseq's own
_OURS = ("max_valid", "autocast_bf16", "bag_lr", "tuned_lr")


def section_of(section: type[S], cfg: object, stage: str) -> S:
    """Return a section without fairseq from the options that were made of its knobs."""
    return from_nested(section, _nested(section, cfg, stage))


def _nested(section: type, cfg: object, stage: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(section):
        if dataclasses.is_dataclass(field.type):
            found[field.name] = _nested(field.type, cfg, stage)
        elif stage in field.metadata["stages"] and hasattr(cfg, field.name):
            found[field.name] = type(field.default)(getattr(cfg, field.name))
    return found


def flags_of(configuration: Configuration, stage: str) -> list[str]:
    """Return the words of fairseq's command line that say a configuration."""
    beside = stage == PRETRAIN and configuration.model.upper.join != STACKED
    task, arch, criterion = _BESIDE if beside else PARTS[stage]
    flags = [f"--task={task}", f"--arch={arch}", f"--criterion={criterion}"]
    values = named_values(configuration)
    fairseqs = {field.name for field in dataclasses.fields(TrainingConfig)} - set(_OURS)
    for field in knobs(Configuration, stage):
        if field.name not in fairseqs:
            flags += _flag(field, values[field.name])
    return flags + _training_flags(configuration.training)


def _flag(field: dataclasses.Field, value: object) -> list[str]:
    flag = "--" + field.name.replace("_", "-")
    if not isinstance(value, bool):
        return [f"{flag}={value}"]
    # fairseq's flag of a boolean is the one that changes it
    return [flag] if value != field.default else []


def _training_flags(training: TrainingConfig) -> list[str]:
    flags = [
        f"--max-tokens={training.batch_tokens}",
        f"--update-freq={training.update_freq}",
        "--optimizer=mpbert_adam",
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


def configuration_of(
    cfg: dict[str, Any], stage: str, model: dict[str, Any], sentence_tokens: int
) -> Configuration:
    """Return the configuration that a checkpoint was trained with.

    :param cfg: fairseq's own, as it stands in the checkpoint.
    :param model: sizes of the model, as the task has noted them there.
    :param sentence_tokens: of the binary corpus.
    """
    task, criterion = SimpleNamespace(**cfg["task"]), SimpleNamespace(**cfg["criterion"])
    reading = section_of(ReadingConfig, task, stage)
    return Configuration(
        from_nested(ModelConfig, model),
        dataclasses.replace(reading, sentence_tokens=sentence_tokens),
        section_of(NoiseConfig, task, stage),
        section_of(ObjectiveConfig, criterion, stage),
        _training_of(cfg),
    )


def _training_of(cfg: dict[str, Any]) -> TrainingConfig:
    """Return what :func:`_training_flags` says, from fairseq's configuration."""
    optimization, optimizer, schedule = cfg["optimization"], cfg["optimizer"], cfg["lr_scheduler"]
    names = {fairseqs: ours for ours, fairseqs in _SCHEDULES.items()}
    found = {
        "batch_tokens": cfg["dataset"]["max_tokens"],
        "update_freq": optimization["update_freq"][0],
        "lr": optimization["lr"][0],
        "lr_scheduler": names[schedule["_name"]],
        "warmup_updates": schedule["warmup_updates"],
        "adam_beta2": ast.literal_eval(str(optimizer["adam_betas"]))[1],
        "weight_decay": optimizer["weight_decay"],
        "clip_norm": optimization["clip_norm"],
        "max_epoch": optimization["max_epoch"],
        "max_update": optimization["max_update"],
        "save_interval_updates": cfg["checkpoint"]["save_interval_updates"],
        "seed": cfg["common"]["seed"],
    }
    if "warmup_init_lr" in schedule:  # of inverse_sqrt alone; fairseq's default is -1
        found["warmup_init_lr"] = max(schedule["warmup_init_lr"], 0)
    options = cfg["task"] | cfg["model"]
    found |= {name: options[name] for name in _OURS if name in options}
    return from_nested(TrainingConfig, found)
