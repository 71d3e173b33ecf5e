"""The page in a browser that reaches nothing but this machine.

``pytest tests/serving/test_page.py --screenshots docs/screenshots --index RUN_DIR`` keeps pictures.
"""

import io
import shutil
import threading
import time
from urllib.parse import urlsplit

import pytest
from PIL import Image

from mpbert.recommending.recommender import IndexRecommender
from mpbert.serving.app import create_app
from mpbert.serving.guard import Access
from mpbert.serving.limits import Limits

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
TEXT = (
    "Large packets vanish on tunnelled paths \N{GRINNING FACE}. Pages of others are attacked by "
    "markup, since Path MTU Discovery is recommended to prevent fragmentation. The rest is probed."
)
PATIENT = Limits(seconds=120)  # a machine that runs tests may be busy
PLACE = TEXT.index(" is recommended")
PICTURED = (
    "Operators often find that large packets vanish on tunnelled paths. Path MTU Discovery is "
    "recommended to prevent fragmentation, since a datagram that loses one fragment is lost whole."
)


class Page:
    """The page in a browser, and what a person does with it."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, part=""):
        self.driver.get("about:blank")
        self.driver.get(self.address + part)

    def __getitem__(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, (self["#answer"].text, self["#map-status"].text)
            time.sleep(0.02)
        return found

    def press(self, *keys):
        actions = webdriver.ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def ask(self, text=TEXT, place=PLACE, state="answered"):
        """Type, put the cursor and ask, all on the keyboard."""
        self.run(
            "const text = document.getElementById('text');"
            "text.value = arguments[0]; text.focus();"
            "const units = Array.from(arguments[0]).slice(0, arguments[1]).join('').length;"
            "text.setSelectionRange(units, units);",
            *(text, place),
        )
        control = webdriver.ActionChains(self.driver).key_down(Keys.CONTROL)
        control.send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        self.until_state(state)

    def until_state(self, state):
        self.until(lambda: self["#answer"].get_attribute("data-state") == state)

    def titles(self):
        titles = "return [...document.querySelectorAll('#papers h3')].map((h) => h.textContent)"
        return self.run(titles)

    def focused(self):
        return self.driver.switch_to.active_element

    def look(self, width=1000, height=680, scheme="light"):
        """Set the size of the window and the colours that the person prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium that finds no name of the network."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium and chromedriver are not installed; Debian has packages of both")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"),
        *("lang=en", "hide-scrollbars", "host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(planted_index, served):
    with served(create_app(IndexRecommender.open(planted_index), PATIENT)) as address:
        yield address


@pytest.fixture
def page(browser, address):
    page = Page(browser, address)
    page.look()
    page.open()
    page.until(lambda: page["#index"].text)
    browser.get_log("browser")
    yield page
    assert browser.get_log("browser") == []  # no error, nothing that the policy refused


def test_an_empty_page_says_how_to_begin_and_names_the_size(page):
    assert page["#index"].text == "8 papers"
    assert page["#answer"].get_attribute("data-state") == "empty"
    assert "Click where a citation belongs" in page["#empty"].text
    assert not page["#problem"].is_displayed()


def test_an_answer_quotes_the_place_of_the_cursor(page):
    page.ask()
    before, after = page["#place"].text.split("Discovery")
    assert before.startswith("…") and before.endswith("Path MTU ")
    assert after.strip().startswith("is recommended")
    assert page["#status"].text.startswith("8 papers in ")
    assert page["#status"].get_attribute("role") == "status"


def test_a_list_is_walked_and_accepted_from_on_the_keyboard(page):
    page.ask()
    items = page.all("#papers li.paper")
    assert page.focused() == items[0]
    for key, place in [("j", 1), (Keys.ARROW_DOWN, 2), ("k", 1), (Keys.ARROW_UP, 0)]:
        page.press(key)
        assert page.focused() == items[place]
    page.press(Keys.END, "j")
    assert page.focused() == items[-1]
    page.press(Keys.HOME, "w")
    assert items[0].find_element(By.TAG_NAME, "details").get_attribute("open")
    first = page.titles()[0]
    page.press(Keys.ENTER)
    page.until(lambda: page["#status"].text.startswith(f"Accepted: {first}"))
    page.until_state("answered")
    assert first not in page.titles()
    assert page["#cited-papers span"].text.startswith(first)
    assert page.focused() == page["#papers li.paper"]
    page.press(Keys.ESCAPE)
    assert page.focused() == page["#text"]


def test_what_is_cited_together_with_the_accepted_comes_next_and_says_so(page):
    page.ask()
    title = '<img src=x onerror="window.owned=1">'
    while page.focused().find_element(By.TAG_NAME, "h3").text != title:
        page.press("j")
    page.press(Keys.ENTER)
    page.until(lambda: page["#status"].text.startswith("Accepted"))
    page.until_state("answered")
    assert page.titles()[0].startswith("<script>")
    first = page["#papers li.paper"]
    assert "cited together with 1 accepted" in first.find_element(By.TAG_NAME, "summary").text
    page.press("w")
    assert f"{title} (3 sentences, accepted)" in first.text
    page["#cited-papers button"].click()  # taken back, it is recommended again
    page.until(lambda: title in page.titles())
    assert not page.all("#cited-papers li")


def test_another_place_starts_afresh_and_keeps_what_was_accepted(page):
    page.ask()
    accepted = page.titles()[0]
    page.press(Keys.ENTER)
    page.until(lambda: accepted not in page.titles())
    page.ask(place=PLACE + 3)
    page.until(lambda: accepted in page.titles())
    assert len(page.all("#cited-papers li")) == 1


def test_markup_in_titles_authors_and_sentences_is_shown_as_text(page):
    page.ask()
    for summary in page.all("#papers summary"):
        summary.click()
    text = page["#papers"].text
    for markup in ('<img src=x onerror="window.owned=1">', "<script>window.owned=1", "<b>Eve</b>"):
        assert markup in text
    assert "Markup <i>attacks</i> pages" in text
    page["#papers .accept"].click()
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
    page["#papers .show"].click()
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
        recommender.may_answer.set()
        page.until_state("answered")
        assert page["#answer"].get_attribute("aria-busy") == "false"


def test_the_states_fit_narrow_and_wide_windows_in_light_and_dark(
    browser, address, request, served, tmp_path
):
    index = request.config.getoption("--index")
    folder = request.config.getoption("--screenshots") or tmp_path
    if index is None:
        take_pictures(Page(browser, address), folder)
    else:
        with served(create_app(IndexRecommender.open(index), PATIENT)) as other:
            take_pictures(Page(browser, other), folder)


def take_pictures(page, folder):
    folder.mkdir(parents=True, exist_ok=True)
    page.look()
    page.open()
    page.until(lambda: page["#index"].text)
    picture(page, folder, "empty")
    page.ask(PICTURED, PICTURED.index(", since"))
    page.press(Keys.ENTER)
    page.until(lambda: page["#status"].text.startswith("Accepted"))
    page.until_state("answered")
    page.press("w")
    picture(page, folder, "answered")
    page.run("location.hash = '#map'")
    page.until(lambda: page["#legend"].text)
    picture(page, folder, "map")
    page.run("location.hash = '#write'")
    page.ask(text="", place=0, state="error")
    picture(page, folder, "error")
    page.driver.get_log("browser")


def picture(page, folder, name):
    """Keep a picture of a state; look at it in the other colours and in a narrow window too."""
    page.look(width=360, height=740, scheme="dark")
    assert page.run("return document.documentElement.scrollWidth") <= 360
    dark = page.run("return getComputedStyle(document.body).backgroundColor")
    page.look()
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    assert dark != light
    assert page.run("return document.documentElement.scrollWidth") <= 1000
    shot = Image.open(io.BytesIO(page.driver.get_screenshot_as_png()))
    shot.quantize(128).save(folder / f"{name}.png", optimize=True)  # a third of the bytes
    assert (folder / f"{name}.png").stat().st_size < 150_000
