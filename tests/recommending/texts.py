"""A text that asks, and a paper to add."""

TEXT = "A host sends mail to a relay. The protocol names the sender. A relay may refuse it."
NEW = {
    **{"paper_id": "AA-NEW", "title": "Zebrafish relay zymurgy", "year": 2021},
    "abstract": ["Zebrafish quickly relay zymurgy.", "Zymurgy is what zebrafish relay."],
    "sections": [{"sentences": ["Zygotes of zebrafish know zymurgy [CITATION]."]}],
}
