"""The page in a browser that reaches nothing but this machine."""

import threading
from urllib.parse import urlsplit

from mpbert.serving.app import create_app
from mpbert.serving.guard import Access
from tests.browsing import PLACE, By, Keys, Page, webdriver
from tests.serving.conftest import PATIENT


def test_an_empty_page_says_how_to_begin_and_names_the_size(page):
    assert page["#index"].text == "8 papers"
    assert page["#answer"].get_attribute("data-state") == "empty"
    assert "Click where a citation belongs" in page["#empty"].text
    assert not page["#problem"].is_displayed()


def test_an_answer_quotes_the_place_of_the_cursor(page):
    page.ask()
    before, after = page[".place blockquote"].text.split("Discovery")
    assert before.startswith("…") and before.endswith("Path MTU ")
    assert after.strip().startswith("is recommended")
    assert page["#status"].text.startswith("8 papers in ")
    assert page["#status"].get_attribute("role") == "status"


def test_a_list_is_walked_and_accepted_from_on_the_keyboard(page):
    page.ask()
    items = page.all("#places .paper")
    assert page.focused() == items[0]
    for key, place in [("j", 1), (Keys.ARROW_DOWN, 2), ("k", 1), (Keys.ARROW_UP, 0)]:
        page.press(key)
        assert page.focused() == items[place]
    page.press(Keys.END, "j")
    assert page.focused() == items[-1]
    page.press(Keys.HOME, "w")
    assert "full" in items[0].get_attribute("class")
    assert items[0].find_element(By.CSS_SELECTOR, ".more").get_attribute("aria-expanded") == "true"
    first = page.accept()
    assert first not in page.titles()
    assert page["#cited-papers span"].text.startswith(first)
    assert page.focused() == page["#places .paper"]
    page.press(Keys.ESCAPE)
    assert page.focused() == page["#text"]


def test_what_is_cited_together_with_the_accepted_comes_next_and_says_so(page):
    page.ask()
    title = '<img src=x onerror="window.owned=1">'
    page.go_to(title)
    page.accept()
    assert page.titles()[0].startswith("<script>")
    first = page["#places .paper"]
    assert "cited together with 1 accepted" in first.find_element(By.CSS_SELECTOR, ".summary").text
    page.press("w")
    assert f"{title} (3 sentences, accepted)" in first.text
    page["#cited-papers button"].click()  # taken back, it is recommended again
    page.until(lambda: title in page.titles())
    assert not page.all("#cited-papers li")


def test_another_place_starts_afresh_and_keeps_what_was_accepted(page):
    page.ask()
    accepted = page.accept()
    assert accepted not in page.titles()
    page.ask(place=PLACE + 3)
    page.until(lambda: accepted in page.titles())
    assert len(page.all("#cited-papers li")) == 1


def test_markup_in_titles_authors_and_sentences_is_shown_as_text(page):
    page.ask()
    for more in page.all("#places .more"):
        more.click()
    text = page["#places"].text
    for markup in ('<img src=x onerror="window.owned=1">', "<script>window.owned=1", "<b>Eve</b>"):
        assert markup in text
    assert "Markup <i>attacks</i> pages" in text
    page["#places .accept"].click()
    page.until(lambda: page.all("#cited-papers li"))
    page.open("#map")
    page.until(lambda: page["#legend"].text)
    page["#search"].send_keys("img")
    page.until(lambda: page.all("#found button"))[0].click()
    assert page["#chosen-title"].text == '<img src=x onerror="window.owned=1">'
    assert page.run("return window.owned") is None
    assert not page.all("main img, main b, main i, main script")


