"""The flag ``--engine`` of commands whose work has parts that other machines can make."""

import argparse
from pathlib import Path
from typing import Any

from mpbert.foundation.config import option
from mpbert.foundation.engines import Engine, OwnProcesses
from mpbert.foundation.ray_engine import RayEngine

OWN, RAY = "processes", "ray"


def engine_option() -> Any:
    """Return the field of a command; its value is what :func:`engine_of` takes."""
    return option(
        OWN,
        "where the work is done: processes of this machine, or a Ray cluster: ray, ray://HOST:PORT",
        type=_engine_name,
        metavar="ENGINE",
    )


def engine_of(name: str, processes: int = 1) -> Engine:
    """Return the engine of a name.

    :param processes: of this machine, where these are the engine.
    """
    return OwnProcesses(processes) if name == OWN else RayEngine(name.partition("://")[2])


def path_for(name: str, path: Path) -> Path:
    """Return the path by which an engine finds files: other machines know no relative one."""
    return path if name == OWN else path.resolve()


def _engine_name(text: str) -> str:
    kind, _, address = text.partition("://")
    host, _, port = address.rpartition(":")
    if text in (OWN, RAY) or (kind == RAY and host and port.isdigit()):
        return text
    raise argparse.ArgumentTypeError(
        f"found {text!r}; expected {OWN}, {RAY} or {RAY}://HOST:PORT, the address of a cluster"
    )
