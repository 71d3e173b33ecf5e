"""Late interaction: each token of a query looks for the token of a paper that is nearest to it."""
