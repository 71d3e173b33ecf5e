"""Citeomatic: NNSelect embeds texts as weighted bags of words, NNRank reranks by features of pairs.

Bhagavatula, Feldman, Power and Ammar, Content-Based Citation Recommendation (NAACL 2018). Both
learn from triplets of a query, a paper it cites and one it does not.
"""
