"""Data and contestants of bench_opponents.py that compare the states of tokens."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from opponents import FIRST, THREADS, Ask, Data, abstracts
from vector_opponents import TASKS as OF_VECTORS

from mpbert.foundation.ragged import offsets_of
from mpbert.methods.late_interaction.reranker import LateInteraction
from mpbert.retrieval.ranking import top_k

PAPERS, QUERIES = 300, 100


def states(folder: Path) -> Data:
    """Return (T, D) float16 states of each abstract, and of each context; they are made once."""
    path = folder / "states.npz"
    if not path.exists():
        np.savez(path, **_made())
    held = np.load(path)
    parts = (np.split(held[name], held[f"{name}_ends"][:-1]) for name in ("texts", "queries"))
    return Data(*parts)


def _made() -> dict[str, np.ndarray]:
    """Return what the row ``bm25_late_interaction_minilm`` reads of abstracts and of contexts."""
    from mpbert.methods.late_interaction.states import LastStates
    from mpbert.pretrained.encoder import PretrainedEncoder
    from mpbert.pretrained.models import load

    row, data, found = LateInteraction(), abstracts(PAPERS, QUERIES), {}
    loaded = load(row.model, "none", 1, row.vocab_size, list)
    encoder = PretrainedEncoder(*loaded, "mean", row.batch_tokens, bfloat16=False)
    for name, limit in (("texts", row.paper_tokens), ("queries", row.query_tokens)):
        texts = getattr(data, name)
        own, offsets = LastStates(encoder, texts, limit, name).of(np.arange(len(texts)))
        found |= {name: own.half().numpy(), f"{name}_ends": offsets[1:]}
    return found


def late(data: Data) -> Ask:
    import torch

    from mpbert.methods.late_interaction.states import max_sim

    torch.set_num_threads(THREADS)
    texts = torch.from_numpy(np.concatenate(data.texts))
    offsets = offsets_of(np.array([len(each) for each in data.texts]))

    def ask(queries: Sequence[np.ndarray]) -> np.ndarray:
        each = (torch.from_numpy(query).float() for query in queries)
        scores = np.stack([max_sim(query, texts.float(), offsets) for query in each])
        return top_k(scores, FIRST, np.full(len(queries), -1))[0]

    return ask


def pylate(data: Data) -> Ask:
    import torch
    from pylate.rank import rerank

    torch.set_num_threads(THREADS)
    texts, numbers = _tensors(data.texts), list(range(len(data.texts)))

    def ask(queries: Sequence[np.ndarray]) -> np.ndarray:
        many = len(queries)
        found = rerank([numbers] * many, _tensors(queries), [texts] * many)
        return np.array([[paper["id"] for paper in row[:FIRST]] for row in found])

    return ask


def fast_plaid(data: Data) -> Ask:
    import torch
    from fast_plaid.search import FastPlaid

    torch.set_num_threads(THREADS)
    folder = tempfile.TemporaryDirectory()
    index = FastPlaid(folder.name, device="cpu")
    index.create(_tensors(data.texts))

    def ask(queries: Sequence[np.ndarray], _kept: object = folder) -> np.ndarray:
        found = index.search(_tensors(queries), FIRST, show_progress=False)
        return np.array([[paper for paper, _ in row] for row in found])

    return ask


def _tensors(each: Sequence[np.ndarray]) -> list:
    import torch

    return [torch.from_numpy(one).float() for one in each]


TASKS = OF_VECTORS | {
    "late": (states, late, [("pylate", "", pylate), ("fast-plaid", "", fast_plaid)])
}
