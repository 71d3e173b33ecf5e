"""Papers in XML: what TEI and JATS have in common, and a reader of each."""
