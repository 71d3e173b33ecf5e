"""Papers as PDF files: their lines, what the first page says, the text, and the reader."""
