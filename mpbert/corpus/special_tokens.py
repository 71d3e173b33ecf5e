"""The tokens that stand for no text, and their ids from 1 on."""

SPECIAL_TOKENS = ("<unk>", "</s>", "<S_SEP>", "<SENT_MASK>")
END, SEPARATOR, SENTENCE_MASK = range(1, len(SPECIAL_TOKENS))
