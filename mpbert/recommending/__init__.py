"""An index that recommends papers for a place in a manuscript; needs no corpus and no training."""
