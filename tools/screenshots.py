"""Draws the pictures of `docs/`: charts from records, commands as a terminal shows them, and pages as a browser shows them.

    python -m tools.screenshots [NAME ...]

Without names all are drawn. Nothing is measured: ladders, benchmarks and rooflines come from the records in `benchmarks/`.
`explain` and `doctor` are run on this machine. Pages need Chromium or Chrome with its chromedriver; they are
left out without. Of the course and the playground the sites are built, which needs MkDocs (`uv run --group docs`) and Node.js.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tilewright.cli.live_table import LiveTable
from tilewright.core.records import load_record
from tilewright.reports.benchmark_table import COLUMNS, by_problem, cells, summary
from tilewright.reports.plot import load_drawable, plot
from tilewright.reports.table import heading

from .browser import chromium, missing
from .playground.build import build
from .playground.measure import CHOOSE, serving, wait_for_answer

ROOT = Path(__file__).parents[1]
DOCS, RECORDS = ROOT / "docs", ROOT / "benchmarks"
WIDTH = 118  # columns of a terminal's picture
MOST_LINES = 50
LARGEST = 100_000  # bytes of an SVG
LARGEST_PAGE = 300_000  # bytes of a page's picture
TIME_LIMIT_S = 300
SETTLE_S = 0.5  # after scrolling
PAGE = (1180, 1500)  # pixels of the page's picture
SITE_PAGE = (1280, 1000)  # of a page of a site
COURSE_PAGE = Path("course", "en", "tiles", "06", "index.html")
EXERCISE = "cases/03"  # with bank conflicts: a costly kernel, goals, and a picture to see why
# A chart's name in docs/, and its record.
CHARTS = {
    "tiles-h200.svg": "h200-tiles.json",
    "sizes-h200.svg": "h200-tiles-peers.json",
    "ratios-h200.svg": "h200-gemm-float32.json",
    "roofline-h200.svg": "h200-roofline-tiles-06.json",
    "roofline-tiles-h200.svg": "h200-roofline-tiles.json",
}
# A naive kernel's answer; by counts alone, so that this machine's load does not show.
ASKED = ("why", "examples/my_gemm.cl", "-D", "ROWS=1", "--device-model", "nvidia")
EXPLAINED = ("explain", "transpose/5", "-D", "PAD=0")  # a rung with bank conflicts
# What rich draws, without fonts from the network: a browser that finds none of these takes its own.
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix{{font-family:ui-monospace,Menlo,"DejaVu Sans Mono",Consolas,monospace;font-size:{char_height}px;
line-height:{line_height}px;font-variant-east-asian:full-width}}.{unique_id}-title{{font-size:18px;font-weight:bold;
font-family:sans-serif}}{styles}</style><defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def terminal(command: str, show: Callable[[Console], None]) -> str:
    """What `show` prints, as the picture of a terminal in which `command` was typed."""
    console = Console(record=True, width=WIDTH, file=StringIO())
    console.print(Text(f"$ {command}", style="bold"), highlight=False)
    show(console)
    name = re.sub(r"\W+", "-", command).strip("-")
    return console.export_svg(title=command, code_format=FRAME, unique_id=name)


def run(*words: str) -> Text:
    """The output of a command with its colours, without this machine's folders. Long output is cut."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "tilewright", *words], env={**kept, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}, cwd=ROOT,
        capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    if not done.stdout:
        raise SystemExit(f"tilewright {' '.join(words)} printed nothing: {done.stderr.strip()}")
    return Text.from_ansi(shortened(private(done.stdout)))


def private(text: str) -> str:
    """Text in which the checkout is `.` and the user's folder is `~`."""
    names = {str(ROOT): ".", str(Path.home()): "~"}
    for folder in sorted(names, key=len, reverse=True):  # the longer first: one may begin as the other does
        text = text.replace(folder, names[folder])
    return text


def shortened(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "..."])


def ladder(console: Console) -> None:
    """The table of a saved ladder, as `ladder` prints it."""
    record = load_record(RECORDS / "h200-tiles.json")
    device = cast("Any", SimpleNamespace(info=record.environment.device))
    with LiveTable(console, record.title, device, record.dtype) as table:
        table.finish(record)


def bench(console: Console) -> None:
    """The lines of a saved benchmark."""
    record = load_record(RECORDS / "h200-gemm-float32.json")
    groups = by_problem(record)
    table = Table(box=None, pad_edge=False, title=heading(record, sizes=False), title_justify="left")
    for place, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if place else "left")
    for group in groups:
        table.add_row(*cells(group))
    console.print(table)
    console.print(summary(groups), highlight=False)


