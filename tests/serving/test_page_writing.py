"""The page as a place to write: keys in the text, BibTeX, what is remembered, files."""

import json
from pathlib import Path

import pytest

from tests.browsing import By, Keys

LAYOUT = "Pages have a layout"
MARKED = (
    "Markup attacks pages [CITATION]. Faces are characters, as \\cite{} shows, and drawn. "
    "Scripts attack the pages of a browser [?]."
)
KEYS = {  # of the small index; a title with markup is a paper's, too
    '<img src=x onerror="window.owned=1">': "attack",
    '<script>window.owned=1</script> & "quotes"': "script",
    "Layout of pages": "layout",
}
FACES = "Faces \N{GRINNING FACE} in text"


def accept(page, title):
    page.go_to(title)
    return page.accept()


def bibtex(page):
    return page["#bibtex"].get_property("value")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        (f"{LAYOUT}. End", len(LAYOUT), f"{LAYOUT}~\\cite{{layout}}. End"),
        (f"{LAYOUT} now", len(LAYOUT) + 1, f"{LAYOUT} \\cite{{layout}} now"),
        (f"# Head\n\n{LAYOUT}. End", 8 + len(LAYOUT), f"# Head\n\n{LAYOUT} [@layout]. End"),
        (f"\\emph{{{LAYOUT}}}. End", 7 + len(LAYOUT), f"\\emph{{{LAYOUT}}}~\\cite{{layout}}. End"),
        (f"{LAYOUT} [CITATION].", len(LAYOUT) + 4, f"{LAYOUT} \\cite{{layout}}."),
        (f"{LAYOUT} \\cite{{todo}}.", len(LAYOUT) + 4, f"{LAYOUT} \\cite{{layout}}."),
        (f"{LAYOUT} \\citep[see][]{{x}}.", 25, f"{LAYOUT} \\citep[see][]{{x,layout}}."),
        (f"\N{GRINNING FACE} {LAYOUT}.", 21, f"\N{GRINNING FACE} {LAYOUT}~\\cite{{layout}}."),
    ],
)
def test_an_accepted_paper_is_cited_at_the_cursor(page, text, place, expected):
    page.ask(text, place)
    accept(page, "Layout of pages")
    assert page.text() == expected
    assert bibtex(page).startswith("@misc{layout,\n") and bibtex(page).count("@misc") == 1
    assert "layout" in page[".place .here"].text


def test_more_papers_join_the_citation_and_leave_it_again(page):
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    for title in KEYS:
        accept(page, title)
    assert page.text() == f"{LAYOUT}~\\cite{{attack,script,layout}}. End"
    assert bibtex(page).count("@misc") == 3
    for left in ("script,layout", "layout", ""):  # the first one each time
        page["#cited-papers button"].click()
        cited = f"~\\cite{{{left}}}" if left else ""
        page.until(lambda cited=cited: page.text() == f"{LAYOUT}{cited}. End")
        page.until_state("answered")
    assert not page["#pane"].is_displayed()
    assert set(KEYS) <= set(page.titles())


def test_a_paper_that_the_text_cites_elsewhere_keeps_its_key_and_has_an_entry(page):
    text = f"Pages are laid out \\cite{{layout}}. Their layout is a grid. {LAYOUT}. End"
    page.ask(text, len(text) - 5)
    page.go_to("Layout of pages")
    assert "Cited elsewhere in your text as layout" in page.focused().text
    page.accept()
    assert page.text() == text.replace(". End", "~\\cite{layout}. End")
    assert bibtex(page).startswith("@misc{layout,\n")


def test_a_mark_comes_back_when_its_paper_is_removed(page):
    text = f"{LAYOUT} [CITATION]."
    page.ask(text, len(LAYOUT))
    accept(page, "Layout of pages")
    page["#cited-papers button"].click()
    page.until(lambda: page.text() == text)


def test_what_is_written_before_the_place_moves_it(page):
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    page.press(Keys.ESCAPE)
    page.press_with(Keys.CONTROL, Keys.HOME)
    page.press("Once more. ")
    page["#places .accept"].click()
    page.until(lambda: "\\cite" in page.text())
    key = page["#cited-papers code"].text
    assert page.text() == f"Once more. {LAYOUT}~\\cite{{{key}}}. End"


