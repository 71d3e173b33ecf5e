"""The files of an encoder that others have trained; no library of theirs is needed for them."""

import hashlib
import os
import shutil
from pathlib import Path

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import EncoderError

_READ = (
    *("config.json", "tokenizer.json", "tokenizer_config.json"),
    *("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
)


def sha256_of_model(folder: Path) -> str:
    """Return the SHA-256 of ``model.safetensors``, or of names and SHA-256 of several shards.

    :raises EncoderError: there are no weights.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise EncoderError(f"{folder}: found no *.safetensors; expected the folder of an encoder")
    if len(files) == 1:
        return fingerprint(files[0])
    lines = [f"{file.name} {fingerprint(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def files_of_model(folder: Path) -> list[Path]:
    """Return the files that the vectors of a model depend on, those of them that there are."""
    known = [folder / name for name in _READ]
    return [*sorted(folder.glob("*.safetensors")), *(path for path in known if path.is_file())]


def copy_model(folder: Path, target: Path) -> None:
    """Write the files that the vectors of a model depend on; they take no further room."""
    for file in files_of_model(folder):
        place = target / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        link(file, place)


def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the file system cannot."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
