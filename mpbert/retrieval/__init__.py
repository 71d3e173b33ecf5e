"""Queries to rankings of all papers: exact search by vectors, and by words."""