# A terminal's picture in docs/: the command, and what prints its output.
TERMINALS: dict[str, tuple[str, Callable[[Console], None]]] = {
    "terminal-ladder.svg": ("tilewright ladder tiles", ladder),
    "terminal-explain.svg": (f"tilewright {' '.join(EXPLAINED)}", lambda console: console.print(run(*EXPLAINED))),
    "terminal-bench.svg": ("tilewright bench squares,large,layouts-large", bench),
    "terminal-roofline.svg": (
        "tilewright roofline tiles",
        lambda console: console.print(run("roofline", str(RECORDS / "h200-roofline-tiles.json"))),
    ),
    "terminal-why.svg": (f"tilewright {' '.join(ASKED)}", lambda console: console.print(run(*ASKED))),
    "terminal-doctor.svg": ("tilewright doctor", lambda console: console.print(run("doctor"))),
}
# A page in docs/: the command, its option that writes the page, and what is opened in it.
PAGES = {
    "explain-page.png": (EXPLAINED, "--html", ""),
    "why-page.png": (ASKED, "--html", ""),
    "report-page.png": (("report", str(RECORDS / "h200-tiles.json")), "-o", ""),
    "report-rung.png": (("report", str(RECORDS / "h200-transpose.json")), "-o", "#transpose/05"),
    "report-two.png": (
        ("report", str(RECORDS / "cpu-intel-tiles.json"), str(RECORDS / "cpu-pocl-tiles.json")), "-o", "",
    ),
}  # fmt: skip


def page(command: Sequence[str], option: str, fragment: str, picture: Path) -> None:
    """The page that a command writes with `option`, opened at `fragment`, as a browser shows it."""
    if reason := missing():
        print(f"{picture.name} is not drawn: {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder, "page.html")
        run(*command, option, str(html))
        with chromium(PAGE) as browser:
            browser.get(html.as_uri() + fragment)
            picture.write_bytes(browser.get_screenshot_as_png())
    print(f"{picture.name}: {picture.stat().st_size:,} bytes")


def course_page(folder: Path, picture: Path) -> None:
    """A page of the course as the documentation's site has it."""
    command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    if done.returncode:
        raise SystemExit(f"the documentation cannot be built: {done.stderr.strip()}")
    with chromium(SITE_PAGE) as browser:
        browser.get((folder / COURSE_PAGE).as_uri() + "#the-idea")
        picture.write_bytes(browser.get_screenshot_as_png())


def playground_page(folder: Path, picture: Path) -> None:
    """The playground with an exercise that is explained and graded."""
    build(folder)
    with serving(folder) as address, chromium(SITE_PAGE) as browser:
        browser.get(address)
        wait_for_answer(browser, 1)
        browser.execute_script(CHOOSE, EXERCISE)
        wait_for_grade(browser)
        browser.execute_script("document.querySelector('.cm-scroller').scrollTop = 1e6")  # to the code, below its head
        time.sleep(SETTLE_S)
        picture.write_bytes(browser.get_screenshot_as_png())


# A site's picture in docs/, and what builds the site in a folder and shows it.
SITES: dict[str, Callable[[Path, Path], None]] = {"course-page.png": course_page, "playground.png": playground_page}


def wait_for_grade(browser: Any) -> None:
    """Wait until the playground has graded an exercise. SystemExit if it does not."""
    end = time.monotonic() + TIME_LIMIT_S
    while not browser.execute_script("return document.body.dataset.graded"):
        if time.monotonic() > end:
            raise SystemExit(f"the playground graded nothing within {TIME_LIMIT_S} s")
        time.sleep(0.05)


def site(name: str, picture: Path) -> None:
    """The page of a site that is built for its picture."""
    if reason := missing():
        print(f"{name} is not drawn: {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        SITES[name](Path(folder), picture)
    print(f"{name}: {picture.stat().st_size:,} bytes")


def save(name: str, svg: str, folder: Path) -> None:
    """Write an SVG that is not too large for a page."""
    size = len(svg.encode())
    if size > LARGEST:
        raise SystemExit(f"{name} has {size:,} bytes; a page should load at most {LARGEST:,}")
    (folder / name).write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")
    print(f"{name}: {size:,} bytes")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    known = (*CHARTS, *TERMINALS, *PAGES, *SITES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)} (default: all)")
    parser.add_argument("--folder", type=Path, default=DOCS, help="where to write them (default: docs)")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(known)}")
    for name in options.names or known:
        if name in CHARTS:
            plot(load_drawable(RECORDS / CHARTS[name]), options.folder / name)
            print(f"{name}: {(options.folder / name).stat().st_size:,} bytes")
        elif name in TERMINALS:
            save(name, terminal(*TERMINALS[name]), options.folder)
        elif name in PAGES:
            page(*PAGES[name], options.folder / name)
        else:
            site(name, options.folder / name)


if __name__ == "__main__":
    main()
