"""HyperDoc2Vec: Han et al. (ACL 2018)."""
