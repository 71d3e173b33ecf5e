"""Vectors with ids, independent of how they were trained."""
