"""Times a built playground in headless Chromium: from the visit to the first answer, and from a change to its answer."""

import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tilewright.errors import InvalidInput, Unsupported
from tilewright.runtime.environment import processor
from tilewright.runtime.load import OtherLoad

from ..browser import chromium, missing
from .examples import groups
from .serve import make_server

TIME_LIMIT_S = 120.0  # of one answer
LIMITS_S = {"usable": 5.0, "explained": 1.5}  # what the medians should stay below
SETTLE_S = 3.0  # after the first visit: the browser writes compiled WebAssembly into its cache


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a built folder while it is served."""
    if not (folder / "playground.json").exists():
        raise InvalidInput(f"{folder} holds no playground: python -m tools.playground build {folder}")
    with make_server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def answers(browser: Any) -> int:
    """How many answers the page has shown."""
    return int(browser.execute_script("return document.body.dataset.answered || 0"))


def wait_for_answer(browser: Any, number: int) -> None:
    """Wait until the page has shown `number` answers. Unsupported, with what the page says, if it does not."""
    end = time.monotonic() + TIME_LIMIT_S
    while answers(browser) < number:
        if broken := browser.execute_script("return document.body.dataset.broken"):
            raise Unsupported(f"the playground could not be loaded: {broken}")
        if time.monotonic() > end:
            said = browser.execute_script("return document.getElementById('status').textContent")
            raise Unsupported(f"the playground gave no answer within {TIME_LIMIT_S:g} s; it says: {said}")
        time.sleep(0.02)


def seconds(browser: Any, what: str) -> float:
    return round(float(browser.execute_script(f"return document.body.dataset.{what}")) / 1e3, 3)


def visits(address: str, count: int) -> dict[str, Any]:
    """Seconds from the visit to the first answer: with an empty cache once, then with a warm one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        found = []
        for number in range(count + 2):  # of the second visit the browser keeps compiled code
            with chromium(profile=Path(profile)) as browser:
                browser.get(address)
                wait_for_answer(browser, 1)
                found.append(seconds(browser, "usable"))
                time.sleep(SETTLE_S if number < 2 else 0)
    return {"empty_cache_s": found[0], "warm_cache_s": found[2:], "median_s": median(found[2:])}


def runs(address: str, count: int) -> dict[str, Any]:
    """Seconds that the worker takes for each kernel offered, and the number of its lines."""
    found: dict[str, Any] = {}
    with chromium() as browser:
        browser.get(address)
        wait_for_answer(browser, 1)
        done = answers(browser)
        for example in (each for group in groups().values() for each in group):
            times = []
            for _ in range(count):
                browser.execute_script(CHOOSE, example["name"])
                done += 1
                wait_for_answer(browser, done)
                times.append(seconds(browser, "milliseconds"))
            found[example["name"]] = {
                "lines": len(example["source"].splitlines()), "seconds": times, "median_s": median(times),
            }  # fmt: skip
    return found


CHOOSE = """
const list = document.getElementById("example");
list.value = arguments[0];
list.dispatchEvent(new Event("change"));
"""


def measured(folder: Path, count: int) -> dict[str, Any]:
    """The record: the machine, the browser, the times of visits and of runs. InvalidInput for less than one of each."""
    if count < 1:
        raise InvalidInput(f"{count} runs measure nothing: ask for at least 1")
    if reason := missing():
        raise Unsupported(f"the playground is measured in a browser, and {reason}")
    others = OtherLoad()
    with serving(folder) as address:
        with chromium() as browser:
            version = str(browser.capabilities["browserVersion"])
        timed = {"limits_s": LIMITS_S, "visits": visits(address, count), "runs": runs(address, count)}
    busy = others.cores()
    machine = {
        "processor": processor(), "cores": os.cpu_count(), "system": platform.system(), "browser": f"Chromium {version}",
        "others_kept_busy": None if busy is None else round(busy, 2),
    }  # fmt: skip
    return {"machine": machine, **timed}


def lines(record: dict[str, Any]) -> list[str]:
    """The record in words."""
    visit = record["visits"]
    texts = [
        f"{record['machine']['browser']} on {record['machine']['processor']}",
        f"first answer: {visit['empty_cache_s']:.1f} s with an empty cache, {visit['median_s']:.1f} s with a warm one "
        f"(median of {len(visit['warm_cache_s'])}; it should be at most {record['limits_s']['usable']:g} s)",
    ]
    limit = record["limits_s"]["explained"]
    for name, row in record["runs"].items():
        verdict = "" if row["median_s"] <= limit else f"; above {limit:g} s"
        texts.append(f"{name:28} {row['lines']:3} lines  {row['median_s']:5.2f} s{verdict}")
    return texts
