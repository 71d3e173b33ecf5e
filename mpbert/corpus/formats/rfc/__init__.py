"""The RFCs of the Internet, plain text of 72 columns: layout, markers and references, reader."""
