"""The files of an encoder that others have trained; no library of theirs is needed for them."""

import hashlib
from pathlib import Path

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import EncoderError
from mpbert.foundation.links import link

_WEIGHTS = "*.safetensors"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_OLDER_TOKENIZER = (  # read where one of those two is missing
    *("vocab.txt", "vocab.json", "merges.txt", "*.model"),
    *("special_tokens_map.json", "added_tokens.json"),
)
_READ = (
    *("config.json", *_TOKENIZER),
    *("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
    "model.safetensors.index.json",  # of weights in several files
)
MODEL_FILES = (_WEIGHTS, *_READ, *_OLDER_TOKENIZER)  # patterns of all; no code, no pickles


def sha256_of_model(folder: Path) -> str:
    """Return the SHA-256 of ``model.safetensors``, or of names and SHA-256 of several shards.

    :raises EncoderError: there are no weights.
    """
    files = sorted(folder.glob(_WEIGHTS))
    if not files:
        raise EncoderError(f"{folder}: found no *.safetensors; expected the folder of an encoder")
    if len(files) == 1:
        return fingerprint(files[0])
    lines = [f"{file.name} {fingerprint(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def files_of_model(folder: Path) -> list[Path]:
    """Return the files that the vectors of a model depend on, those of them that there are.

    Beside a ``tokenizer.json`` and its configuration, the older files of a tokenizer are left out.
    """
    is_whole = all((folder / name).is_file() for name in _TOKENIZER)
    patterns = (_WEIGHTS, *_READ) if is_whole else MODEL_FILES
    found = (file for pattern in patterns for file in sorted(folder.glob(pattern)))
    return [file for file in found if file.is_file()]


def copy_model(folder: Path, target: Path) -> None:
    """Write the files that the vectors of a model depend on; they take no further room."""
    for file in files_of_model(folder):
        place = target / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        link(file, place)
