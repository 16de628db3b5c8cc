"""The page of predicted and measured times, from the record alone."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from tilewright.analysis.predict.answer import SPREAD
from tilewright.analysis.predict.launch import STEPS

Row = dict[str, Any]
FIRST_SPREAD = 1.3  # the factor of the range until the record was made
KINDS = {
    "fitted": "rungs that the constants were fitted on",
    "tested": "other rungs",
    "foreign": "foreign-style kernels",
}
MOST_MEAN, MOST_WORST, LEAST_TAU, CLOSE = 1.25, 2.0, 0.9, 0.1


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    rows: list[Row] = record["rows"]
    machine = record["environment"]
    return "\n".join(
        (
            "# What `predict` says, and what a GPU does",
            "",
            f"{len(rows)} launches, timed on an {machine['device']}, as machine code of {machine['compiler']}, "
            f"and counted by {machine['profiler']}. The same machine code was predicted. Recorded on {record['date']} in "
            "`benchmarks/h200-predictions.json`, by `python -m tools.predictions`.",
            "",
            "The constants of the model were fitted on the odd rungs of `rows`, `tiles` and `transpose`. The even rungs and the "
            "foreign-style kernels were not used for that. The form of the model, which terms there are and how they combine, "
            "was chosen by someone who saw all of these figures, so that kernels of yours may be further off.",
            "",
            *times(rows),
            "",
            *widened(rows),
            "",
            *orders(rows),
            "",
            *counts(rows),
            "",
            *missing(rows),
            "",
            "## Each kernel",
            "",
            *table(rows),
            "",
        )
    )


def factor(rows: Sequence[Row]) -> tuple[float, float]:
    """The geometric mean of the error factors, and the worst."""
    errors = [abs(math.log(each["seconds"] / each["measured"])) for each in rows]
    return math.exp(sum(errors) / len(errors)), math.exp(max(errors))


def reached(yes: bool) -> str:
    return "reached" if yes else "**not reached**"


def times(rows: Sequence[Row]) -> list[str]:
    lines = [
        "## Times",
        "",
        f"The aim is a geometric mean of the error factors of at most {MOST_MEAN}, and none above {MOST_WORST:g}.",
        "",
        "| kernels | launches | mean factor | worst factor | in the predicted range | aim |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for kind, title in KINDS.items():
        own = [each for each in rows if each["kind"] == kind]
        mean, worst = factor(own)
        inside = sum(each["low"] <= each["measured"] <= each["high"] for each in own)
        good = reached(mean <= MOST_MEAN and worst <= MOST_WORST)
        lines.append(f"| {title} | {len(own)} | {mean:.2f} | {worst:.2f} | {inside} of {len(own)} | {good} |")
    return lines


def widened(rows: Sequence[Row]) -> list[str]:
    """How the factor of the range came about, and what the first one would have held."""
    held = []
    for kind, title in KINDS.items():
        own = [each for each in rows if each["kind"] == kind]
        inside = sum(abs(math.log(each["measured"] / each["seconds"])) <= math.log(first_spread(each)) for each in own)
        held.append(f"{inside} of {len(own)} {title}")
    return [
        f"The factor of the printed range was widened once, from {FIRST_SPREAD:g} to {SPREAD:g}, in the change that recorded "
        "these figures, those of kernels that were not fitted on among them. So the column of the range is no independent test. "
        f"The first factor would have held {', '.join(held)}."
    ]


def first_spread(row: Row) -> float:
    """The factor that a row's range had before: its own, less what was added for all."""
    return float(row["high"] / row["seconds"]) * FIRST_SPREAD / SPREAD


def kendall(pairs: Sequence[tuple[float, float]]) -> float:
    """Kendall's tau: pairs in the same order less those in the other, over all."""
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(pairs, 2)]
    return sum((each > 0) - (each < 0) for each in signs) / len(signs)


def orders(rows: Sequence[Row]) -> list[str]:
    lines = [
        "## Order of the rungs",
        "",
        f"Kendall's tau is 1 for the right order. The aim is {LEAST_TAU}. "
        "Rungs that differ by less than the model's error change places.",
        "",
        "| ladder | rungs | tau | aim |",
        "| --- | ---: | ---: | --- |",
    ]
    ladders: dict[str, list[tuple[float, float]]] = {}
    for each in rows:
        if each["kind"] != "foreign":
            rung, size = each["name"].rsplit(" ", 1)
            ladders.setdefault(f"{rung.split('/')[0]}, {size}", []).append((each["seconds"], each["measured"]))
    for name, pairs in ladders.items():
        tau = kendall(pairs)
        lines.append(f"| {name} | {len(pairs)} | {tau:.2f} | {reached(tau >= LEAST_TAU)} |")
    return lines


