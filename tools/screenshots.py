"""Draws the pictures of `docs/`: charts from records, commands as a terminal shows them, and a page as a browser shows it.

    python -m tools.screenshots [NAME ...]

Without names all are drawn. Nothing is measured: ladders, benchmarks and rooflines come from the records in `benchmarks/`.
`explain` and `doctor` are run on this machine. The page needs a Chromium or Chrome; it is left out if there is none.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
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

ROOT = Path(__file__).parents[1]
DOCS, RECORDS = ROOT / "docs", ROOT / "benchmarks"
WIDTH = 118  # columns of a terminal's picture
MOST_LINES = 50
LARGEST = 100_000  # bytes of an SVG
TIME_LIMIT_S = 300
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PAGE = (1180, 1500)  # pixels of the page's picture
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
# A page in docs/: the command, and its option that writes the page.
PAGES = {"explain-page.png": (EXPLAINED, "--html"), "why-page.png": (ASKED, "--html")}


def page(command: Sequence[str], option: str, picture: Path) -> None:
    """The page that a command writes with `option`, as a browser shows it."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print(f"{picture.name} is not drawn: none of {', '.join(BROWSERS)} is installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder, "page.html")
        run(*command, option, str(html))
        width, height = PAGE
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
             f"--screenshot={picture}", html.as_uri()],
            check=True, capture_output=True, timeout=TIME_LIMIT_S,
        )  # fmt: skip
    print(f"{picture.name}: {picture.stat().st_size:,} bytes")


def save(name: str, svg: str, folder: Path) -> None:
    """Write an SVG that is not too large for a page."""
    size = len(svg.encode())
    if size > LARGEST:
        raise SystemExit(f"{name} has {size:,} bytes; a page should load at most {LARGEST:,}")
    (folder / name).write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")
    print(f"{name}: {size:,} bytes")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    known = (*CHARTS, *TERMINALS, *PAGES)
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
        else:
            page(*PAGES[name], options.folder / name)


if __name__ == "__main__":
    main()
