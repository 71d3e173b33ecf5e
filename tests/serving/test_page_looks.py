"""The page in narrow and wide windows, light and dark, as axe judges it; and its pictures.

``pytest tests/serving/test_page_looks.py --screenshots docs/screenshots --index INDEX`` keeps
pictures.
"""

import io
import json

import pytest
from PIL import Image

from mpbert.commands import index
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from tests.browsing import NARROW, WIDE, By, Keys, Page
from tests.serving.conftest import PATIENT

PICTURED = (
    "Operators often find that large packets vanish on tunnelled paths. Path MTU Discovery is "
    "recommended to prevent fragmentation, since a datagram that loses one fragment is lost whole."
)
CITING = (
    "Path MTU discovery prevents the fragmentation of packets \\cite{RFC1191}.\n"
    "Hosts relay mail by the simple mail transfer protocol \\cite{RFC2460}.\n"
    "Keys are exchanged by the Internet key exchange protocol \\cite{layuot}.\n"
    "It has been shown that large packets vanish on tunnelled paths. We say so."
)
ELSEWHERE = "Photosynthesis in marine algae depends on light and nutrients."
MARKED = "Markup attacks pages [CITATION]. Faces are characters \\cite{}."


SENTENCE = (
    "Path MTU discovery number {n} finds the largest packet that a path takes, so that no router "
    "need cut it into fragments, of which one that is lost loses all"
)


def _paper(number):
    """Return a paper with an abstract of some lines that cites the one before."""
    marked = SENTENCE.format(n=number) + " [1]."
    marker = {"start": len(marked) - 5, "end": len(marked) - 1, "cited_ids": [f"RFC{number - 1}"]}
    sentences = [{"text": marked, "markers": [marker] if number > 1100 else []}]
    return {
        "paper_id": f"RFC{number}",
        "title": f"Path MTU discovery for fragmentation on tunnelled paths, part {number}",
        "authors": ["J. Mogul", "S. Deering", "K. McCloghrie", "M. Mathis"],
        "year": number - 1000 + 1900,
        "venue": "Internet Engineering Task Force",
        "abstract": [SENTENCE.format(n=number) + "."] * 4,
        "sections": [{"heading": "", "sentences": sentences}],
        "references": [],
    }


@pytest.fixture(scope="module")
def library_page(browser, served, tmp_path_factory):
    """The page of papers with long titles, venues, abstracts and reasons."""
    folder = tmp_path_factory.mktemp("library")
    lines = [json.dumps(_paper(number)) + "\n" for number in range(1100, 1115)]
    (folder / "papers.jsonl").write_text("".join(lines), encoding="utf-8")
    index.run(index.Config(folder / "papers.jsonl", folder / "index"))
    with served(create_app(Recommender(folder / "index"), PATIENT)) as address:
        yield Page(browser, address)


def test_axe_sees_what_is_wrong(page):
    assert page.faults() == []
    page.run("document.documentElement.removeAttribute('lang')")
    page.run("document.getElementById('index').style.color = '#ddd'")
    kinds = {fault.split(":")[0] for fault in page.faults()}
    assert {"html-has-lang", "color-contrast"} <= kinds


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_state_has_a_fault_that_axe_finds(page, size, scheme):
    page.look(*size, scheme)

    def check(state):
        assert page.faults() == [], state
        assert page.width() <= size[0], state

    check("empty")
    page.ask()
    page.press("w")
    page.focused().find_element(By.CSS_SELECTOR, ".score").click()
    check("answered")
    page["#places .paper"].send_keys(Keys.ENTER)
    page.until(lambda: page["#status"].text.startswith("Accepted"))
    page.until_state("answered")
    check("accepted")
    page.ask_all(MARKED)
    check("all places")
    page.write(CITING)
    page["#ask-missing"].click()
    page.until(lambda: "likely to need" in page["#places"].text)
    page.until_state("answered")
    check("missing citations")
    page["#check"].click()
    page.until(lambda: page.all(".check"))
    check("checked")
    page["#forget"].click()
    check("asked whether to forget")
    page.press(Keys.ESCAPE)
    page.run("document.getElementById('top').value = 500")
    page["#question [type=submit]"].click()
    check("a wrong field")
    page["#to-map"].click()
    page.until(lambda: page["#legend"].text)
    page["#search"].send_keys("pages", Keys.ENTER)
    page.until(lambda: page.all("#found button"))
    check("map")


