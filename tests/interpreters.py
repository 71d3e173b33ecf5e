"""Pythons of this machine, of each version that the package is declared for."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BESIDE = (".pyenv/versions/*/bin", ".local/share/uv/python/*/bin", ".local/bin")  # of a home
_USABLE = "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"


def declared() -> list[str]:
    """Return the versions that pyproject.toml names, such as ``3.11``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = "\n".join(project["classifiers"])
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", lines, re.MULTILINE)


def interpreter(version: str) -> str | None:
    """Return a program of this version that makes environments; None: there is none."""
    name = f"python{version}"
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    folders += [folder for pattern in _BESIDE for folder in sorted(Path.home().glob(pattern))]
    for program in (folder / name for folder in folders):
        if not program.exists():
            continue
        found = subprocess.run([program, "-c", _USABLE], capture_output=True, text=True)
        if found.stdout.strip() == version:
            return str(program)
    return None
