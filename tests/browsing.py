"""A page in a browser, and what a person does with it; axe looks for faults of accessibility."""

import gzip
import shutil
import time
from pathlib import Path

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
AXE = Path(__file__).parent / "fixtures" / "axe" / "axe.min.js.gz"
WIDE, NARROW = (1000, 680), (360, 740)
TEXT = (
    "Large packets vanish on tunnelled paths \N{GRINNING FACE}. Pages of others are attacked by "
    "markup, since Path MTU Discovery is recommended to prevent fragmentation. The rest is probed."
)
PLACE = TEXT.index(" is recommended")


def start_browser(downloads):
    """Return a headless Chromium that finds no name of the network."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium and chromedriver are not installed; Debian has packages of both")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"),
        "disable-renderer-backgrounding",
        *("lang=en", "hide-scrollbars", "host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
    ):
        options.add_argument(f"--{flag}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options, webdriver.ChromeService(chromedriver))


class Page:
    """A page of an address."""

    def __init__(self, driver, address, downloads=None):
        self.driver, self.address, self.downloads = driver, address, downloads

    def open(self, part=""):
        self.driver.get("about:blank")
        self.driver.get(self.address + part)

    def begin(self):
        """Open the page as somebody who was never here."""
        self.open()
        self.run("localStorage.clear()")
        self.open()
        self.until(lambda: self["#index"].text)

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

    def press_with(self, *keys):
        """Press keys together, the last one last."""
        actions = webdriver.ActionChains(self.driver)
        for key in keys[:-1]:
            actions.key_down(key)
        actions.send_keys(keys[-1])
        for key in keys[:-1]:
            actions.key_up(key)
        actions.perform()

    def write(self, text, place=0):
        """Put a text into the field and the cursor before a character of it."""
        self.run(
            "const text = document.getElementById('text');"
            "text.value = arguments[0]; text.focus();"
            "const units = Array.from(arguments[0]).slice(0, arguments[1]).join('').length;"
            "text.setSelectionRange(units, units);"
            "text.dispatchEvent(new InputEvent('input', {bubbles: true}));",
            *(text, place),
        )

    def ask(self, text=TEXT, place=PLACE, state="answered"):
        """Type, put the cursor and ask, all on the keyboard."""
        self.write(text, place)
        self.press_with(Keys.CONTROL, Keys.ENTER)
        self.until_state(state)

    def ask_all(self, text, state="answered"):
        self.write(text)
        self.press_with(Keys.CONTROL, Keys.SHIFT, Keys.ENTER)
        self.until_state(state)

    def accept(self):
        """Accept the paper in focus; return its title."""
        title = self.focused().find_element(By.TAG_NAME, "h4").text
        self.press(Keys.ENTER)
        self.until(lambda: self["#status"].text.startswith(f"Accepted: {title}"))
        self.until_state("answered")
        return title

    def go_to(self, title):
        """Walk down the list to a paper."""
        while self.focused().find_element(By.TAG_NAME, "h4").text != title:
            self.press("j")

    def until_state(self, state):
        self.until(lambda: self["#answer"].get_attribute("data-state") == state)

    def text(self):
        return self["#text"].get_property("value")

    def titles(self, place=""):
        titles = "return [...document.querySelectorAll(arguments[0])].map((h) => h.textContent)"
        return self.run(titles, f"#places {place} h4")

    def focused(self):
        return self.driver.switch_to.active_element

    def look(self, width=WIDE[0], height=WIDE[1], scheme="light"):
        """Set the size of the window and the colours that the person prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def width(self):
        return self.run("return document.documentElement.scrollWidth")

    def faults(self):
        """Return what axe finds wrong, one line a fault."""
        if not self.run("return 'axe' in window"):
            self.run(gzip.decompress(AXE.read_bytes()).decode())
        found = self.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run().then(({violations}) => done(violations.flatMap(({id, help, nodes}) =>"
            " nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`))))"
        )
        return found