def test_a_place_that_was_deleted_keeps_the_text_as_it_is(page):
    page.ask(f"{LAYOUT} [CITATION]. End", len(LAYOUT))
    page.write("Something else.")
    page["#places .accept"].click()
    page.until(lambda: page["#problem"].is_displayed())
    assert "was changed at this place" in page["#problem"].text
    assert page.text() == "Something else." and bibtex(page).count("@misc") == 1


def test_a_whole_paper_is_asked_for_by_its_title_and_abstract(page):
    page["#ask-paper"].click()
    assert page.focused() == page["#title"]
    assert "give the title of your paper" in page["#wrong"].text
    page.press("Layout of pages in browsers")
    page["#ask-paper"].click()
    page.until_state("answered")
    assert not page["#wrong"].is_displayed()
    assert page["#places h3"].text == "To read for the whole paper"
    assert "Layout of pages in browsers" in page["#places blockquote"].text
    first, second, *_ = page.titles()
    page["#places .accept"].click()
    page.until(lambda: page.titles()[0] == second)
    assert f"Accepted: {first}" in page["#status"].text
    assert page["#cited-papers span"].text.startswith(first) and page.text() == ""


def test_a_sentence_that_lacks_a_citation_gets_one(page):
    claim = "It has been shown that pages have a layout"
    page.write(f"Faces are drawn \\cite{{emoji}}.\n{claim}. We now say what we did with it.")
    page["#ask-missing"].click()
    page.until_state("answered")
    first, _ = page.all(".place h3")
    assert first.text.startswith("Line 2: ") and "likely to need a citation" in first.text
    accept(page, "Layout of pages")
    assert f"{claim}~\\cite{{layout}}. We" in page.text()
    assert len(page.all(".place")) == 2


def test_keys_that_nothing_defines_are_told_and_the_line_is_gone_to(page):
    page.write("Pages have a layout.\nFaces are drawn \\cite{emoji,emojy}.")
    page["#check"].click()
    page.until_state("answered")
    assert page["#status"].text.startswith("0 citations, 0 doubtful; 0 findings; 1 key of")
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    accept(page, "Layout of pages")
    page.write(page.text() + "\nFaces are drawn \\cite{layuot}.")
    page["#check"].click()
    page.until(lambda: page.all(".check"))
    assert "'layuot' is defined in no bibliography; did you mean 'layout'?" in page[".check"].text
    page[".check .line"].click()
    start = page.text().index("\nFaces") + 1
    assert page.run("return document.getElementById('text').selectionStart") == start


def test_all_marked_places_are_answered_each_with_its_list(page):
    page.ask_all(MARKED)
    assert [h.text for h in page.all(".place h3")] == [f"Place {n} of 3" for n in (1, 2, 3)]
    assert " for 3 places in " in page["#status"].text
    lists = [page.titles(f".place:nth-of-type({n})") for n in (1, 2, 3)]
    assert FACES in lists[1] and all(lists)
    assert page.focused() == page["#places .paper"]
    page.press("n")  # the next place opens
    accept(page, FACES)
    assert "\\cite{emoji}" in page.text() and "[CITATION]" in page.text()
    assert page.titles(".place:nth-of-type(1)") == lists[0]
    page.press("p")
    accept(page, lists[0][0])
    key = page["#cited-papers li:last-child code"].text
    expected = MARKED.replace("[CITATION]", f"\\cite{{{key}}}").replace("{}", "{emoji}")
    assert page.text() == expected
    assert len(page.all(".place")) == 3


def test_more_places_than_one_request_answers_are_all_there(page):
    page.ask_all(" ".join(f"Pages number {n} have a layout [CITATION]." for n in range(9)))
    assert len(page.all(".place")) == 9
    assert [place.get_attribute("open") for place in page.all(".place")] == ["true"] + [None] * 8


def test_a_place_in_another_language_has_a_warning(page):
    text = "Пакеты часто теряются на длинных путях сети, если они слишком велики"
    page.ask(f"{text} [CITATION].", len(text) + 2)
    assert "language" in page[".place .warning"].text
    page.ask("Pages have a layout.", 10)
    assert "language" not in page[".place .warning"].text


