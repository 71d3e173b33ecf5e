"""Zotero's own database, and the files beside it: what it holds, and the reader."""
