"""A corpus of papers: its store, splits, words and token ids."""
