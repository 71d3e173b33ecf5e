"""Readers of raw corpora: each module, or module of a folder, that the registry finds here."""
