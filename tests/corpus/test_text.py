import re

import pytest

from mpbert.citations.records import Marker
from mpbert.corpus.text import (
    clean_characters,
    cut_markers,
    find_marker_like,
    split_sentences,
    words,
)


def cut(text: str) -> str:
    return cut_markers(text, [Marker(m.start(), m.end()) for m in re.finditer("@+", text)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works [sic] @.", "It works [sic]."),
        ("it (see @, @) works", "it works"),
        ("Foo (@) bar", "Foo bar"),
        ("see (@, Section 3.2) now", "see now"),
        ("This [@] is (e.g., @; @). Good", "This is. Good"),
        ("The value (a, @) is", "The value (a) is"),
        ("@ and @ show", "show"),
        ("as in @, @ and @ .", "as in."),
        ("In @, we", "In, we"),
        ("a call f() of @ stays", "a call f() of stays"),
        ("@", ""),
    ],
)
def test_cutting_markers_leaves_no_ruins(text, expected):
    assert cut(text) == expected


@pytest.mark.parametrize("span", [(3, 3), (4, 9), (2, 1)])
def test_a_marker_that_does_not_fit_its_text_is_refused(span):
    with pytest.raises(ValueError, match="is empty, overlaps the one before it"):
        cut_markers("see [1]", [Marker(*span)])


def test_overlapping_markers_are_refused():
    with pytest.raises(ValueError, match="overlaps"):
        cut_markers("see [1][2]", [Marker(4, 8), Marker(7, 10)])


def test_clean_characters_composes_and_drops_control_and_invisible_characters():
    assert clean_characters(" cafe\u0301\x00\t\u200bx\u00ad \n y ") == "café x y"


def test_sentences_do_not_end_after_abbreviations_initials_and_item_numbers():
    text = (
        "1. See e.g. The work of Koo et al. In Fig. 3 and Eq. 4, by J. Postel. It is in Sec. 3.2. "
        'That follows plan A. The next is "quoted." Is it? Yes (see RFC 2119). End'
    )
    assert split_sentences(text) == [
        "1. See e.g. The work of Koo et al. In Fig. 3 and Eq. 4, by J. Postel.",
        "It is in Sec. 3.2.",
        "That follows plan A.",
        'The next is "quoted."',
        "Is it?",
        "Yes (see RFC 2119).",
        "End",
    ]


def test_no_text_has_no_sentences():
    assert split_sentences("  ") == []


def test_words_are_lower_case_runs_of_letters_and_digits():
    assert words("IPv6-only Über_x, 3.2") == ["ipv6", "only", "über", "x", "3", "2"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("as shown (Koo et al., 2008)", "author_year"),
        ("Collins (2003; 1999) shows", "author_year"),
        ("as shown [12]", "numbered"),
        ("as shown [1, 2]", "numbered"),
        ("see [RFC2119]", "rfc"),
        ("see RFC 2119", "rfc"),
        ("see STD 13", "series"),
        ("see BCP 14", "series"),
    ],
)
def test_forgotten_markers_are_found(text, kind):
    assert find_marker_like(text) == kind


@pytest.mark.parametrize(
    "text", ["the octet DST[15]", "an RFC of 12 pages", "the IEEE standard", "(all but 2 of them)"]
)
def test_text_that_cites_nothing_is_left_alone(text):
    assert find_marker_like(text) is None
