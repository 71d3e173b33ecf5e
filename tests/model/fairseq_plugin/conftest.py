"""A sentence encoder that is tuned: its stored states, flags, and a training without a break."""

from dataclasses import replace
from pathlib import Path

import pytest

from mpbert.commands import embed_sentences
from tests.conftest import MakeOnce, MicroTrainer


@pytest.fixture(scope="session")
def stored(rfc_corpus: Path, small_encoder: Path, make_once: MakeOnce) -> Path:
    """Vectors of sentences, and the states that enter the last layer."""
    settings = {"tuned_layers": 1, "precision": "float32"}

    def make(output: Path) -> None:
        config = embed_sentences.Config(rfc_corpus, small_encoder, output, **settings)
        embed_sentences.run(config)

    return make_once("states", make)


@pytest.fixture(scope="session")
def tuning(stored: Path) -> tuple[str, ...]:
    """Flags of 9 updates in which the last layer learns, too."""
    return (
        *("--dim=16", "--ffn-dim=16", "--num-heads=2", "--dropout=0", "--sentence-layers=0"),
        *("--document-layers=1", "--attention-dropout=0", "--activation-dropout=0"),
        *("--join=concatenated", "--upper-dim=8", "--objective=contrastive"),
        *("--citing-sentences=2", "--sentence-roles", "--shared-tokens", "--lr=0.003"),
        *("--optimizer=mpbert_adam", "--tuned-layers=1", "--tuned-lr=0.5"),
        *("--max-tokens=9000", "--max-update=9", f"--sentence-vectors={stored}"),
    )


@pytest.fixture(scope="session")
def tuned_at_once(trainer: MicroTrainer, tuning: tuple[str, ...], make_once: MakeOnce) -> Path:
    """Directory of that training, by one process that was not killed."""

    def make(path: Path) -> None:
        replace(trainer, root=path.parent).run(path.name, "finetune", *tuning)

    return make_once("tuned", make)
