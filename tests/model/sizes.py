"""The small model that several tests build."""

from mpbert.model.config import ModelConfig

SMALL = ModelConfig(
    vocab_size=50,
    dim=8,
    ffn_dim=16,
    num_heads=2,
    sentence_layers=2,
    document_layers=2,
    decoder_layers=1,
    dropout=0.1,
    attention_dropout=0.1,
    activation_dropout=0.1,
)
