"""Sentences of a manuscript that need a citation and have none: citation worthiness."""
