# SPDX-License-Identifier: MIT
"""page.py -- a browser without a window, with a page of the laboratory or with a file.

The functions wait for states that the page writes as attributes of <html> (data-phase, data-seq, data-verdict,
data-gone), or for other visible states, and never for a fixed time.
"""
import base64
import os
import re
import shutil
import subprocess
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from laboratory import PATIENCE_S, soon

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync")


class Page:
    """A browser of its own, with a home of its own: it works for root, and for a user without one."""

    def __init__(self, address, width=1280, height=720, language="en-US", is_offline=False):
        self.home = tempfile.mkdtemp(prefix="seckill-chromium-")
        self.driver = None
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for flag in FLAGS + (f"--window-size={width},{height}", "--user-data-dir=" + os.path.join(self.home, "profile"), "--lang=" + language):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        environment = {**os.environ, "HOME": self.home, "XDG_CONFIG_HOME": self.home, "XDG_CACHE_HOME": self.home,
                       "DBUS_SESSION_BUS_ADDRESS": "disabled:", "NO_AT_BRIDGE": "1"}
        try:
            self.driver = self.start(options, environment)
            self.driver.set_page_load_timeout(PATIENCE_S)
            self.driver.set_script_timeout(PATIENCE_S)
            self.resize(width, height)
            if is_offline:
                self.cdp("Network.enable")
                self.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
            self.driver.get(address)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def start(options, environment):
        """The driver gives a browser a minute to start, which a busy machine may exceed: twice."""
        try:
            return webdriver.Chrome(service=Service("/usr/bin/chromedriver", env=environment), options=options)
        except Exception as error:  # of several kinds, by what was late
            print(f"# the browser is started anew: {str(error).splitlines()[0]}")
            return webdriver.Chrome(service=Service("/usr/bin/chromedriver", env=environment), options=options)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def resize(self, width, height, scale=1):
        """The size of the picture, without the window's frame."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.wait(f"a width of {width}", lambda page: page.js("innerWidth") == width)
        self.wait_frames()

    def wait_frames(self):
        """Wait until the page has been drawn: the event of a new size comes with the next frame."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def prefer(self, **features):
        """Media features, with _ for -: prefers_reduced_motion="reduce"."""
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])

    def js(self, text, *arguments):
        return self.driver.execute_script("return " + text, *arguments)

    def data(self, name):
        return self.js("document.documentElement.dataset[arguments[0]]", name)

    def text(self, selector):
        return self.js("document.querySelector(arguments[0]).textContent", selector)

    def press(self, keys):
        ActionChains(self.driver).send_keys(keys).perform()

    def click(self, selector):
        """Click as a person does, at the place where the element is visible."""
        ActionChains(self.driver).click(self.driver.find_element("css selector", selector)).perform()

    def click_slowly(self, selector, until=None):
        """As a person does whose finger is slow: the page draws a newer state, or what `until` waits for, between
        the press and the release."""
        ActionChains(self.driver).click_and_hold(self.driver.find_element("css selector", selector)).perform()
        (until or Page.wait_shown)(self)
        ActionChains(self.driver).release().perform()

    def wait(self, what, condition):
        try:
            return soon(what, lambda: condition(self))
        except AssertionError as error:
            said = self.js("[document.documentElement.dataset, document.getElementById('why')].map((e) => e && (e.textContent || {...e}))")
            raise AssertionError(f"{error}; the page says {said}") from None

    def wait_phase(self, *phases):
        return self.wait(f"phase {phases}", lambda page: page.data("phase") in phases and page.data("phase"))

    def begin_sale(self, press):
        """Press what begins a sale, and wait until it runs.  The number of the sale tells it from the one before."""
        before, number = self.sale()
        press()

        def begun(page):
            phase, now = page.sale()
            return (now > number or before == "ready") and phase in ("running", "ended", "failed") and phase
        phase = self.wait("the sale has begun", begun)
        assert phase == "running", f"the sale is not running but {phase}: {self.text('#detail')}"

    def end_sale(self, click):
        """Click what ends the sale, and wait for its end."""
        before = self.sale()
        assert before[0] == "running", before
        click("#go")
        self.wait("the sale has ended", lambda page: page.sale() == ["ended", before[1]])

    def sale(self):
        """The phase and the number of the sale, of one moment."""
        return self.js("[document.documentElement.dataset.phase, Number(document.documentElement.dataset.run)]")

    def wait_shown(self):
        """Wait until the page has drawn a newer state than the present one."""
        before = int(self.data("seq") or 0)
        return self.wait("a newer state", lambda page: int(page.data("seq") or 0) > before)

    def picture(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"]))

    def printed_pages(self, path=None):
        """How many pages of A4 it prints on; the PDF goes to `path`."""
        data = base64.b64decode(self.cdp("Page.printToPDF", printBackground=True, preferCSSPageSize=True,
                                         paperWidth=8.27, paperHeight=11.69)["data"])
        if path:
            with open(path, "wb") as out:
                out.write(data)
        return len(re.findall(rb"/Type\s*/Page\b(?!s)", data))

    def assert_printed(self, *texts):
        """The PDF has these texts, and lines of a cell that stand below each other do not join."""
        path = os.path.join(self.home, "printed.pdf")
        self.printed_pages(path)
        command = ["pdftotext", path, "-"]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()

        def flat(text):  # a hyphen at the end of a line is left out
            return re.sub(r"[\s-]", "", text)
        for text in texts:
            assert flat(text) in flat(said), (text, said[:2000])
        cells = "[...document.querySelectorAll('td:has(.s)')].map((cell) => cell.innerText)"
        for cell in self.js(cells):
            lines = cell.strip().split("\n")
            for above, below in zip(lines, lines[1:]):
                assert flat(above + below) not in flat(said), (above, below)

    def close(self):
        try:
            if self.driver:
                self.driver.quit()
        finally:
            self.driver = None
            shutil.rmtree(self.home, ignore_errors=True)
