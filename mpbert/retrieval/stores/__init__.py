"""Servers that hold the vectors of papers, named by URL in the place of an index in memory."""
