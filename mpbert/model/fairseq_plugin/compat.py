"""The only fixes for fairseq 0.12.2 (2022) on today's Python and torch, and the launcher.

Importing this module imports fairseq with the fixes in place. Run as a module it is
``fairseq-train`` with the semantics of that command line, the fixes, our tasks and models,
and one-line errors::

    python -m mpbert.model.fairseq_plugin.compat DATA --task mpbert_pretrain ...

Two processes, on GPUs or without, on one machine or on two (``docs/scale.md``)::

    python -m torch.distributed.run --nproc-per-node 2 -m mpbert.model.fairseq_plugin.compat ...
"""

import dataclasses
import errno
import functools
import importlib
import inspect
import logging
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from mpbert.foundation.checksums import archive_is_whole
from mpbert.foundation.errors import DamagedError, MpbertError, printable
from mpbert.foundation.processes import TERMINATED, end_with_agent, keep_few_kernels, on_sigterm

_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


@contextmanager
def _hashable_dataclasses() -> object:
    """Let classes of fairseq and hydra be dataclass defaults.

    Python 3.11 refuses an instance of an unhashable class as the default of a dataclass field
    (fairseq/dataclass/configs.py, hydra/conf). For the time of the import, those get
    ``unsafe_hash=True``.
    """
    original = dataclasses.dataclass

    def dataclass(cls: type | None = None, /, **kwargs: bool) -> type | Callable[[type], type]:
        def decorate(target: type) -> type:
            if target.__module__.split(".")[0] in ("fairseq", "hydra") and not kwargs.get("frozen"):
                kwargs.setdefault("unsafe_hash", True)
            return original(target, **kwargs)

        return decorate if cls is None else decorate(cls)

    dataclasses.dataclass = dataclass
    try:
        yield
    finally:
        dataclasses.dataclass = original


def _import_fairseq() -> None:
    with _hashable_dataclasses(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module("fairseq")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"fairseq cannot be imported ({error}); run 'bash setup.sh', which installs it"
            ) from error
    import torch
    from fairseq import checkpoint_utils
    from fairseq.distributed.utils import _TensorPlaceholder
    from fairseq.file_io import PathManager

    # torch keeps these from its compiler, and imports that for it: more than a second, for nothing
    for name in ("add_param_group", "load_state_dict", "state_dict", "zero_grad"):
        method = getattr(torch.optim.Optimizer, name)
        setattr(torch.optim.Optimizer, name, inspect.unwrap(method))
    # several processes exchange the trainer's state in this class; torch.load refuses it otherwise
    torch.serialization.add_safe_globals([_TensorPlaceholder])
    # fairseq copies a checkpoint onto checkpoint_last.pt byte by byte; a run killed meanwhile would
    # leave a torn one, from which it could not resume
    PathManager.copy = staticmethod(_copy_whole)
    # torch does not compare the checksums in a checkpoint
    checkpoint_utils.load_checkpoint_to_cpu = _of_whole(checkpoint_utils.load_checkpoint_to_cpu)


def _copy_whole(source: str, target: str, overwrite: bool = True) -> str:
    """Copy a file so that the target is the old one or the new one at any time."""
    shutil.copyfile(source, target + ".tmp")
    os.replace(target + ".tmp", target)
    return target


def _of_whole(load: Callable[..., dict]) -> Callable[..., dict]:
    """Let a function that loads a checkpoint refuse a damaged one, and one that holds code."""

    @functools.wraps(load)
    def load_whole(path: str, *arguments: object, **named: object) -> dict:
        import torch

        if not archive_is_whole(Path(path)):
            raise DamagedError(
                f"{path}: found a damaged checkpoint; expected a whole one: move it away to train "
                f"from the start, or copy another checkpoint of this training to its place"
            )
        try:
            state = load(path, *arguments, **named)
        except Exception as error:
            if type(error).__name__ != "UnpicklingError":  # of torch, which then has run nothing
                raise
            raise DamagedError(
                f"{path}: found a checkpoint with code in it, which was not run; expected one of "
                f"mpbert training: move it away to train from the start"
            ) from error
        if torch.distributed.is_initialized():  # no trainer asks for these objects of omegaconf,
            state["cfg"] = None  # and the other processes refuse to unpack them
        return state

    return load_whole


