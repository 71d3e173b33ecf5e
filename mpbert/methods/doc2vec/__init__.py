"""Doc2Vec: Le & Mikolov (ICML 2014)."""
