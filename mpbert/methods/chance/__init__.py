"""Chance: a random vector for every paper and query.

Its rankings are random, so it shows what a measure is worth without any method; of no paper.
"""
