"""DACR: attention over the words, the section and the other citations of a context.

Zhang and Ma, Dual Attention Model for Citation Recommendation (COLING 2020). It starts from vectors
of HyperDoc2Vec.
"""
