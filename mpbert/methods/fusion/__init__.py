"""Fusion: several rankings become one, by reciprocal ranks or by learnt weights.

Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (SIGIR 2009); the learnt weights are ours.
"""
