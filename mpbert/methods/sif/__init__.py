"""SIF: weighted means of word vectors without what all texts have in common.

Arora, Liang and Ma, A Simple but Tough-to-Beat Baseline for Sentence Embeddings (ICLR 2017).
"""