def test_a_text_without_marks_is_asked_at_its_end(page):
    page.ask_all(f"Hosts send. {LAYOUT}")
    accept(page, "Layout of pages")
    assert page.text() == f"Hosts send. {LAYOUT}~\\cite{{layout}}"


def test_a_text_without_words_says_how_to_mark(page):
    page.ask_all("12.", state="error")
    assert "[CITATION]" in page["#problem"].text
    page.driver.get_log("browser")  # Chromium notes the refusal there


def test_text_and_papers_survive_a_reload_until_they_are_forgotten(page):
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    page.run("document.querySelector('form details').open = true")
    page["#title"].send_keys("On pages")
    page.run("document.querySelector('.paper').focus()")
    accept(page, "Layout of pages")
    page.open()
    page.until(lambda: page["#index"].text)
    assert page.text() == f"{LAYOUT}~\\cite{{layout}}. End"
    assert page["#title"].get_property("value") == "On pages"
    assert bibtex(page).startswith("@misc{layout,")
    page["#cited-papers button"].click()  # its key is still known in the text
    page.until(lambda: page.text() == f"{LAYOUT}. End")
    page["#forget"].click()
    assert page["#confirm-dialog"].is_displayed()
    page.press(Keys.ESCAPE)
    assert page.text() == f"{LAYOUT}. End"
    page["#forget"].send_keys(Keys.ENTER)
    page["#confirm-yes"].send_keys(Keys.ENTER)
    page.until(lambda: page.text() == "")
    assert page.run("return localStorage.length") == 0
    page.open()
    page.until(lambda: page["#index"].text)
    assert page.text() == "" and not page.all("#cited-papers li")


def test_typing_is_remembered_without_a_question(page):
    page["#text"].send_keys("Half a sentence")
    page.open()
    assert page.text() == "Half a sentence"


def test_spoilt_memory_is_an_empty_page(page):
    for spoilt in ("{", "null", "[]", "7"):
        page.run("localStorage.setItem('mpbert page /', arguments[0])", spoilt)
        page.open()
        page.until(lambda: page["#index"].text)
        assert page.text() == ""


@pytest.mark.parametrize("number", ["500", "0", "", "2.5"])
def test_a_wrong_number_in_folded_options_is_shown_and_said(page, number):
    page.write("Pages have a layout.", 5)
    page.run("document.getElementById('top').value = arguments[0]", number)
    assert not page["#top"].is_displayed()
    page["#question [type=submit]"].click()
    assert page["#top"].is_displayed() and page.focused() == page["#top"]
    assert page["#wrong"].text.startswith("Papers: ") and page["#wrong"].is_displayed()
    assert page["#top"].get_attribute("aria-invalid") == "true"
    page.run("document.getElementById('top').value = 3")
    page["#question [type=submit]"].click()
    page.until_state("answered")
    assert not page["#wrong"].is_displayed() and len(page.titles()) == 3


BIB = """@article{mine,
  title = {Layout of pages},
  year = {2006},
}

@article{attack,
  title = {Something else altogether},
  year = {1999},
}
"""


