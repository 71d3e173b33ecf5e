"""The front door for Python: what ``from mpbert import ...`` gives, made of the library below."""
