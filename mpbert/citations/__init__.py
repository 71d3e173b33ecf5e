"""The parser of citation markers and printed references; it needs nothing but records."""
