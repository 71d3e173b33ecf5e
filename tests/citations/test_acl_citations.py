"""Citations by names and year: found, resolved against a short list of references, cut out."""

import pytest

from mpbert.citations.author_year import find_citations
from mpbert.citations.bibliography import Bibliography, split_bibliography
from mpbert.citations.finder import CitationFinder
from mpbert.citations.names import fold, is_same_name, last_names
from mpbert.citations.references import Reference
from mpbert.corpus.raw.extracted_text import debris, join_sentences, page_junk
from mpbert.corpus.text import cut_markers

REFERENCES = [
    Reference("koo", ("Terry Koo", "Xavier Carreras", "Michael Collins"), 2008, "Simple Parsing"),
    Reference("collins03", ("Michael Collins",), 2003, "Head-Driven Statistical Models"),
    Reference("collins99", ("Michael Collins",), 1999, "A Parser for Czech"),
    Reference("och", ("Franz Josef Och", "Hermann Ney"), 2003, "A Systematic Comparison"),
    Reference("altun", ("Yasemin Altun", "Mark Johnson", "Thomas Hofmann"), 2003, "Loss Functions"),
    Reference("marquez", ("Lluís Màrquez",), 2000, "Part-of-Speech Tagging"),
    Reference("noord", ("Gertjan van Noord",), 1997, "An Efficient Implementation"),
    Reference("zhang-a", ("Yue Zhang", "Stephen Clark"), 2011, "Shift-Reduce CCG Parsing"),
    Reference("zhang-b", ("Yue Zhang", "Stephen Clark"), 2011, "Syntactic Processing"),
    Reference("schutze", ("Hinrich Schütze",), 1998, "Word Sense Discrimination"),
]


def cite(text, references=REFERENCES, year=2012):
    """Return the cited ids and what is left of the text."""
    sentence = CitationFinder(references, year, Bibliography([])).mark([text])[0]
    ids = [i for marker in sentence.markers for i in marker.cited_ids]
    return ids, cut_markers(sentence.text, sentence.markers)


@pytest.mark.parametrize(
    ("text", "ids", "left"),
    [
        ("We parse (Koo et al., 2008) it.", ["koo"], "We parse it."),
        ("We parse (see Koo et al. 2008 for details) it.", ["koo"], "We parse it."),
        ("Collins (2003; 1999) proposed it.", ["collins03", "collins99"], "proposed it."),
        ("Collins' (1999) parser is fast.", ["collins99"], "parser is fast."),
        ("Collins's (1999) parser is fast.", ["collins99"], "parser is fast."),
        ("It is due to Al-tun et al. (2003).", ["altun"], "It is due to."),
        ("We use GIZA (Och & Ney 2003).", ["och"], "We use GIZA."),
        ("We use GIZA (Och and Ney, 2003, p. 23) here.", ["och"], "We use GIZA here."),
        ("We follow (Koo et. al, 2008; Och and Ney, 2003).", ["koo", "och"], "We follow."),
        ("It needs tags (M?rquez, 2000).", ["marquez"], "It needs tags."),
        ("It is (van Noord, 1997) shown.", ["noord"], "It is shown."),
        ("It is shown by van Noord (1997).", ["noord"], "It is shown by."),
        ("As in (Zhang and Clark, 2011b) it is.", ["zhang-b"], "As in it is."),
        ("As in (Zhang and Clark, 2011a; 2011b).", ["zhang-a", "zhang-b"], "As in."),
        ("As in (Zhang and Clark, 2011a, b).", ["zhang-a", "zhang-b"], "As in."),
        ("Senses are grouped (Schuetze, 1998).", ["schutze"], "Senses are grouped."),
        ("Senses are grouped [Schütze 98] here.", ["schutze"], "Senses are grouped here."),
        ("By Koo et al2008 it is.", ["koo"], "By it is."),
        ("An outsider (Smith, 1999) is cut.", [], "An outsider is cut."),
        ("Smith et al. (1999) proposed it.", [], "proposed it."),
        ("An outsider (Smith 1999: 23) is cut.", [], "An outsider is cut."),
        ("An outsider [Smith 99] is cut.", [], "An outsider is cut."),
        ("An outsider [Smi99] is cut.", [], "An outsider is cut."),
    ],
)
def test_a_citation_is_found_and_its_names_and_year_are_cut(text, ids, left):
    assert cite(text) == (ids, left)


