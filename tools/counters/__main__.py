"""The command line of the comparison; see the package's docstring."""

import argparse
import datetime
import json
import pickle
import shutil
from pathlib import Path

from .cases import all_cases
from .counterparts import build
from .device import read_report, run
from .page import page
from .record import edited, located, make_record, merged, save, stale, uncounted

ROOT = Path(__file__).parents[2]
RECORD, PAGE = ROOT / "benchmarks" / "h200-counters.json", ROOT / "benchmarks" / "counters.md"
SPECIAL_RECORD = ROOT / "benchmarks" / "h200-special-counters.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.counters")
    parser.add_argument("action", choices=("build", "run", "read", "compare", "page"))
    parser.add_argument("folder", type=Path, nargs="?", help="for all but page")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm") or "nvdisasm")
    parser.add_argument("--compiler", default="nvcc 13.0", help="for the record")
    parser.add_argument("--profiler", default="Nsight Compute 2025.3", help="for the record")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="for the record")
    parser.add_argument(
        "--stale", action="store_true", help="build: only what the record lacks or has of an older text"
    )
    options = parser.parse_args()
    if options.action == "page":
        write_page()
        return
    if options.folder is None:
        parser.error(f"{options.action} needs a FOLDER")
    folder: Path = options.folder
    kept = folder / "cases.pickle"  # what was compiled is what is run and predicted, whatever the tree holds by then
    if options.action == "build":
        cases = stale(all_cases(), json.loads(RECORD.read_text())) if options.stale else all_cases()
        build(folder, cases, options.nvdisasm)
        kept.write_bytes(pickle.dumps(cases))
    elif options.action == "run":
        for name, verdict in run(folder, pickle.loads(kept.read_bytes())).items():
            print(f"{verdict:20} {name}")
    elif options.action == "read":
        counters = read_report(folder / "counters.ncu-rep")
        (folder / "counters.json").write_text(json.dumps(counters))
        print(f"{len(counters)} launches")
    else:
        cases = pickle.loads(kept.read_bytes())
        record = make_record(folder, cases, options.compiler, options.profiler, options.date)
        names = [case.name for case in all_cases()]
        if {case.name for case in cases} != set(names):
            record = merged(json.loads(RECORD.read_text()), record, names)
        save(record, RECORD)
        write_page()


def write_page() -> None:
    record = json.loads(RECORD.read_text())
    cases = all_cases()
    special = json.loads(SPECIAL_RECORD.read_text())
    PAGE.write_text(page(located(cases, record), special, edited(cases, record)), encoding="utf-8")
    if new := uncounted(cases, record):
        print(f"not counted yet: {'; '.join(new)}")


main()