def near(predicted: float, counted: float, least: float) -> bool:
    """Within 10%, or both negligible."""
    return abs(predicted - counted) <= max(CLOSE * counted, least)


def counts(rows: Sequence[Row]) -> list[str]:
    """How many launches have each count within 10% of the counter's; hit rates within 10 points."""
    tests: tuple[tuple[str, Callable[[Row], bool]], ...] = (
        ("instructions of warps", lambda row: close(row, "instructions", 0)),
        ("L1 hit rate, within 10 points", lambda row: points(row, "l1_hit_rate")),
        ("sectors that L2 is asked for", lambda row: close(row, "l2_sectors", 0)),
        ("L2 hit rate, within 10 points", lambda row: points(row, "l2_hit_rate")),
        ("bytes read from memory", lambda row: close(row, "dram_read", 1e6)),
        ("bytes written to memory", lambda row: close(row, "dram_written", 5e6)),
    )
    lines = [
        "## Counts, with caches empty at the beginning",
        "",
        "Within 10% of the counter, or both below 1 MB (5 MB where written). The aim is every launch.",
        "",
        "| count | rungs | foreign-style kernels | aim |",
        "| --- | ---: | ---: | --- |",
    ]
    for title, test in tests:
        own = [[test(each) for each in rows if (each["kind"] == "foreign") == foreign] for foreign in (False, True)]
        cells = " | ".join(f"{sum(each)} of {len(each)}" for each in own)
        lines.append(f"| {title} | {cells} | {reached(all(map(all, own)))} |")
    return lines


def close(row: Row, name: str, least: float) -> bool:
    return near(row["predicted_counts"][name], row["counts"][name], least)


def points(row: Row, name: str) -> bool:
    return bool(abs(row["predicted_counts"][name] - row["counts"][name]) <= CLOSE)


def missing(rows: Sequence[Row]) -> list[str]:
    far = sorted(rows, key=lambda each: -abs(math.log(each["seconds"] / each["measured"])))[:6]
    names = ", ".join(f"`{each['name']}` ({each['seconds'] / each['measured']:.2f})" for each in far)
    return [
        "## What is not reached, and what was not tried",
        "",
        f"Furthest off, as predicted over measured: {names}.",
        "",
        "- Stores of parts of sectors in long strides, and barriers after few instructions, take longer than predicted.",
        "- Work-items that walk their own rows hit L1 at other rates than predicted: real warps drift apart, and those of the "
        "interpreter run in lockstep.",
        "- L2 is asked for fewer sectors than L1 lacks where several multiprocessors read the same lines at the same time. The "
        "model has nothing that merges their requests.",
        "- The slow paths of `sin` and `cos` are counted as if they were run.",
        f"- `rows/04` to `rows/09` are not here: at these sizes one of their work-items goes through more than the {STEPS:,} "
        "loop iterations that the interpreter runs, and `predict` refuses them.",
        "- No other device was at hand. The tables of the H100, A100, RTX 4090 and MI300X hold datasheets' and published "
        "figures. No prediction for them was tested. To test constants fitted on an H200 on an H100, measure the folder that "
        "`build` writes there, and run `compare FOLDER --on h100`.",
    ]


def table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "L1 and L2 are hit rates, predicted / counted.",
        "",
        "| kernel | | predicted us | range | measured us | factor | limited by, then | L1 | L2 | MB read |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for each in rows:
        predicted, counted = each["predicted_counts"], each["counts"]
        rates = " | ".join(f"{predicted[name]:.2f} / {counted[name]:.2f}" for name in ("l1_hit_rate", "l2_hit_rate"))
        read = f"{predicted['dram_read'] / 1e6:.1f} / {counted['dram_read'] / 1e6:.1f}"
        span = f"{1e6 * each['low']:.1f} - {1e6 * each['high']:.1f}"
        lines.append(
            f"| {each['name']} | {each['kind']} | {1e6 * each['seconds']:.1f} | {span} | {1e6 * each['measured']:.1f} | "
            f"{each['seconds'] / each['measured']:.2f} | {each['limiter']}, {each['runner_up']} | {rates} | {read} |"
        )
    return lines
