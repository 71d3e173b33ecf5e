"""What embedders, rerankers and lexical methods have in common: a name, settings, a checkpoint."""

from abc import ABC
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mpbert.foundation.manifest import fingerprint

if TYPE_CHECKING:  # the help of commands lists names of methods alone
    from mpbert.corpus.store import CorpusStore
    from mpbert.methods.checkpoint import Checkpoint


class Method(ABC):
    """A member of a family of methods.

    A member is a dataclass whose fields, of int, float or str, are its settings; see
    :func:`mpbert.foundation.config.setting` for fields with choices or with 0 among their values.

    :cvar name: by which rows and commands call it.
    :cvar quick: settings with which it learns the corpus of the tests in a second or two.
    :cvar resumes: whether a killed training goes on, by way of ``checkpoint``.
    :ivar checkpoint: the directory in which training keeps what a killed run goes on from; None:
        nowhere. The command sets it, and removes the directory when the output is written.
    """

    name: ClassVar[str]
    quick: ClassVar[tuple[str, ...]] = ()
    resumes: ClassVar[bool] = False
    checkpoint: Path | None = None

    def checkpoint_of(
        self, store: "CorpusStore", *identity: object, part: str = "training"
    ) -> "Checkpoint | None":
        """Return where a training is saved; None where no directory is set.

        :param identity: what the training depends on beside the settings and the corpus.
        :param part: of a method that trains several things.
        """
        if self.checkpoint is None:
            return None
        from mpbert.methods.checkpoint import Checkpoint

        known = " ".join(map(str, [f"{self!r}", fingerprint(store.path), *identity]))
        return Checkpoint(self.checkpoint, f"{self.name}.{part}", known)