def test_bibtex_is_copied_or_shown_where_copying_is_forbidden(page):
    page.ask()
    origin = {"origin": page.address.rstrip("/")}
    grant = {**origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    page.press("c")
    page.until(lambda: page["#status"].text == "BibTeX copied")
    read = "navigator.clipboard.readText().then(arguments[0])"
    copied = page.driver.execute_async_script(read)
    assert copied.startswith("@")
    page.accept()
    page["#copy-all"].click()
    page.until(lambda: page["#status"].text == "BibTeX copied")
    assert page.driver.execute_async_script(read) == page["#bibtex"].get_property("value") == copied
    page["#places .paper"].send_keys("c")  # another one
    page.until(lambda: page.driver.execute_async_script(read) != copied)
    copied = page.driver.execute_async_script(read)
    page.run("navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden'))")
    page.press("c")
    page.until(lambda: page["#copy-dialog"].is_displayed())
    assert page["#copy-text"].get_attribute("value") == copied
    page["#copy-close"].click()
    assert not page["#copy-dialog"].is_displayed()


def test_a_refusal_is_shown_in_one_line_and_the_next_answer_replaces_it(page):
    page.ask(text="", place=0, state="error")
    assert page["#problem"].is_displayed()
    assert page["#problem"].get_attribute("role") == "alert"
    assert "\n" not in page["#problem"].text
    page.driver.get_log("browser")  # Chromium notes the refusal there
    page.ask()
    assert not page["#problem"].is_displayed()


def test_a_server_that_is_gone_is_named(page):
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        page.ask(state="error")
        assert page["#problem"].text == "The server does not answer; is it still running?"
    finally:
        online = {**offline, "offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        page.driver.get_log("browser")


def test_the_map_is_hovered_searched_and_walked(page):
    page.ask()
    page["#to-map"].click()
    page.until(lambda: page["#map-status"].text == "8 papers")
    topics = page.all("#topics button")
    assert "pages" in topics[0].text
    topics[0].send_keys(Keys.ENTER)
    assert page["#map-status"].text == f"{topics[0].text}: 8 papers around"
    assert "last answer" in page["#legend"].text
    page["#search"].send_keys("faces")
    page.until(lambda: page["#map-status"].text == "1 found")
    page["#search"].send_keys(Keys.ENTER)
    assert page["#chosen-title"].text == "Faces \N{GRINNING FACE} in text"
    canvas = page["#map"]  # the chosen paper is in the middle of it
    webdriver.ActionChains(page.driver).move_to_element(canvas).perform()
    page.until(lambda: page["#tip"].is_displayed())
    assert page["#tip"].text == "Faces \N{GRINNING FACE} in text · 2005 · emoji"
    page.run("arguments[0].focus()", canvas)
    page.press("+", "-")
    assert page["#map-status"].text == page["#tip"].text
    page.press(Keys.ARROW_LEFT, "0", Keys.ENTER)
    assert page["#chosen-title"].text in page["#map-status"].text


def test_the_map_opens_at_a_recommended_paper(page):
    page.ask()
    title = page.titles()[0]
    page["#places .show"].click()
    page.until(lambda: page["#chosen-title"].text == title)


def test_everything_comes_from_the_server_itself(page):
    page.ask()
    names = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    loaded = {urlsplit(name).netloc for name in page.run(names)}
    assert loaded == {urlsplit(page.address).netloc}


def test_every_field_and_button_has_a_name(page):
    page.ask()
    nameless = (
        "return [...document.querySelectorAll('input, textarea, select, button, a, canvas')]"
        ".filter((e) => !(e.textContent.trim() || e.labels?.length || e.ariaLabel))"
        ".map((e) => e.outerHTML)"
    )
    assert page.run(nameless) == []


def test_a_page_of_a_server_with_a_token_asks_for_it(browser, recommender, served):
    with served(create_app(recommender, PATIENT, Access(token="secret"))) as address:
        page = Page(browser, address)
        page.open()
        for typed in ("wrong", "secret"):
            page.until(lambda: page["#token-dialog"].is_displayed())
            page["#token"].send_keys(typed, Keys.ENTER)
            is_wrong = typed == "wrong"
            page.until(lambda is_wrong=is_wrong: page["#token-problem"].is_displayed() == is_wrong)
        page.until(lambda: page["#index"].text == "3 papers")
        page.ask()
        assert page.titles() == ["Title a"]
        page.open()  # the token is kept until the tab is closed
        page.until(lambda: page["#index"].text == "3 papers")
        browser.get_log("browser")


def test_while_it_waits_the_page_says_so(browser, recommender, served):
    with served(create_app(recommender, PATIENT)) as address:
        page = Page(browser, address)
        page.open()
        recommender.may_answer.clear()
        threading.Timer(100, recommender.may_answer.set).start()
        page.ask(state="loading")
        assert page["#status"].text == "Searching…"
        assert page["#answer"].get_attribute("aria-busy") == "true"
        assert page["#progress progress"].is_displayed()
        page.until(lambda: page["#seconds"].text.endswith(" s"))
        recommender.may_answer.set()
        page.until_state("answered")
        assert page["#answer"].get_attribute("aria-busy") == "false"
        assert not page["#progress"].is_displayed()
