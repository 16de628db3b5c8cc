"""A headless Chromium, driven by selenium: what tests, pictures and measurements of pages start."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DRIVER = "chromedriver"
WIDE = (1280, 900)  # pixels


def missing() -> str:
    """What is missing to drive a browser, as a sentence; "" if nothing is."""
    if find_spec("selenium") is None:
        return "selenium is not installed: uv sync --group dev"
    absent = [] if any(map(shutil.which, BROWSERS)) else ["browser"]
    absent += [] if shutil.which(DRIVER) else [DRIVER]
    return f"no {' and no '.join(absent)}: on Debian, apt install chromium chromium-driver" if absent else ""


@contextmanager
def chromium(size: tuple[int, int] = WIDE, dark: bool = False, profile: Path | None = None) -> Iterator[Any]:
    """A selenium driver of a window of this size. A `profile` keeps caches from one start to the next. Ask `missing` before."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = next(found for name in BROWSERS if (found := shutil.which(name)))
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    words = ["--headless=new", "--disable-gpu", "--hide-scrollbars"]
    if profile is not None:
        words.append(f"--user-data-dir={profile}")
    if sys.platform != "win32" and os.geteuid() == 0:
        words.append("--no-sandbox")  # Chromium starts as root in no other way
    for word in words:
        options.add_argument(word)
    running = Chrome(options=options, service=Service(shutil.which(DRIVER)))
    try:
        dress(running, size, dark)
        yield running
    finally:
        running.quit()


def dress(driver: Any, size: tuple[int, int], dark: bool) -> None:
    """Show pages at this size, in light or dark. A desktop's window has a smallest width, so a phone's is emulated."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
