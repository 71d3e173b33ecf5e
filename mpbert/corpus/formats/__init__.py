"""Readers of raw corpora: one module per format; the registry finds them here."""
