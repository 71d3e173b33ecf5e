"""What a citation corpus is: its store, its text, and the arrays that training reads."""
