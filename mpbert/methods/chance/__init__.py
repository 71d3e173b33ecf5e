"""Chance: random vectors."""
