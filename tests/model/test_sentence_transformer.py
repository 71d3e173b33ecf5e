import dataclasses

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from mpbert.commands import embed
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.model.config import Configuration, ModelConfig, ReadingConfig
from mpbert.model.description import EncoderDescription
from mpbert.model.directory import save_encoder
from mpbert.model.encoder import TwoTower
from mpbert.vectors.store import VectorStore

READING = ReadingConfig(250, 100, 300, dynamic=False, sentence_tokens=12)


def described(config, reading=READING):
    return EncoderDescription("two-tower", Configuration(config, reading))


@pytest.fixture(scope="module")
def encoder(rfc_binary, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    config = ModelConfig(*(BinaryCorpus(rfc_binary).vocab_size, 16, 32, 2, 1, 1, 0, 0.0, 0.0, 0.0))
    torch.manual_seed(1)
    state = TwoTower(config).state_dict()
    save_encoder(path, described(config), state, rfc_binary / "tokenizer.json")
    return path


@pytest.fixture(scope="module")
def model(encoder):
    return SentenceTransformer(str(encoder), trust_remote_code=True, device="cpu")


@pytest.fixture(scope="module")
def vectors(rfc_binary, encoder, tmp_path_factory):
    output = tmp_path_factory.mktemp("vectors") / "rfc"
    embed.run(embed.Config(rfc_binary, encoder, output, splits=["test"], device="cpu"))
    return output


def test_papers_as_lists_of_sentences_get_the_vectors_of_embed(model, vectors, rfc_corpus):
    store = VectorStore.load(vectors, "papers")
    papers = [
        paper
        for paper in CorpusStore(rfc_corpus).papers()
        if paper.num_abstract < 100 and len(paper.sentences) - paper.num_abstract <= 300
    ]
    assert len(papers) > 20
    texts = [[paper.title, *paper.sentences] for paper in papers]
    found = model.encode_document(texts, batch_size=7)
    assert found.dtype == np.float32
    expected = np.array([store[paper.paper_id] for paper in papers])
    assert np.allclose(found, expected, atol=1e-5)
    assert np.allclose(model.encode(texts[:3]), expected[:3], atol=1e-5)


@pytest.fixture(scope="module")
def reader_of_parts(rfc_binary, tmp_path_factory):
    """Encoder whose vectors depend on what a sentence is read as, and which reads citing ones."""
    path = tmp_path_factory.mktemp("parts")
    sizes = (BinaryCorpus(rfc_binary).vocab_size, 16, 32, 2, 1, 1, 0, 0.0, 0.0, 0.0)
    config = ModelConfig(*sizes, sentence_roles=True)
    torch.manual_seed(2)
    state = TwoTower(config).state_dict()
    description = described(config, dataclasses.replace(READING, citing_sentences=400))
    save_encoder(path, description, state, rfc_binary / "tokenizer.json")
    return path


def test_papers_by_their_parts_get_the_vectors_of_embed(
    reader_of_parts, rfc_binary, rfc_corpus, tmp_path
):
    config = embed.Config(rfc_binary, reader_of_parts, tmp_path / "v", splits=[], device="cpu")
    embed.run(config)
    store, corpus = VectorStore.load(tmp_path / "v", "papers"), CorpusStore(rfc_corpus)
    train, citing = corpus.contexts("train"), {}
    for number in range(len(train)):
        for row in train.cited(number):
            paper = corpus.paper(int(train.citing_rows[number]))
            citing.setdefault(row, []).append(paper.sentences[train.positions[number]])
    rows = [row for row in range(len(corpus.paper_ids)) if len(citing.get(row, [])) in (0, 2, 5)]
    papers = [corpus.paper(row) for row in rows]
    parts = [
        {
            **{"title": paper.title, "abstract": paper.abstract, "citing": citing.get(row, [])},
            "text": paper.sentences[paper.num_abstract :],
        }
        for row, paper in zip(rows, papers, strict=True)
    ]
    model = SentenceTransformer(str(reader_of_parts), trust_remote_code=True, device="cpu")
    expected = [store[paper.paper_id] for paper in papers]
    assert len(rows) > 20 and np.allclose(model.encode(parts), expected, atol=1e-5)
    with pytest.raises(ValueError, match="expected title, abstract, text or citing of a paper"):
        model.encode([{"title": "A title", "body": "A body."}])
    with pytest.raises(ValueError, match="a query is a text or a list"):
        model.encode_query([{"title": "A title"}])


def test_manuscripts_get_the_vectors_of_embed(model, vectors, rfc_corpus):
    corpus = CorpusStore(rfc_corpus)
    store = VectorStore.load(vectors, "contexts.test")
    contexts = corpus.contexts("test")
    texts, ids = [], []
    for i in range(0, len(contexts), 9):
        paper = corpus.paper(int(contexts.citing_rows[i]))
        sentences = [paper.title, *paper.sentences]  # the title is read as the first of them
        position = int(contexts.positions[i]) + 1
        texts.append(sentences[: position + 2])
        ids.append(contexts.query_ids[i])
    assert max(map(len, texts)) > READING.manuscript_sentences  # some are cut off
    found = model.encode_query(texts)
    assert np.allclose(found, [store[name] for name in ids], atol=1e-5)


def test_texts_that_are_read_whole_get_the_vectors_of_embed_where_reading_is_random(
    rfc_binary, rfc_corpus, tmp_path
):
    """Nothing is left to chance where nothing is left out; a title and abstract are read first."""
    path = tmp_path / "encoder"
    path.mkdir()
    sizes = (BinaryCorpus(rfc_binary).vocab_size, 16, 32, 2, 1, 1, 0, 0.0, 0.0, 0.0)
    config = ModelConfig(*sizes, sentence_roles=True)
    torch.manual_seed(3)
    state = TwoTower(config).state_dict()
    reading = ReadingConfig(500, 100, 800, manuscript_abstract=4, sentence_tokens=12)
    save_encoder(path, described(config, reading), state, rfc_binary / "tokenizer.json")
    embed.run(embed.Config(rfc_binary, path, tmp_path / "v", splits=["test"], device="cpu"))
    model = SentenceTransformer(str(path), trust_remote_code=True, device="cpu")
    corpus = CorpusStore(rfc_corpus)
    papers = [p for p in corpus.papers() if p.num_abstract < 100 and len(p.sentences) < 700][:20]
    texts = [
        {"title": p.title, "abstract": p.abstract, "text": p.sentences[p.num_abstract :]}
        for p in papers
    ]
    store = VectorStore.load(tmp_path / "v", "papers")
    assert np.allclose(model.encode(texts), [store[p.paper_id] for p in papers], atol=1e-5)
    contexts, queries = corpus.contexts("test"), VectorStore.load(tmp_path / "v", "contexts.test")
    chosen = [i for i in range(len(contexts)) if contexts.positions[i] < 400][::9]
    texts = []
    for i in chosen:
        paper = corpus.paper(int(contexts.citing_rows[i]))
        texts.append([paper.title, *paper.sentences][: int(contexts.positions[i]) + 3])
    expected = [queries[contexts.query_ids[i]] for i in chosen]
    assert len(chosen) > 5 and np.allclose(model.encode_query(texts), expected, atol=1e-5)


def test_long_texts_are_sampled_the_same_alone_and_in_any_batch(rfc_binary, tmp_path):
    path = tmp_path / "encoder"
    path.mkdir()
    config = ModelConfig(BinaryCorpus(rfc_binary).vocab_size, 16, 32, 2, 1, 1, 0, 0.0, 0.0, 0.0)
    torch.manual_seed(4)
    state, reading = TwoTower(config).state_dict(), ReadingConfig(5, 2, 3, sentence_tokens=12)
    save_encoder(path, described(config, reading), state, rfc_binary / "tokenizer.json")
    model = SentenceTransformer(str(path), trust_remote_code=True, device="cpu")
    long = [f"Packet {chr(97 + number)} is lost." for number in range(20)]
    papers = [long, ["Short."], long[::-1]]
    for encode in (model.encode, model.encode_query):
        together = encode(papers)
        alone = [encode([paper])[0] for paper in papers]
        assert np.allclose(together, alone, atol=1e-5)
    assert not np.allclose(model.encode([long]), model.encode([long[:5]]), atol=1e-4)


def test_a_paper_of_which_no_known_part_is_read_is_an_empty_one(model):
    nothing = model.encode([{"citing": ["It is cited."]}, {}, ""])
    assert np.allclose(nothing, nothing[0])


def test_a_text_is_split_into_sentences(model):
    text = "We route packets. Others (J. Postel) do not."
    sentences = ["We route packets.", "Others (J. Postel) do not."]
    assert np.allclose(model.encode(text), model.encode([sentences])[0], atol=1e-6)
    assert model.encode([""]).shape == (1, 16) and model.encode([]).shape == (0,)
    assert model.get_embedding_dimension() == 16


def test_a_saved_model_is_an_encoder_directory_again(model, encoder, tmp_path):
    model.save(str(tmp_path / "again"), create_model_card=False)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (encoder / name).read_bytes()
    again = SentenceTransformer(str(tmp_path / "again"), trust_remote_code=True, device="cpu")
    texts = ["We route packets.", ["Lists work too.", "Do they?"]]
    assert np.array_equal(again.encode(texts), model.encode(texts))


def test_the_similarity_of_a_query_to_papers_is_the_cosine(model):
    query, papers = model.encode_query("We route."), model.encode_document(["Routing.", "Mail."])
    cosines = papers @ query / np.linalg.norm(papers, axis=1) / np.linalg.norm(query)
    assert np.allclose(model.similarity(query, papers).numpy()[0], cosines, atol=1e-6)
