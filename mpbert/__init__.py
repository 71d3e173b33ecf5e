"""mpbert: vectors of manuscripts and papers for citation recommendation (MP-BERT4CR)."""

__version__ = "0.1.0"
