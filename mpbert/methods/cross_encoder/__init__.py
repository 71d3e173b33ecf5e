"""Cross-encoders: a transformer reads a query and a candidate together and sorts a ranking.

Nogueira, Jiang, Cho and Lin, Navigation-Based Candidate Expansion and Pretrained Language Models
(2020), and the reranker of Gu, Gao and Hahnloser, HAtten (ECIR 2022).
"""
