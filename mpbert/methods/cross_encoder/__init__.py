"""Cross-encoders that rerank the lists of other methods."""
