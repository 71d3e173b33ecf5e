"""MP-BERT4CR in plain PyTorch: the pages to read beside the papers."""
