"""What readers of raw formats share: files, values, spans, links between papers, checks."""
