"""python -m tools.playground build OUT | serve [FOLDER] | measure FOLDER --json benchmarks/NAME.json"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from tilewright.cli.outputs import check_target
from tilewright.core.language import ENGLISH, use_language
from tilewright.errors import InvalidInput, TilewrightError

from .build import build
from .measure import lines, measured
from .serve import make_server

FOLDER = Path("build/playground")


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="python -m tools.playground", description="Build, serve or measure the playground."
    )
    commands = whole.add_subparsers(dest="command", required=True)
    made = commands.add_parser("build", help="write the static pages")
    made.add_argument("out", type=Path, metavar="OUT", help="the folder that gets the files")
    made.add_argument(
        "--numpy", type=Path, metavar="FILE", help="NumPy's wheel for Pyodide (default: cached, or fetched)"
    )
    served = commands.add_parser("serve", help="serve a built folder on this machine")
    served.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="a built folder (default: %(default)s)")
    served.add_argument("--port", type=int, default=8000, help="(default: %(default)s)")
    timed = commands.add_parser("measure", help="time a built folder in headless Chromium")
    timed.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="a built folder (default: %(default)s)")
    timed.add_argument("--runs", type=int, default=5, help="visits, and runs of each kernel (default: %(default)s)")
    timed.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    return whole


def serve(folder: Path, port: int) -> None:
    """Serve until Ctrl-C."""
    if not (folder / "playground.json").exists():
        raise InvalidInput(f"{folder} holds no playground: python -m tools.playground build {folder}")
    with make_server(folder, port) as server:
        print(f"http://127.0.0.1:{server.server_port}/ serves {folder}; end it with Ctrl-C", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def measure(folder: Path, runs: int, target: Path | None) -> None:
    """Time a folder, print a line for each time, and write the record if asked to."""
    if target is not None:
        check_target("--json", target)
    record = measured(folder, runs)
    print("\n".join(lines(record)))
    if target is not None:
        target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {target}")


def main(arguments: Sequence[str] | None = None) -> int:
    whole = parser()
    options = whole.parse_args(arguments)
    try:
        if options.command == "build":
            use_language(ENGLISH)  # that of the page, whatever the builder speaks
            build(options.out, options.numpy)
            size = sum(each.stat().st_size for each in options.out.rglob("*") if each.is_file())
            print(f"wrote {options.out}, {size / 1e6:.1f} MB")
        elif options.command == "serve":
            serve(options.folder, options.port)
        else:
            measure(options.folder, options.runs, options.json)
    except TilewrightError as error:
        whole.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
