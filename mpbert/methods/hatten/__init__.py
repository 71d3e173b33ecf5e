"""HAtten: hierarchical attention over words and paragraphs makes vectors of papers and queries.

Gu, Gao and Hahnloser, Local Citation Recommendation with Hierarchical-Attention Text Encoder and
SciBERT-based Reranking (ECIR 2022); its reranker is ``cross_encoder``.
"""