def upload(page, tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    page["#files"].send_keys(str(path))
    page.until(lambda: page["#file-status"].text.startswith(name))


def downloaded(page, button, name):
    path = page.downloads / name
    path.unlink(missing_ok=True)
    page[button].click()
    page.until(path.is_file)
    page.until(lambda: path.stat().st_size)
    return path.read_bytes()


def test_files_of_tex_and_bib_come_in_and_go_out(page, tmp_path):
    upload(page, tmp_path, "refs.bib", BIB.encode())
    assert "1 of 2 entries are papers of this index" in page["#file-status"].text
    body = f"\\begin{{document}}\r\n{LAYOUT} \\cite{{}}.\r\n\\end{{document}}\r\n"
    tex = f"\\documentclass{{article}}\r\n{body}"
    upload(page, tmp_path, "paper.tex", tex.encode())
    page["#ask-all"].click()
    page.until_state("answered")
    accept(page, "Layout of pages")  # an entry of its own is there
    accept(page, '<img src=x onerror="window.owned=1">')  # another one has its key
    saved = downloaded(page, "#save", "paper.tex").decode()
    assert saved == tex.replace("{}", "{mine,attack-2}")
    entries = downloaded(page, "#download", "refs.bib").decode()
    assert entries.startswith(BIB) and entries.count("@") == 3
    assert entries[len(BIB) :].strip().startswith("@misc{attack-2,\n")


def test_a_pdf_file_comes_in_with_a_place_at_each_citation_and_a_scan_is_told(page, tmp_path):
    pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
    files = Path(__file__).parents[1] / "fixtures" / "pdf"
    upload(page, tmp_path, "queues.pdf", (files / "queues.pdf").read_bytes())
    assert page["#file-status"].text == "queues.pdf: 4 citations became places."
    text = page.text()
    assert "takes the letter [CITATION]. We measured" in text
    assert page["#title"].get_property("value") == "Routing Letters by the Shortest Queue"
    assert not page.faults()
    page["#ask-all"].click()
    page.until_state("answered")
    assert page.titles()
    upload(page, tmp_path, "scan.pdf", (files / "odd" / "scan.pdf").read_bytes())
    assert "a scan needs OCR first" in page["#file-status"].text and page.text() == text
    (refused,) = page.driver.get_log("browser")  # Chromium notes the refusal there
    assert "422" in refused["message"]
    assert downloaded(page, "#save", "queues.txt").decode() == text


def test_a_document_comes_in_and_a_line_names_the_command_that_writes_into_it(page, tmp_path):
    cells = [{"cell_type": "markdown", "source": f"{LAYOUT} [citation needed]."}]
    upload(page, tmp_path, "draft.ipynb", json.dumps({"cells": cells}).encode())
    page.until(lambda: page.text() == f"{LAYOUT} [CITATION].")
    told = page["#file-status"].text
    assert told.startswith("draft.ipynb: 1 citation became a place. ")
    assert told.endswith("To write into the file: mpbert cite INDEX draft.ipynb")


@pytest.mark.parametrize(
    ("name", "mark", "cited"),
    [
        ("a.org", "[CITATION]", "[cite:@layout]"),
        ("a.rst", "[CITATION]", ":cite:p:`layout`"),
        ("a.typ", "@todo", "@layout"),
        ("a.qmd", "[@todo]", "[@layout]"),
    ],
)
def test_light_markup_comes_in_and_keeps_its_citations(page, tmp_path, name, mark, cited):
    upload(page, tmp_path, name, f"{LAYOUT} {mark}.\n".encode())
    page["#ask-all"].click()
    page.until_state("answered")
    accept(page, "Layout of pages")
    assert page.text() == f"{LAYOUT} {cited}.\n"


def test_a_file_of_markdown_is_dropped(page):
    drop = (
        "const data = new DataTransfer();"
        "data.items.add(new File([arguments[0]], 'draft.md', {type: 'text/markdown'}));"
        "const how = {dataTransfer: data, bubbles: true, cancelable: true};"
        "const event = new DragEvent('drop', how);"
        "document.getElementById('text').dispatchEvent(event);"
    )
    page.run(drop, f"---\ntitle: Pages\n---\n\n{LAYOUT} [CITATION].\n")
    page.until(lambda: page["#file-status"].text == "draft.md")
    page["#ask-all"].click()
    page.until_state("answered")
    accept(page, "Layout of pages")
    assert page.text().endswith(f"{LAYOUT} [@layout].\n")


def test_a_file_replaces_no_text_unasked_and_another_kind_is_refused(page, tmp_path):
    page["#text"].send_keys("My own words")
    path = tmp_path / "other.md"
    path.write_bytes("Caf\xe9".encode("latin-1"))
    page["#files"].send_keys(str(path))
    page.until(lambda: page["#confirm-dialog"].is_displayed())
    page.press(Keys.ESCAPE)
    assert page.text() == "My own words"
    page["#files"].send_keys(str(path))
    page.until(lambda: page["#confirm-dialog"].is_displayed())
    page["#confirm-yes"].click()
    page.until(lambda: page.text() == "Caf\xe9")
    assert page["#file-status"].text == "other.md, read as windows-1252"
    wrong = tmp_path / "image.png"
    wrong.write_bytes(b"x")
    page["#files"].send_keys(str(wrong))
    page.until(lambda: page["#file-status"].text.startswith("image.png: expected .tex"))


def test_a_card_tells_what_is_known_of_a_paper(page):
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    page.go_to("Layout of pages")
    card = page.focused()
    score = card.find_element(By.CSS_SELECTOR, ".score")
    before = score.text
    assert before == "unlikely"  # lists that are fused by ranks are judged by words
    assert score.get_attribute("aria-expanded") == "false"
    score.click()
    assert score.text.startswith(f"{before}: 0 % likely to be cited here, score ")
    assert score.get_attribute("aria-expanded") == "true"
    score.click()
    assert score.text == before
    assert card.find_element(By.CSS_SELECTOR, ".why").is_displayed()
    assert json.loads(page.run("return JSON.stringify(arguments[0].paper.abstract)", card)) == ""


def test_an_acceptance_is_taken_back_by_ctrl_z_and_typing_before_it(page):
    page.ask(f"{LAYOUT} [CITATION]. End", len(LAYOUT) + 4)
    first, second = accept(page, "Layout of pages"), accept(page, next(iter(KEYS)))
    assert page.text() == f"{LAYOUT} \\cite{{layout,attack}}. End"
    page["#text"].send_keys("!")
    page.press_with(Keys.CONTROL, "z")  # what was typed
    page.until(lambda: "!" not in page.text())
    page.press_with(Keys.CONTROL, "z")
    page.until(lambda: page.text() == f"{LAYOUT} \\cite{{layout}}. End")
    page.until(lambda: page["#status"].text.startswith(f"Taken back: {second}"))
    page.until_state("answered")
    page.press_with(Keys.CONTROL, "z")
    page.until(lambda: page.text() == f"{LAYOUT} [CITATION]. End")
    page.until_state("answered")
    assert not page.all("#cited-papers li") and first in page.titles()


def test_a_paper_accepted_at_two_places_leaves_the_last_one_by_ctrl_z(page):
    page.ask_all(f"{LAYOUT} [CITATION]. {LAYOUT} again [?].")
    accept(page, "Layout of pages")
    page.press("n")
    accept(page, "Layout of pages")
    assert page.text().count("\\cite{layout}") == 2
    page.press_with(Keys.CONTROL, "z")
    page.until(lambda: page.text() == f"{LAYOUT} \\cite{{layout}}. {LAYOUT} again [?].")
    assert len(page.all("#cited-papers li")) == 1


def test_files_that_are_not_read_are_said(page):
    page.write(
        "See \\input{one}, \\include{chapters/two} and \\% \\input{one}. % \\input{three}\nEnd."
    )
    page.until(lambda: page["#not-read"].is_displayed())
    assert page["#not-read"].text.endswith("one file at a time: one, chapters/two.")
    page.write("Nothing is included.")
    page.until(lambda: not page["#not-read"].is_displayed())


def test_a_folded_place_shows_its_sentence_and_the_text_goes_to_the_place_in_focus(page):
    page.ask_all("".join(f"Pages number {n} have a layout [CITATION].\n\n" for n in range(40)))
    first, second, *_, last = page.all(".place")
    assert not first.find_element(By.CSS_SELECTOR, ".sentence").is_displayed()
    assert second.find_element(By.CSS_SELECTOR, ".sentence").text.startswith("Pages number 1 have")
    assert page["#text"].get_property("scrollTop") == 0
    last.find_element(By.TAG_NAME, "summary").click()
    edges = "const t = arguments[0]; return [t.scrollTop, t.scrollHeight - t.clientHeight]"
    top, most = page.run(edges, page["#text"])
    assert top == most > 0


def test_remove_is_one_line_and_papers_without_reasons_say_nothing(page):
    page.look(1280, 800)
    page.ask(f"{LAYOUT}. End", len(LAYOUT))
    accept(page, next(iter(KEYS)))
    button = page["#cited-papers button"]
    assert button.size["height"] == page["#copy-all"].size["height"]
    assert "its text is near" not in page["#places"].text
    page.look()
