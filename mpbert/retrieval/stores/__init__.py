"""Servers and folders that hold the vectors of papers, named by URL."""
