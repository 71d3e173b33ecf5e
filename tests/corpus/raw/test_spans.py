from collections import Counter

import pytest

from mpbert.citations.records import RawSentence
from mpbert.corpus.raw.spans import borders_of, mark_paragraph, plain, sections_of
from mpbert.corpus.records import RawSection
from mpbert.corpus.text import cut_markers


def marked(text: str, *cited: tuple[str, str]) -> tuple[list[tuple[str, list[str]]], Counter[str]]:
    """Mark the first occurrence of each printed citation; return clean sentences with ids."""
    counts: Counter[str] = Counter()
    spans = [
        (text.index(printed), text.index(printed) + len(printed), (i,)) for printed, i in cited
    ]
    sentences = [
        (cut_markers(s.text, s.markers), [i for m in s.markers for i in m.cited_ids])
        for s in mark_paragraph(text, spans, counts)
    ]
    return sentences, counts


@pytest.mark.parametrize(
    ("text", "cited", "sentences"),
    [
        (
            "As in [1, 2]. So it is.",
            [("[1,", "a"), ("2]", "b")],
            [("As in.", "ab"), ("So it is.", "")],
        ),
        ("As shown.12 The end.", [("12", "a")], [("As shown.", "a"), ("The end.", "")]),
        (
            "(Li et al., 2001; Wu, 2002) say so.",
            [("Li et al., 2001", "a"), ("Wu, 2002", "b")],
            [("say so.", "ab")],
        ),
        ("By Li et al. (2001) it is so.", [("Li et al. (2001)", "a")], [("By it is so.", "a")]),
        ("It is [3] and (Wu, 2002).", [("[3]", "a")], [("It is.", "a")]),
        (
            "As Wu. Proc. 2002 says. Next.",
            [("Wu. Proc. 2002", "a")],
            [("As says.", "a"), ("Next.", "")],
        ),
    ],
)
def test_citations_are_cut_and_kept_with_their_sentence(text, cited, sentences):
    found, _ = marked(text, *cited)
    assert found == [(clean, list(ids)) for clean, ids in sentences]


def test_spans_outside_their_text_and_without_numbers_are_dropped_and_counted():
    counts = Counter()
    spans = [(0, 0, ("a",)), (5, 3, ()), (-1, 2, ()), (2, 99, ()), (None, 3, ()), ("0", "2", ())]
    sentences = mark_paragraph("It is so.", [*spans, (0, 2, ("b",))], counts)
    assert [m.cited_ids for m in sentences[0].markers] == [("b",)]
    assert counts == {"citation_spans": 7, "citation_spans_outside_their_text": 6}


def test_citations_without_a_span_are_marked_without_papers_and_counted():
    found, counts = marked("Of [7] and [8] we know (Wu, 2002), not of 2002.", ("[8]", "b"))
    assert found == [("Of we know, not of 2002.", ["b"])]
    assert counts["citations_without_a_span"] == 2
    assert plain("Nothing is cited.", counts) == (RawSentence("Nothing is cited."),)


def test_no_sentence_ends_in_a_span_and_all_text_is_in_a_sentence():
    text = "One is. Two is. Three is."
    assert borders_of(text, []) == [(0, 7), (8, 15), (16, 25)]
    assert borders_of(text, [(4, 12, ())]) == [(0, 15), (16, 25)]


def test_paragraphs_of_one_heading_are_one_section_and_empty_ones_are_none():
    one, two = [RawSentence("One.")], [RawSentence("Two.")]
    paragraphs = [("A", one), ("A", two), ("B", []), ("A", one)]
    assert sections_of(paragraphs) == (RawSection("A", (*one, *two)), RawSection("A", tuple(one)))
