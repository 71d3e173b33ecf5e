"""Packages that only some commands need, and the extra of this package that installs each.

``pip install mpbert`` brings what making, changing, asking and serving an index need, and embedding
with a token bag.
Packages of the extras are imported where they are used; one that is missing is told in one line.
"""

import importlib.util
from types import ModuleType

from mpbert.foundation.errors import MissingPackageError

# extra -> names under which its packages are imported
EXTRAS = {
    "tables": ("pandas",),
    "corpus": ("faiss", "lxml", "pyarrow", "scipy", "sklearn"),
    "train": (
        *("bitarray", "hydra", "omegaconf", "regex", "sacrebleu", "torch", "transformers"),
        *("fairseq", "fairseq_cli"),
    ),
    "baselines": ("gensim", "lightgbm", "llvmlite", "numba", "sentence_transformers"),
    "lsp": ("pygls",),
    "mcp": ("mcp",),
    "milvus": ("pymilvus",),
    "pdf": ("pypdfium2",),
    "pgvector": ("psycopg",),
    "ray": ("ray",),
    "report": ("jinja2", "matplotlib", "tensorboard"),
    "s3": ("boto3",),
    "words": ("tantivy",),
}
# fairseq's own pins, of 2022, refuse every current package, so that no extra can name it
_FAIRSEQ = "pip install --no-deps fairseq==0.12.2"
_OF_TRAINER = {"bitarray", "fairseq", "fairseq_cli", "hydra", "omegaconf", "regex", "sacrebleu"}


def missing_package(error: Exception) -> MissingPackageError | None:
    """Return the error that names the extra to install; None where no package of one is missing.

    :param error: any exception; that of a failed import is a ModuleNotFoundError.
    """
    if not isinstance(error, ModuleNotFoundError):
        return None
    name = (error.name or "").partition(".")[0]
    for extra, names in EXTRAS.items():
        if name in names:
            then = f", then {_FAIRSEQ}" if name in _OF_TRAINER else ""
            return MissingPackageError(
                f"found no package {name}; expected that of the extra {extra!r}: "
                f"pip install 'mpbert[{extra}]'{then}"
            )
    return None


def imported(name: str) -> ModuleType:
    """Return a module.

    :raises MissingPackageError: it, or one that it imports, is of an extra that is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise (missing_package(error) or error) from error


def check_installed(name: str) -> None:
    """Check that a package is there, before a process is started that needs it.

    :raises ModuleNotFoundError: it is not; see :func:`missing_package`.
    """
    if importlib.util.find_spec(name) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
