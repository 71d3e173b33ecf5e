"""Bodies in an index: their sentences and pages come back, and those of older indexes."""

import pytest

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.pdf.lines import SOFT_HYPHEN
from mpbert.corpus.formats.pdf.text import on_pages
from mpbert.corpus.records import RawSection
from mpbert.recommending.bodies import body_text, page_at, pages_of, sentences_of

SENTENCES = ["Eins.", "Zwei „ä“.", "Three et al. went.", "\U0001d538 four."]


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        ((), "Eins.\nZwei „ä“.\nThree et al. went.\n\U0001d538 four."),
        ((0, 0, 0, 0), "Eins.\nZwei „ä“.\nThree et al. went.\n\U0001d538 four."),
        ((1, 1, 2, 4), "\fEins.\nZwei „ä“.\fThree et al. went.\f\f\U0001d538 four."),
        ((2, 3, 0, 0), "\f\fEins.\fZwei „ä“.\vThree et al. went.\n\U0001d538 four."),
        ((3, 0, 0, 2), "\f\f\fEins.\vZwei „ä“.\nThree et al. went.\f\f\U0001d538 four."),
        ((0, 0, 1, 1), "Eins.\nZwei „ä“.\fThree et al. went.\n\U0001d538 four."),
    ],
)
def test_sentences_and_pages_come_back(pages, text):
    assert body_text(SENTENCES, pages) == text
    assert sentences_of(text) == SENTENCES
    assert pages_of(text) == (pages if any(pages) else ())


def test_older_bodies_are_split_and_have_no_pages():
    text = "One by Ann et al. ends. Two begins."
    assert sentences_of(text) == ["One by Ann et al. ends.", "Two begins."]
    assert pages_of(text) == () and page_at(text, 9) == 0
    assert sentences_of("") == [] and body_text([]) == ""


def test_a_sentence_is_on_the_page_where_it_begins():
    pages = [
        ["The first page has one sentence.", f"A second be{SOFT_HYPHEN}"],
        [],
        ["gins there and ends here (on page four).", "The-third is here, too."],
        ["The first page has one sentence."],
    ]
    texts = [
        "The first page has one sentence.",
        "A second begins there and ends here (on page four).",
        "A line that is not there.",
        "The third is here, too.",
        "The first page has one sentence.",
    ]
    sections = [
        RawSection("", tuple(map(RawSentence, texts[:2]))),
        RawSection("B", tuple(map(RawSentence, texts[2:]))),
    ]
    made = on_pages(sections, pages, 2)
    assert [section.heading for section in made] == ["", "B"]
    found = [sentence for section in made for sentence in section.sentences]
    assert [sentence.text for sentence in found] == texts
    assert [sentence.page for sentence in found] == [2, 2, 4, 4, 5]
