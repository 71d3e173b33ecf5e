"""Where outputs lie, below a root that is an argument."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The places of all outputs.

    :param root: folder that holds them; the recipes take ``runs``.
    """

    root: Path

    def binarized(self, corpus: str) -> Path:
        """Return the binary corpus."""
        return self.root / "binarized" / corpus

    def pretrained(self, corpus: str, config: str) -> Path:
        """Return the training files of a pretraining."""
        return self.root / "pretrained" / corpus / config

    def pretrained_encoder(self, corpus: str, config: str) -> Path:
        """Return the encoder that a pretraining makes."""
        return self.root / "encoders" / corpus / f"{config}-pretrained"

    def sentence_vectors(self, corpus: str, model: str, kind: str = "") -> Path:
        """Return the vectors that an encoder gives sentences.

        :param model: its name or folder, or the row that fine-tunes it.
        :param kind: ending of the name, where the sentences are not those that most rows read.
        """
        return self.root / "sentences" / corpus / f"{Path(model).name}{kind}"

    def finetuned(self, corpus: str, row: str) -> Path:
        """Return the training files of a fine-tuning."""
        return self.root / "finetuned" / corpus / row

    def encoder(self, corpus: str, row: str) -> Path:
        """Return the encoder of a row."""
        return self.root / "encoders" / corpus / row

    def vectors(self, corpus: str, row: str) -> Path:
        """Return the vectors of a row."""
        return self.root / "vectors" / corpus / row

    def runs(self, corpus: str, row: str) -> Path:
        """Return the folder of ``valid.run`` and ``test.run`` of a row."""
        return self.root / "trec" / corpus / row

    def cost(self, corpus: str, row: str) -> Path:
        """Return the file of what the steps of a row took."""
        return self.root / "cost" / corpus / f"{row}.jsonl"

    def index(self, corpus: str, row: str) -> Path:
        """Return the index by which a row answers."""
        return self.root / "indexes" / corpus / row

    def part(self, number: int, of: int) -> "Layout":
        """Return the places of what is made without a part of the training papers."""
        return Layout(self.root / "parts" / f"{number}-of-{of}")

    def corpus(self, corpus: str) -> Path:
        """Return the corpus store."""
        return self.root / "corpus" / corpus

    def tuning(self, corpus: str, row: str) -> Path:
        """Return the folder of the trials of a row."""
        return self.root / "tuning" / corpus / row
