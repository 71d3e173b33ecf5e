"""Citation candidates: near papers and all they cite, as a reranker.

Bhagavatula et al., Content-Based Citation Recommendation (NAACL 2018), Sec. 3: Citeomatic adds the
citations of the nearest papers to its candidates.
"""
