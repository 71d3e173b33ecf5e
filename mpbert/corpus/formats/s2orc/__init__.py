"""S2ORC in its three forms: the API, the release of 2020, and what s2orc-doc2json writes."""