def _as_first_process(load: Callable[..., object]) -> Callable[..., object]:
    """Let a trainer load the checkpoint of the first process, also from a disk of its own.

    fairseq sends the content to all processes. But one that does not see the file, as on another
    machine, would not listen.
    """

    @functools.wraps(load)
    def load_checkpoint(
        trainer: object, filename: str, *arguments: object, **named: object
    ) -> object:
        import torch
        from fairseq.file_io import PathManager

        if trainer.data_parallel_world_size == 1:
            return load(trainer, filename, *arguments, **named)
        found = torch.tensor(
            [PathManager.isfile(filename)], dtype=torch.uint8, device=trainer.device
        )
        torch.distributed.broadcast(found, 0)
        own = PathManager.__dict__["isfile"]
        PathManager.isfile = staticmethod(lambda _: bool(found))
        try:
            return load(trainer, filename, *arguments, **named)
        finally:
            PathManager.isfile = own

    return load_checkpoint


def _unless_done(train: Callable[..., tuple]) -> Callable[..., tuple]:
    """Let a function that trains an epoch leave a training alone that has had all its updates.

    fairseq looks for ``--max-update`` after an update: a finished training that is started again
    would have one more each time. Nor does it tell a learning rate how long an epoch is; one that
    has ``take_epoch`` is told before the first update of each.
    """

    @functools.wraps(train)
    def train_on(cfg: object, trainer: object, task: object, epoch: object) -> tuple:
        if 0 < cfg.optimization.max_update <= trainer.get_num_updates():
            return [None], True
        if hasattr(trainer.lr_scheduler, "take_epoch"):
            trainer.lr_scheduler.take_epoch(len(epoch))
        return train(cfg, trainer, task, epoch)

    return train_on


def _ends_when_asked(
    validate_and_save: Callable[..., tuple], asked: threading.Event
) -> Callable[..., tuple]:
    """Let the function after each update end the process with a checkpoint, once it is asked to.

    Nothing is validated for it, so that a training goes on as if it had never ended.
    """

    @functools.wraps(validate_and_save)
    def save_and_end(
        cfg: object, trainer: object, task: object, epoch: object, subsets: object, at_end: bool
    ) -> tuple:
        from fairseq import checkpoint_utils

        found = validate_and_save(cfg, trainer, task, epoch, subsets, at_end)
        is_done = found[1]
        if not asked.is_set() or is_done:
            return found
        if not at_end:  # there, one was saved
            checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch, None)
        raise SystemExit(TERMINATED)

    return save_and_end


if __name__ == "__main__":  # before fairseq sends a first message elsewhere
    keep_few_kernels()
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s | %(levelname)s | %(name)s | %(message)s",
        stream=sys.stdout,
    )
    # threads beside data workers fight for the cores and slow training down many times over, so
    # the default is one thread a core and no worker; read when torch is imported
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
_import_fairseq()


def register() -> None:
    """Let fairseq know our tasks, models, criteria, optimizer and learning rate."""
    for part in ("adam", "pretraining", "finetuning"):
        importlib.import_module(f"mpbert.model.fairseq_plugin.{part}")


def main() -> None:
    """Train with fairseq; arguments as of ``fairseq-train``.

    An ``MpbertError`` prints its one line and exits with 2. SIGTERM ends the training with a
    checkpoint after the update that runs.
    """
    end_with_agent()
    warnings.filterwarnings("ignore", category=FutureWarning, module="fairseq|torch")
    warnings.filterwarnings("ignore", message="(?si).*(hydra|strict flag|version_base).*")
    warnings.filterwarnings("ignore", message="(?s).*(lr_scheduler.step|pin_memory).*")
    import torch
    from fairseq_cli import train

    register()
    asked = threading.Event()
    train.train = _unless_done(train.train)
    train.validate_and_save = _ends_when_asked(train.validate_and_save, asked)
    train.Trainer.load_checkpoint = _as_first_process(train.Trainer.load_checkpoint)
    if not torch.cuda.is_available() and "--cpu" not in sys.argv:
        sys.argv.append("--cpu")
    if "--cpu" in sys.argv:  # fairseq's defaults for several processes need a GPU
        sys.argv[1:1] = ["--distributed-backend=gloo", "--ddp-backend=legacy_ddp"]
    try:
        with on_sigterm(asked.set):
            train.cli_main()
    except MpbertError as error:
        print(f"mpbert training: {printable(str(error))}", file=sys.stderr)
        raise SystemExit(2) from error
    except (OSError, RuntimeError) as error:
        if not (reason := _refusal_of_disk(error)):
            raise
        print(
            f"mpbert training: a checkpoint cannot be written ({reason}); free space and start "
            f"again, training goes on from the last one that is whole",
            file=sys.stderr,
        )
        raise SystemExit(2) from error


def _refusal_of_disk(error: BaseException | None) -> str:
    """Return why a file could not be written, or nothing; torch wraps the system's error."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
            return os.strerror(error.errno)
        error = error.__context__
    return ""


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__":  # a process that fairseq starts for a further GPU
    register()
