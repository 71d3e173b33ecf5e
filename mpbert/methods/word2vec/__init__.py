"""Word2Vec, cited papers as words."""
