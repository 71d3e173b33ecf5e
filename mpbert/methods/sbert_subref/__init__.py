"""SBERT + SubRef: sentence vectors learnt from citations, and a diverse choice of candidates.

SBERT + SubRef (ICPR 2020): the embedder ``sbert`` is a Siamese or triplet network, the reranker
``submodular`` chooses candidates one by one.
"""
