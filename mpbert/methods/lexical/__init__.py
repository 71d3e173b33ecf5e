"""BM25 and TF-IDF."""
