"""Exact matches beside a bag, from commands: training, weights of tokens, ranking."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy import sparse

from mpbert.commands import build_index, contributions, embed, finetune, retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.errors import ConfigError, EncoderError, VectorsError
from mpbert.model.directory import load_two_tower
from mpbert.vectors.matches import load_matches
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.fairseq
ROOT = Path(__file__).parents[3]
BAG = ROOT / "finetune" / "configs" / "token_bag.yaml"
SMALL = ["dim=16", "ffn_dim=32", "num_heads=2", "batch_tokens=40000", "max_valid=20"]
MATCHES = [*SMALL, "exact_matches=true", "warmup_updates=1", "max_epoch=1"]


@pytest.fixture(scope="module")
def made(rfc_binary, tmp_path_factory):
    """A folder with a bag, one that gained exact matches, and vectors of this one."""
    out = tmp_path_factory.mktemp("matches")
    bag = finetune.Config(rfc_binary, BAG, out / "bag", settings=[*SMALL, "max_update=2"])
    finetune.run(bag)
    finetune.run(
        finetune.Config(rfc_binary, BAG, out / "encoder", init=out / "bag", settings=MATCHES)
    )
    embed.run(embed.Config(rfc_binary, out / "encoder", out / "vectors", readings=2))
    return out


def test_a_bag_gains_exact_matches_and_both_learn(made):
    before, after = (load_file(made / name / "model.safetensors") for name in ("bag", "encoder"))
    assert set(after) > set(before)
    new = {name for name in after if name.startswith("lexical.")}
    assert set(after) - set(before) == new
    name = "citation.encoder.bag.embedding.weight"
    assert 0 < (after[name] - before[name]).abs().max()
    weights = after["lexical.log_weights.weight"]
    assert len(weights.unique()) > 100
    assert load_two_tower(made / "encoder").lexical.mean_length > 100
    again = load_two_tower(made / "encoder", dropout=0.0)  # with matches: none is lost
    assert torch.equal(again.lexical.log_weights.weight, weights)


def test_a_score_is_the_cosine_and_the_matches(made, rfc_corpus, tmp_path):
    store = CorpusStore(rfc_corpus)
    retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "run", vectors=made / "vectors", top=20))
    contexts = store.contexts("test")
    run = read_run(tmp_path / "run" / "test.run")
    rows, scores = matrices_of_run(run, contexts.query_ids, store.paper_ids, "run")
    vectors = [VectorStore.load(made / "vectors", n).vectors for n in ("contexts.test", "papers")]
    weights = [load_matches(made / "vectors", n) for n in ("contexts.test", "papers")]
    s, t = (normalized(v).astype(np.float64) for v in vectors)
    matches = (weights[0].astype(np.float64) @ weights[1].astype(np.float64).T).toarray()
    expected = s @ t.T + matches
    assert np.allclose(np.take_along_axis(expected, rows, 1), scores, atol=1e-5)
    expected[store.years[None] > contexts.years[:, None]] = -np.inf
    expected[np.arange(len(rows)), contexts.citing_rows] = -np.inf
    assert np.allclose(-np.sort(-expected, 1)[:, :20], scores, atol=1e-5)
    assert matches.max() > 0.1


def test_what_cannot_hold_exact_matches_says_so(made, rfc_corpus, rfc_binary, tmp_path):
    vectors, encoder = made / "vectors", made / "encoder"
    with pytest.raises(ConfigError, match="searched as a whole; leave --approximate out"):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "a", vectors=vectors, approximate=True))
    with pytest.raises(EncoderError, match="expected an encoder without exact_matches"):
        build_index.run(build_index.Config(rfc_corpus, encoder, vectors, tmp_path / "index"))
    with pytest.raises(EncoderError, match="expected an encoder without exact_matches"):
        contributions.run(contributions.Config(rfc_binary, encoder, vectors))
    with pytest.raises(EncoderError, match="expected the same: --settings exact_matches=true"):
        finetune.run(
            finetune.Config(rfc_binary, BAG, tmp_path / "out", init=encoder, settings=SMALL)
        )
    with pytest.raises(ConfigError, match="exact_matches with objective mpt-src-tgt; expected"):
        settings = [*MATCHES, "objective=mpt-src-tgt"]
        finetune.Config(rfc_binary, BAG, tmp_path / "out", settings=settings)


def test_vectors_that_lost_the_matches_of_their_queries_are_refused(made, rfc_corpus, tmp_path):
    for file in (made / "vectors").iterdir():
        if file.name not in ("contexts.test.matches.npz", "manifest.json"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(VectorsError, match="found exact matches of papers and none of contexts"):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "run", vectors=tmp_path))


def test_the_weights_of_a_manuscript_add_up_to_the_weight_of_matches(made):
    weights = load_matches(made / "vectors", "contexts.valid")
    assert isinstance(weights, sparse.csr_array)
    assert np.allclose(weights.sum(axis=1), 4, rtol=1e-4)
