"""Navigation: a ranking grows by what its first papers cite.

Nogueira, Jiang, Cho and Lin, Navigation-Based Candidate Expansion and Pretrained Language Models
for Citation Recommendation (Scientometrics 2020).
"""
