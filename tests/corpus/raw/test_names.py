"""Names of authors that stand in one field."""

import pytest

from mpbert.corpus.raw.names import persons


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("Rada Mihalcea and\n               Dan Moldovan", "Rada Mihalcea|Dan Moldovan"),
        ("Mihalcea, Rada and\tMoldovan, Dan", "Mihalcea, Rada|Moldovan, Dan"),
        ("van der Berg, J. AND de la Cruz, M.", "van der Berg, J.|de la Cruz, M."),
        ("A. Smith, B. Jones, and C. Doe", "A. Smith|B. Jones|C. Doe"),
        ("Smith, J.; Doe, K.", "Smith, J.|Doe, K."),
        ("Mihalcea R and Moldovan D", "Mihalcea R|Moldovan D"),
        ("Rada Mihalcea and others", "Rada Mihalcea"),
        ("Rada Mihalcea et al.", "Rada Mihalcea"),
        ("et al.", ""),
        (" ", ""),
        ("Martin Luther King, Jr.", "Martin Luther King, Jr."),
        *[(group, group) for group in ("Johnson and Johnson", "Barnes and Noble, Inc.")],
        *[
            (group, group)
            for group in (
                "Centers for Disease Control and Prevention",
                "National Aeronautics and Space Administration",
                "Bill and Melinda Gates Foundation",
            )
        ],
    ],
)
def test_persons_are_apart_and_groups_stay_one(printed, expected):
    assert "|".join(persons(printed)) == expected
