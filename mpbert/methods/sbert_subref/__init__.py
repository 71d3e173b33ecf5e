"""SBERT and submodular selection of references."""
