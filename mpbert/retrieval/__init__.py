"""Queries to rankings of all papers: exact dense search and BM25."""
