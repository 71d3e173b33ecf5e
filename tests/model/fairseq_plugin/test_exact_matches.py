"""Exact matches beside a bag, from commands: training, weights of tokens, ranking."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy import sparse

from mpbert.commands import contributions, embed, finetune, retrieve
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.errors import ConfigError, EncoderError, VectorsError
from mpbert.model.config import LexicalConfig, ModelConfig
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower
from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask
from mpbert.model.packing import TokenCounts
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR
from mpbert.model.token_counts import count_tokens
from mpbert.vectors.matches import load_matches
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.fairseq
ROOT = Path(__file__).parents[3]
BAG = ROOT / "finetune" / "configs" / "token_bag.yaml"
SMALL = ["dim=16", "ffn_dim=32", "num_heads=2", "batch_tokens=40000", "max_valid=20"]
MATCHES = [*SMALL, "exact_matches=true", "warmup_updates=1", "max_epoch=1"]


@pytest.fixture(scope="module")
def made(rfc_binary, forked_trainings, tmp_path_factory):
    """A folder with a bag, one that gained exact matches, and vectors of this one."""
    out = tmp_path_factory.mktemp("matches")
    bag = finetune.Config(rfc_binary, BAG, out / "bag", settings=[*SMALL, "max_update=2"])
    finetune.run(bag)
    finetune.run(
        finetune.Config(rfc_binary, BAG, out / "encoder", init=out / "bag", settings=MATCHES)
    )
    embed.run(embed.Config(rfc_binary, out / "encoder", out / "vectors", readings=2))
    return out


def matches_of(made, name):
    rows = len(VectorStore.load(made / "vectors", name).ids)
    return load_matches(made / "vectors", name, rows)


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
    weights = [matches_of(made, n) for n in ("contexts.test", "papers")]
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
    for more in ({"approximate": True}, {"similarity": "dot"}):
        with pytest.raises(ConfigError, match="add to cosines over all papers; leave --"):
            retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "a", vectors=vectors, **more))
    with pytest.raises(ConfigError, match="--splits train: its contexts are known"):
        embed.run(embed.Config(rfc_binary, encoder, tmp_path / "train", splits=["train"]))
    with pytest.raises(EncoderError, match="expected an encoder without exact_matches"):
        contributions.run(contributions.Config(rfc_corpus, rfc_binary, encoder, vectors))
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
    with pytest.raises(VectorsError, match="found exact matches of papers or of contexts"):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "run", vectors=tmp_path))


def test_the_weights_of_a_manuscript_add_up_to_the_weight_of_matches(made):
    weights = matches_of(made, "contexts.valid")
    assert isinstance(weights, sparse.csr_array)
    assert np.allclose(weights.sum(axis=1), 4, rtol=1e-4)


def test_a_sample_of_queries_is_ranked_as_among_all(made, rfc_corpus, tmp_path):
    runs = []
    for sample in (None, 30):
        output = tmp_path / str(sample)
        config = retrieve.Config(rfc_corpus, output, vectors=made / "vectors", sample=sample)
        retrieve.run(config)
        runs.append(dict(lines_by_query(output / "test.run")))
    assert len(runs[1]) == 30
    assert all(runs[0][query] == lines for query, lines in runs[1].items())


def lines_by_query(run):
    lines = [line.split()[:5] for line in run.read_text().splitlines()]
    return ((key, [x[2:] for x in group]) for key, group in groupby(lines, lambda x: x[0]))


def test_weights_that_are_stored_are_those_of_the_texts(made, rfc_binary):
    """What embed reads of papers and manuscripts, sentence by sentence."""
    corpus, model = BinaryCorpus(rfc_binary), load_two_tower(made / "encoder")
    config = read_description(made / "encoder").reading
    train, contexts = corpus.contexts("train"), corpus.contexts("test")
    citing = {}  # of all training contexts, also of papers that training leaves out
    for i in range(len(train)):
        for row in train.cited_rows[train.cited_offsets[i] : train.cited_offsets[i + 1]]:
            citing.setdefault(row, []).append((train.sentences[i], CITING))
    for row in max(citing, key=lambda r: len(citing[r])), 0:
        first, last = corpus.sentence_offsets[row : row + 2]
        own = [(s, ABSTRACT if s - first < corpus.num_abstract[row] else BODY)
               for s in range(first, last)]  # fmt: skip
        counts = counts_of_sentences(corpus, own + citing.get(row, []))
        expected = model.lexical.weigh_papers(counts).detach().numpy()
        found = matches_of(made, "papers")[[row]].toarray()[0]
        assert np.allclose(found[counts.tokens.numpy()], expected, rtol=1e-4)
        assert np.count_nonzero(found) == len(expected)
    for query in (5, 90):
        row, place = contexts.citing_rows[query], contexts.sentences[query]
        first, last = corpus.sentence_offsets[row : row + 2]
        known = min(config.manuscript_abstract, max(place - 1 - first, 0))
        read = [(s, ABSTRACT) for s in range(first, first + known)]
        near = range(max(place - 1, first), min(place + 2, last))
        before = range(first + known, near[0])
        left = max(config.manuscript_sentences - len(near), 0)
        read += [(s, BODY) for s in before[len(before) - min(left, len(before)) :]]
        read += [(s, CITING if s == place else NEIGHBOUR) for s in near]
        counts = counts_of_sentences(corpus, read)
        expected = 4 * model.lexical.weigh_manuscripts(counts).detach().numpy()
        found = matches_of(made, "contexts.test")[[query]].toarray()[0]
        assert np.allclose(found[counts.tokens.numpy()], expected, rtol=1e-4)
        assert np.count_nonzero(found) == len(expected)


def counts_of_sentences(corpus, sentences):
    numbers, roles = (np.array(part) for part in zip(*sentences, strict=True))
    read = corpus.gather(numbers)
    return TokenCounts.of(count_tokens(*read, np.array([len(numbers)]), roles, corpus.vocab_size))


def test_training_leaves_out_what_the_manuscripts_of_a_batch_say(rfc_binary):
    config = ModelConfig(
        lexical=LexicalConfig(True), vocab_size=BinaryCorpus(rfc_binary).vocab_size
    )
    task = FinetuneTask(FinetuneOptions(data=str(rfc_binary), seed=1, citing_sentences=0))
    task.note_model(config)
    task.load_dataset("train")
    data = task.datasets["train"]
    batch = data.collater(list(range(40)))
    papers = np.unique(np.concatenate([data.targets[:40], data.negatives[:40].ravel()]))
    rows = np.unique(np.concatenate([papers, data.positives[:40][data.positives[:40] >= 0]]))
    unread = data.contexts.citing_rows[data.context_of[:40]]
    expected, leaky = (task.counted.of(rows, left_out) for left_out in (unread, None))
    found = batch["papers"].counts
    assert torch.equal(found.counts, expected.counts)
    assert found.counts.sum() < leaky.counts.sum()


def test_matches_that_were_learnt_go_on(made, rfc_binary, tmp_path):
    settings = [*MATCHES, "lr=0"]
    more = finetune.Config(
        rfc_binary, BAG, tmp_path / "more", init=made / "encoder", settings=settings
    )
    finetune.run(more)
    before, after = (
        load_file(p / "model.safetensors") for p in (made / "encoder", tmp_path / "more")
    )
    assert all(torch.equal(value, after[name]) for name, value in before.items())
