"""A small encoder that nobody trained, in the files of sentence-transformers."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizerFast

from mpbert.corpus.store import CorpusStore
from mpbert.pretrained.texts import training_texts

MODULES = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]


@pytest.fixture(scope="session")
def store(rfc_corpus: Path) -> CorpusStore:
    """Store of the 120 RFCs."""
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="session")
def small_encoder(store: CorpusStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a BERT of 32 dimensions that reads 24 tokens, with mean pooling."""
    folder = tmp_path_factory.mktemp("models") / "small-encoder"
    tokenizer = BertWordPieceTokenizer()
    texts = training_texts(store)[:300]
    tokenizer.train_from_iterator(texts, vocab_size=500, show_progress=False)
    BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=64).save_pretrained(folder)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        BertModel(config).save_pretrained(folder)
    modules = [
        {
            "idx": place,
            "name": str(place),
            "path": name,
            "type": f"sentence_transformers.models.{kind}",
        }
        for place, (name, kind) in enumerate(MODULES)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24}')
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    pooling["word_embedding_dimension"] = 32
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder
