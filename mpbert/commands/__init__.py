"""The commands: one module each, with its options and ``run``; all file handling is here."""
