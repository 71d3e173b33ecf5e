"""SIF: Arora et al. (ICLR 2017)."""
