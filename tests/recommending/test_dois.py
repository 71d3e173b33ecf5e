"""DOIs that ids tell."""

import pytest

from mpbert.recommending.dois import doi_of, doi_url


@pytest.mark.parametrize(
    ("paper_id", "doi"),
    [
        ("RFC1191", "10.17487/RFC1191"),
        ("rfc0791", "10.17487/RFC791"),
        ("10.1145/3486622.3494002", "10.1145/3486622.3494002"),
        ("https://doi.org/10.1000/A.b", "10.1000/a.b"),
        ("2005.00512", "10.48550/arXiv.2005.00512"),
        ("arXiv:math/0309136v2", "10.48550/arXiv.math/0309136"),
        ("P19-1001", None),
        ("RFC1191bis", None),
        ("smith 10.1000/x", None),
        ("", None),
    ],
)
def test_a_doi_is_told_by_ids_that_stand_for_one(paper_id, doi):
    assert doi_of(paper_id) == doi


def test_an_address_holds_no_character_that_means_something_else():
    assert doi_url('10.1000/a<b>"#c?d') == "https://doi.org/10.1000/a%3Cb%3E%22%23c%3Fd"
