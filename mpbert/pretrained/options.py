"""What may be stored of the sentences of a corpus, by name."""

PARTS = ("abstract", "body", "citing")