def test_the_whole_way_is_walked_on_the_keyboard_alone(page):
    """Tab to the text, write, ask, accept, and on to the BibTeX."""
    page.run("document.body.focus()")
    seen = []
    while page.focused().get_attribute("id") != "text":
        page.press(Keys.TAB)
        seen.append(page.focused())
        assert len(seen) < 10
    page.press("Pages have a layout")
    page.press_with(Keys.CONTROL, Keys.ENTER)
    page.until_state("answered")
    page.accept()
    assert "\\cite{" in page.text()
    for _ in range(200):
        page.press(Keys.TAB)
        if page.focused().get_attribute("id") == "download":
            break
        focused = page.focused()
        assert focused.is_displayed() and focused.tag_name != "body"
    assert page.focused().get_attribute("id") == "download"


def test_a_phone_shows_several_results_at_once(library_page):
    page = library_page
    page.look(*NARROW)
    page.begin()
    page.ask(PICTURED, PICTURED.index(", since"))
    assert len(page.titles()) == 10
    visible = page.run(
        "return [...document.querySelectorAll('.paper')].filter((card) => {"
        "const {top, bottom} = card.getBoundingClientRect();"
        "return top >= 0 && bottom <= innerHeight;}).length"
    )
    has_doubt = page.run("return !document.querySelector('.place .warning').hidden")
    assert visible >= 2 - has_doubt  # its line takes the room of a card
    assert page.faults() == [] and page.width() <= NARROW[0]


def test_abstract_venue_year_and_doi_stand_on_the_card(library_page):
    page = library_page
    page.look()
    page.begin()
    page.ask(PICTURED, PICTURED.index(", since"))
    card = page.focused()
    paper = page.run("return arguments[0].paper", card)
    by = card.find_element(By.CSS_SELECTOR, ".by").text
    for part in (str(paper["year"]), paper["venue"], paper["paper_id"]):
        assert part in by
    link = card.find_element(By.CSS_SELECTOR, ".doi")
    number = paper["paper_id"].removeprefix("RFC")
    assert link.get_attribute("href") == f"https://doi.org/10.17487/RFC{number}"
    assert link.get_attribute("rel") == "noreferrer"
    abstract = card.find_element(By.CSS_SELECTOR, ".abstract")
    assert len(abstract.text) > 100
    short = abstract.size["height"]
    card.find_element(By.CSS_SELECTOR, ".more").click()
    assert abstract.size["height"] > short
    assert card.find_element(By.CSS_SELECTOR, ".why").is_displayed()


def test_the_states_fit_narrow_and_wide_windows_in_light_and_dark(
    browser, address, request, served, tmp_path
):
    index = request.config.getoption("--index")
    folder = request.config.getoption("--screenshots") or tmp_path
    if index is None:
        take_pictures(Page(browser, address), folder)
    else:
        with served(create_app(Recommender(index), PATIENT)) as other:
            take_pictures(Page(browser, other), folder)


def take_pictures(page, folder):
    folder.mkdir(parents=True, exist_ok=True)
    page.look()
    page.begin()
    picture(page, folder, "empty")
    page.ask(ELSEWHERE, len(ELSEWHERE) - 1)
    picture(page, folder, "doubt")
    page.ask(PICTURED, PICTURED.index(", since"))
    page.accept()
    picture(page, folder, "answered")
    page.write(CITING)
    page["#check"].click()
    page.until(lambda: page.all(".check"))
    picture(page, folder, "checked")
    page.write(PICTURED)
    page.run("location.hash = '#map'")
    page.until(lambda: page["#legend"].text)
    picture(page, folder, "map")
    page.run("location.hash = '#write'")
    page.ask(text="", place=0, state="error")
    picture(page, folder, "error")
    page.look(*NARROW)
    page.begin()
    page.ask(PICTURED, PICTURED.index(", since"))
    keep(page, folder, "phone")
    page.look()
    page.driver.get_log("browser")


def picture(page, folder, name):
    """Keep a picture of a state; look at it in the other colours and in a narrow window too."""
    page.look(*NARROW, scheme="dark")
    assert page.width() <= NARROW[0]
    dark = page.run("return getComputedStyle(document.body).backgroundColor")
    page.look()
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    assert dark != light
    assert page.width() <= WIDE[0]
    keep(page, folder, name)


def keep(page, folder, name):
    shot = Image.open(io.BytesIO(page.driver.get_screenshot_as_png()))
    shot.quantize(128).save(folder / f"{name}.png", optimize=True)  # a third of the bytes
    assert (folder / f"{name}.png").stat().st_size < 150_000
