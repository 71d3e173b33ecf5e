"""How sure an answer is: of each paper, and of the library."""
