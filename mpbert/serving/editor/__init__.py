"""A language server: what editors ask over the Language Server Protocol."""
