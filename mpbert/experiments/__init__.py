"""Rows of a report: how they are made, tuned and paid for."""
