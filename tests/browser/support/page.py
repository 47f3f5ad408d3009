# SPDX-License-Identifier: MIT
"""page.py -- a browser without a window, before the page of `seckill show`.

Everything that is waited for is a state that the page writes onto <html> (data-phase, data-seq,
data-verdict, data-gone), or something else that can be seen.  Nothing sleeps for a fixed time and
then looks.
"""
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from laboratory import PATIENCE_S, soon


class Page:
    """A browser without a window."""

    def __init__(self, address, width=1280, height=720):
        options = Options()
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(PATIENCE_S)
        self.driver.set_script_timeout(PATIENCE_S)
        # The size of the picture, without the window's frame.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.get(address)

    def js(self, text, *arguments):
        return self.driver.execute_script("return " + text, *arguments)

    def data(self, name):
        return self.js("document.documentElement.dataset[arguments[0]]", name)

    def text(self, selector):
        return self.js("document.querySelector(arguments[0]).textContent", selector)

    def press(self, keys):
        ActionChains(self.driver).send_keys(keys).perform()

    def wait(self, what, condition):
        return soon(what, lambda: condition(self))

    def wait_phase(self, *phases):
        return self.wait(f"phase {phases}", lambda page: page.data("phase") in phases and page.data("phase"))

    def wait_shown(self):
        """Until the page has drawn a state that is newer than the one of now."""
        before = int(self.data("seq") or 0)
        return self.wait("a newer state", lambda page: int(page.data("seq") or 0) > before)

    def close(self):
        self.driver.quit()
