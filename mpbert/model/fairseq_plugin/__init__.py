"""Adapters that let fairseq train the model; no formula."""
