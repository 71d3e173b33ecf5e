"""Names of what papers are ranked for, of which queries count, and of what queries are made of."""

TASKS = ("local", "global")  # for citation contexts, or for whole papers
COUNTED = ("distinct", "all")  # which queries count: those that repeat no other, or all
QUERIES = ("context", "abstract", "context+abstract")  # what of a context and its paper is asked
