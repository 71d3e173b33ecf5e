"""The HTML report in a browser: sorting, contents, colours, accessibility, a narrow window."""

import base64
import re

import pytest

from mpbert.evaluation.html_report import aligned, anchors, pictures
from mpbert.evaluation.plots import plot_report
from mpbert.evaluation.render import render_report
from mpbert.evaluation.sheets import Sheet, SheetCell
from tests.browsing import NARROW, WIDE, By, Keys, Page
from tests.evaluation.test_report import _report

SPACE = "\u2007"


@pytest.fixture(scope="module")
def report():
    return _report()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    plots = {title: svg for title, svg in plot_report(report, "svg").values()}
    path.write_text(render_report(report, plots)["html"], encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    page = Page(browser, address)
    page.look()
    page.open()
    browser.get_log("browser")
    yield page
    assert browser.get_log("browser") == []


def column(page, number):
    cells = (
        "return [...document.querySelectorAll(arguments[0])].map((c) => c.firstChild.textContent)"
    )
    return page.run(cells, f"table tbody tr > :nth-child({number})")


def first_column(page, number, rows=3):
    return column(page, number)[:rows]


def test_a_table_is_sorted_by_its_heads_on_the_keyboard(page):
    before = first_column(page, 1)
    button = page.all("table")[0].find_elements(By.CSS_SELECTOR, "thead tr:last-child button")[1]
    page.run("arguments[0].focus()", button)
    page.press(Keys.ENTER)
    down = list(map(float, first_column(page, 2)))
    assert down == sorted(down, reverse=True) and first_column(page, 1) != before
    assert page["th[aria-sort]"].get_attribute("aria-sort") == "descending"
    page.press(Keys.ENTER)
    assert list(map(float, first_column(page, 2))) == down[::-1]
    assert page["th[aria-sort]"].get_attribute("aria-sort") == "ascending"
    corner = page["table thead tr:last-child button"]
    assert corner.text == "Row"
    corner.send_keys(Keys.ENTER)
    assert first_column(page, 1) == before and not page.all("th[aria-sort]")


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_and_the_page_is_never_wider_than_the_window(page, size, scheme):
    page.look(*size, scheme)
    page.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.faults() == []
    assert page.width() <= size[0]
    colour = page.run("return getComputedStyle(document.body).backgroundColor")
    dark = sum(map(int, re.findall(r"\d+", colour)[:3])) < 150
    assert dark == (scheme == "dark")


def test_names_stay_where_they_are_while_a_table_is_scrolled(page):
    page.look(*NARROW)
    left = (
        "const box = document.querySelector('.scroll');"
        "const of = (cell) => cell.getBoundingClientRect().left;"
        "const row = box.querySelector('tbody tr');"
        "box.scrollLeft += arguments[0];"
        "return [box.scrollLeft, of(row.cells[0]), of(row.cells[1])];"
    )
    start, moved = page.run(left, 0), page.run(left, 100)
    assert moved[0] == 100 and moved[1] == start[1] and moved[2] == start[2] - 100
    page.run("document.querySelector('.scroll').focus()")
    assert page.focused().get_attribute("class") == "scroll"


def test_the_contents_lead_to_every_part(page):
    titles = [head.text for head in page.all("main h2")]
    links = page.all("nav a")
    assert [link.text for link in links] == titles
    for link, head in zip(links, page.all("main h2"), strict=True):
        assert link.get_attribute("href").split("#")[1] == head.get_attribute("id")
    links[-1].send_keys(Keys.ENTER)
    top = "return arguments[0].getBoundingClientRect().top"
    assert page.run(top, page.all("main h2")[-1]) < WIDE[1]


def test_figures_are_told_in_words_and_numbers(report, page):
    images = page.all("figure img")
    assert len(images) == len(plot_report(report, "svg"))
    texts = [image.get_attribute("alt") for image in images]
    assert len(set(texts)) == len(texts)
    recall = report.curves[0].values[:, -1]
    best = report.rows[int(recall.argmax())].full_title
    assert f"the highest is {best} with {100 * recall.max():.2f} %" in texts[0]
    page["details summary"].click()
    heads = [head.text for head in page.all("details thead tr:last-child th")][:6]
    assert heads == ["Row", "1", "2", "5", "10", "20"]


def test_numbers_of_intervals_stand_below_each_other():
    texts = ("9.50 [8.25, 10.75]", "61.00 [60.00, 62.00]", "-")
    cells = [[SheetCell(text, interval=f"[{text}, 5]"), SheetCell("1.00")] for text in texts]
    sheet = aligned(Sheet("t", [], [("a", 9), ("b", 9)], [("r", row) for row in cells]))
    shown = [row[0].text for _, row in sheet.rows]
    assert shown == [f"{SPACE}9.50 [{SPACE}8.25, 10.75]", "61.00 [60.00, 62.00]", "-"]
    assert [row[1].text for _, row in sheet.rows] == ["1.00"] * 3
    empty = Sheet("t", [], [], [])
    assert aligned(empty).rows == []


def test_two_titles_alike_have_two_addresses():
    assert anchors(["A table", "A — table", "…", "A table"]) == [
        *("a-table", "a-table--2", "part", "a-table--3")
    ]


def test_a_plot_that_is_no_curve_points_to_the_tables(report):
    (picture,) = pictures(report, {"Work": base64.b64encode(b"<svg/>").decode()})
    assert picture.numbers is None and "tables above" in picture.alternative
