"""Which names of authors, or of venues, are the same."""


def comparable(name: str) -> str:
    """Return a name as it is compared: case and outer spaces do not matter; empty for no name."""
    return name.strip().lower()
