"""Word2Vec with cited papers as words, by gensim.

Mikolov et al., Distributed Representations of Words and Phrases (NIPS 2013), as MP-BERT4CR (Zhang
and Ma, WI-IAT 2021) compares itself with it.
"""
