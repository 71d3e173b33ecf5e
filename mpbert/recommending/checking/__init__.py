"""Checks what a finished manuscript cites: its bibliography, and how well each paper fits."""
