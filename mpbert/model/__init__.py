"""MP-BERT4CR (Zhang & Ma, WI-IAT 2021): the pages to read beside Section 4 of the paper."""
