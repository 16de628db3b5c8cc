"""A headless Chromium for tests of pages, with what it fetched and complained about."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools.browser import chromium, dress, missing

WIDE, PHONE = (1200, 900), (375, 812)  # pixels


@dataclass
class Browser:
    """A browser with one page at a time."""

    driver: Any

    def show(self, page: Path, fragment: str = "", size: tuple[int, int] = WIDE, dark: bool = False) -> None:
        """Load a page anew, at this size and in light or dark."""
        dress(self.driver, size, dark)
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() + fragment)

    def ask(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        return self.driver.execute_script(f"return {script}")

    def fetched(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        messages = [json.loads(each["message"])["message"] for each in self.driver.get_log("performance")]
        return [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the console shows since the last call."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def print_pdf(self) -> bytes:
        made = self.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        return base64.b64decode(made["data"])


@contextmanager
def opened_browser(folder: Path) -> Iterator[Browser]:
    """A browser whose files lie in `folder`; the test is skipped with a reason if there is none."""
    if reason := missing():
        pytest.skip(reason)
    with chromium(profile=folder) as driver:
        yield Browser(driver)
