"""The command line; see the package's docstring."""

import argparse
import datetime
import json
from pathlib import Path

from .page import page

ROOT = Path(__file__).parents[2]
RECORD, PAGE = ROOT / "benchmarks" / "h200-predictions.json", ROOT / "benchmarks" / "predictions.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.predictions")
    parser.add_argument("action", choices=("build", "compare", "page"))
    parser.add_argument("folder", type=Path, nargs="?", help="for all but page")
    parser.add_argument("--on", default="h200", help="the table of the device that was measured (default: %(default)s)")
    parser.add_argument("--device", default="NVIDIA H200, driver 580.159.04", help="for the record")
    parser.add_argument("--compiler", default="NVRTC 13.5", help="for the record")
    parser.add_argument("--profiler", default="Nsight Compute 2025.3", help="for the record")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="for the record")
    options = parser.parse_args()
    if options.action != "page" and options.folder is None:
        parser.error(f"{options.action} needs a FOLDER")
    if options.action == "build":
        from .build import build

        build(options.folder)
        return
    if options.action == "compare":
        from .compare import compare, record

        environment = {"device": options.device, "compiler": options.compiler, "profiler": options.profiler}
        found = record(compare(options.folder, options.on), options.folder, options.date, environment)
        RECORD.with_name(f"{options.on}-predictions.json").write_text(
            json.dumps(found, indent=1) + "\n", encoding="utf-8"
        )
    PAGE.write_text(page(json.loads(RECORD.read_text(encoding="utf-8"))), encoding="utf-8")


main()
