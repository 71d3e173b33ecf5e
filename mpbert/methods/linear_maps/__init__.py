"""Linear maps over the vectors of another method, learnt from citations."""