@pytest.mark.parametrize(
    "text",
    [
        "See example (1) and [NP the dog] here.",
        "It was in May (2003) that we met.",
        "In 2003 the Collins parser was fast.",
        "The value [12] of a vector is no citation here.",
        "It had 2000 sentences (1999 of them long).",
    ],
)
def test_what_is_no_citation_stays(text):
    assert cite(text) == ([], text)


def test_a_year_beside_the_right_one_counts_only_for_a_reference_not_found_otherwise():
    assert cite("As Och and Ney (2002) say.")[0] == ["och"]
    assert cite("As Och and Ney (2003) and Och and Ney (2002) say.")[0] == ["och"]


def test_names_of_other_coauthors_do_not_fit():
    assert cite("As Och and Smith (2003) say.")[0] == []
    assert cite("As Smith and Collins (2003) say.")[0] == []


def test_the_letter_of_a_year_is_read_from_the_printed_list():
    printed = "Y. Zhang and S. Clark. 2011b. Shift-Reduce CCG Parsing. In ACL."
    finder = CitationFinder(REFERENCES, 2012, Bibliography([printed]))
    sentence = finder.mark(["As in (Zhang and Clark, 2011b) it is."])[0]
    assert sentence.markers[0].cited_ids == ("zhang-a",)


def test_numbers_are_citations_only_in_papers_that_use_them():
    text = ["Koo et al. [2] parse.", "Others [1, 3-4] do not.", "See [2] and [5]."]
    marked = CitationFinder(REFERENCES, 2012, Bibliography([])).mark(text)
    assert [m.cited_ids for m in marked[2].markers] == [("koo",), ()]
    assert cut_markers(text[1], marked[1].markers) == "Others do not."


def test_numbers_are_read_from_the_printed_list():
    printed = ["[1] M. Collins. Head-Driven Statistical Models. 2003. [2] Och, F.", "A Systematic"]
    printed.append("Comparison. 2003.")
    text = ["One [1] and two [2].", "Also [1,2] and [3]."]
    marked = CitationFinder(REFERENCES, 2012, Bibliography(printed)).mark(text)
    assert [m.cited_ids for m in marked[1].markers] == [("collins03", "och"), ()]


def test_find_citations_knows_no_references():
    found = find_citations("(Marcus et al., 1993; Collins 1997) and Charniak (2000)")
    assert [(c.names[0].words, c.et_al, c.year) for c in found] == [
        (("marcus",), True, 1993),
        (("collins",), False, 1997),
        (("charniak",), False, 2000),
    ]


def test_names_are_folded_and_compared_leniently():
    assert fold("Màrquez's") == "marquez"
    assert last_names("Gertjan van Noord")[:2] == ("noord", "vannoord")
    assert is_same_name("tillmann", "tillman")
    assert is_same_name("m?rquez", "marquez")
    assert not is_same_name("huang", "hoang")
    assert not is_same_name("li", "lin")


def test_sentences_split_inside_a_citation_are_joined():
    parts = ["This was shown by McDonald et al.", "(2005b), and it holds.", "Next one."]
    assert join_sentences(parts) == [f"{parts[0]} {parts[1]}", parts[2]]


def test_junk_is_recognised():
    assert page_junk("153") == "page_numbers"
    assert page_junk("Proceedings of the ACL Conference, pages 12-19, Rome, May 2003.")
    assert page_junk("We use the proceedings of the parliament.") is None
    assert debris("+ 2 = ( x )") == "debris_without_words"
    assert debris("score") == "single_words"
    assert debris("It works.") is None


def test_a_list_of_references_glued_to_the_last_section_is_separated():
    body = [f"This is sentence number {n} of the body." for n in range(12)]
    entry = ["Terry Koo and Michael Collins.", "2005.", "Hidden models.", "In Proceedings of ACL."]
    text = split_bibliography([("5 Conclusion", [*body, "References", *entry * 5])])
    assert text.sections == [("5 Conclusion", body)]
    assert len(text.bibliography) == 21
    headless = split_bibliography([("5 Conclusion", [*body, *entry * 5])])
    assert headless.sections[0][1][:12] == body
    assert len(headless.sections[0][1]) < 15


def test_a_body_that_mentions_references_stays():
    body = ["References to objects are resolved.", "We do it.", "Pronouns are hard.", "So it is."]
    assert split_bibliography([("2 Method", body)]).sections == [("2 Method", body)]
