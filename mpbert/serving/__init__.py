"""HTTP API and the page of a recommender, for one machine and no network."""
