"""Pages in a browser: rungs open by click, by key and by address; phones, the dark, print; no requests and no complaints."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import PHONE, Browser, opened_browser
from paths import BENCHMARKS

import tilewright

RUNG = "document.getElementById('tiles/06')"
PAGES = {
    "ladder": ("h200-tiles.json",),
    "bench": ("h200-gemm-float32.json",),
    "accuracy": ("h200-accuracy.json",),
    "two": ("cpu-intel-transpose.json", "cpu-pocl-transpose.json"),
    "energy": ("h200-sustained-float16.json",),
    "random": ("cpu-intel-random-float32.json.gz",),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with opened_browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def pages(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages, which are made only where there is a browser."""
    folder = tmp_path_factory.mktemp("pages")
    for name, records in PAGES.items():
        tilewright.report([BENCHMARKS / each for each in records], folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in PAGES}


def wait_for(browser: Browser, script: str) -> None:
    """Until an expression is true: events of the page come a little later."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 20).until(lambda driver: driver.execute_script(f"return {script}"))


def test_a_rung_opens_by_click_and_the_address_names_it(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["ladder"])
    assert browser.ask(f"{RUNG}.open") is False
    browser.driver.find_element("css selector", "[id='tiles/06'] > summary").click()
    wait_for(browser, "location.hash === '#tiles/06'")
    assert browser.ask(f"{RUNG}.open")
    assert browser.ask(f"{RUNG}.querySelectorAll('tr.new').length > 3 && {RUNG}.querySelectorAll('svg').length >= 3")
    browser.driver.find_element("css selector", "[id='tiles/06'] > summary").click()
    wait_for(browser, "location.hash === ''")


def test_a_rung_opens_by_the_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.show(pages["ladder"])
    browser.driver.find_element("css selector", "[id='tiles/06'] > summary").send_keys(Keys.ENTER)
    wait_for(browser, f"{RUNG}.open")


def test_a_rung_opens_by_the_address(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["ladder"], "#tiles/06")
    wait_for(browser, f"{RUNG}.open")
    assert browser.ask("document.querySelectorAll('details.rung[open]').length") == 1
    browser.driver.execute_script("location.hash = '#tiles/08_shuffles'")
    wait_for(browser, "document.getElementById('tiles/08').open")
    wait_for(browser, "Math.abs(document.getElementById('tiles/08').getBoundingClientRect().top) < 60")
    browser.show(pages["ladder"], "#%E0%A4%A")
    assert browser.ask("document.querySelectorAll('details.rung[open]').length") == 0


def test_a_rung_of_the_second_record_has_its_own_address(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["two"], "#2/transpose/05")
    wait_for(browser, "document.getElementById('2/transpose/05').open")
    assert not browser.ask("document.getElementById('transpose/05').open")


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_up_and_down_alone(name: str, browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages[name], size=PHONE)
    browser.driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert browser.ask("document.documentElement.scrollWidth") <= PHONE[0]
    assert browser.ask("document.querySelector('h1').getBoundingClientRect().top") < PHONE[1], (
        "the sentence comes first"
    )


def test_colours_follow_the_readers_preference(browser: Browser, pages: dict[str, Path]) -> None:
    colours = []
    for dark in (False, True):
        browser.show(pages["ladder"], "#tiles/06", dark=dark)
        found = "getComputedStyle(document.body)"
        colours.append((browser.ask(f"{found}.backgroundColor"), browser.ask(f"{found}.color")))
    assert colours[0][0] == "rgb(255, 255, 255)"
    assert len({*colours[0], *colours[1]}) == 4


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_complains_about_nothing(
    name: str, browser: Browser, pages: dict[str, Path]
) -> None:
    browser.fetched()
    browser.complaints()
    browser.show(pages[name])
    browser.driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    wait_for(browser, "document.readyState === 'complete'")
    assert {url for url in browser.fetched() if not url.startswith(("data:", "about:"))} == {pages[name].as_uri()}
    assert browser.complaints() == []


def test_the_download_gives_the_record_back(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["ladder"])
    link = browser.ask("document.querySelector('a[download]').href")
    assert browser.ask("document.querySelector('a[download]').download") == "h200-tiles.json"
    assert link.startswith("data:application/json;base64,")


def test_a_page_can_be_printed(browser: Browser, pages: dict[str, Path]) -> None:
    browser.show(pages["ladder"], "#tiles/06", dark=True)
    assert browser.print_pdf().startswith(b"%PDF")
