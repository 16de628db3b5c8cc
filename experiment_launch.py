"""Experiment: what CUDA's launch attributes add to calls on PyTorch's tensors. Prints at most 40 lines; all figures go to a JSON file.

`PYTHONPATH=src:. python3 experiment_launch.py` needs PyTorch and a Hopper GPU. First several processes compile all programs; then chains
of dependent products are checked, and loops of products timed, the kinds of launches in turns. Kinds:

  T  torch.matmul(out=)         P, Q  cuLaunchKernel, as before (twice: their ratio is the noise)
  D  programmatic dependent launch, wait and trigger at the kernel's start
  M  the same, the wait where the kernel has its mark (TMA kernels: when their mbarriers are made)
  E  dependent, triggered by the kernel's end          A  dependent, triggered before the wait: many successors may wait
  X  cuLaunchKernelEx without attributes               C  cooperative          B  cooperative and dependent
  U  dependent without the wait: the control, whose chains must be wrong
  S  as P, but the last work-group of a tile adds up no partial tiles: wrong, and as fast as a fix-up of all work-groups could be

Measures: `loop`, wall time of asynchronous calls; `queue`, device time of calls that were enqueued behind a sleeping kernel, so that
the host's time does not count; `graph`, a CUDA graph of 20 calls.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from itertools import product as pairs
from math import exp, log
from pathlib import Path
from statistics import median

BEGUN = time.perf_counter()
CHILDREN = 14
ROUNDS, WARM_ROUNDS = 7, 1
GRAPH_CALLS = 20
STEPS = 60  # of a chain
FAST = ("float16", "float32", "float64")
SHORT = {"float16": "f16", "float32": "f32", "float64": "f64"}
# name: batch, m, n, k, A by columns
SIZES = {
    "16x16x4096": (1, 16, 16, 4096, 0), "128": (1, 128, 128, 128, 0), "256": (1, 256, 256, 256, 0), "512": (1, 512, 512, 512, 0),
    "1024": (1, 1024, 1024, 1024, 0), "64x4096x4096": (1, 64, 4096, 4096, 0), "256 of 128x128x64": (256, 128, 128, 64, 0),
    "4000 of 31": (4000, 31, 31, 31, 0), "1x4096x4096": (1, 1, 4096, 4096, 0), "1021": (1, 1021, 1021, 1021, 0),
    "16x16x65536": (1, 16, 16, 65536, 0), "4096x32x4096": (1, 4096, 32, 4096, 0), "136x128x128": (1, 136, 128, 128, 0),
    "128x128x20000": (1, 128, 128, 20000, 1), "768": (1, 768, 768, 768, 0),
}  # fmt: skip
MAIN = [(dtype, name) for dtype in FAST for name in list(SIZES)[:9]] + [("float16", "1021")]
MAIN_KINDS = "PQDM"
EXTRA = {("float16", "512"): "PXDMEAC", ("float16", "16x16x65536"): "PDMCB", ("float16", "4096x32x4096"): "PDMCB",
         ("float64", "128x128x20000"): "PSMCB", ("float64", "768"): "PSMCB"}  # fmt: skip
SEVERAL = [("float16", "1021"), ("float64", "16x16x65536")]  # of three launches, and of two
# Chains: batch, rows, side; the last one goes to 16 columns and back, by kernels that split k.
CHAINS = [(1, 128, 128), (1, 512, 512), (1, 1024, 1024), (1, 1, 4096), (1, 64, 2048), (256, 64, 64), (4000, 31, 31), (1, 509, 509),
          (1, 1021, 1021), (1, 16, 0)]  # fmt: skip
CONTROL = [("float32", (1, 512, 512)), ("float32", (4000, 31, 31)), ("float32", (1, 128, 128))]
HOWS = ("stream", "side", "graph", "mixed")

import torch  # noqa: E402

import tilewright  # noqa: E402
from tilewright.errors import TilewrightError  # noqa: E402
from tilewright.library.cuda_arrays import of_others  # noqa: E402
from tilewright.library.memory import cuda as cuda_memory_module  # noqa: E402
from tilewright.library.memory import cuda_ready  # noqa: E402
from tilewright.runtime.cuda.device import Device  # noqa: E402
from tilewright.runtime.cuda.launches import LaunchKind  # noqa: E402
from tilewright.runtime.cuda.opening import library_device  # noqa: E402

KINDS = {
    "P": LaunchKind(), "Q": LaunchKind(), "X": LaunchKind(extended=True), "D": LaunchKind("start"), "M": LaunchKind("marked"),
    "E": LaunchKind("end"), "A": LaunchKind("ahead"), "C": LaunchKind(cooperative=True), "B": LaunchKind("start", True),
    "U": LaunchKind("unsafe"), "S": LaunchKind(),
}  # fmt: skip
DEVICES: dict = {}


class DeviceWithoutSums(Device):
    """Partial tiles are stored, and not added up."""

    def build(self, source, *others):
        return super().build(re.sub(r"add_partials\([^;{}]*count\);", ";", source), *others)


def use(kind):
    """Calls of the library launch by this kind from here on."""
    if kind not in DEVICES:
        like = library_device(0)
        DEVICES[kind] = (DeviceWithoutSums if kind == "S" else Device)(like.info, like.compiler, KINDS[kind])
    for module in (cuda_ready, cuda_memory_module, of_others):
        module.library_device = lambda ordinal, device=DEVICES[kind]: device
    return DEVICES[kind]


def operands(dtype, name):
    batch, m, n, k, by_columns = SIZES[name]
    stack = (batch,) if batch > 1 else ()
    own = getattr(torch, dtype)
    a = torch.randn((*stack, *((k, m) if by_columns else (m, k))), device="cuda", dtype=torch.float32).to(own)
    b = torch.randn((*stack, k, n), device="cuda", dtype=torch.float32).to(own)
    return (a.mT if by_columns else a), b, torch.empty((*stack, m, n), device="cuda", dtype=own)


def caller(kind, a, b, out):
    """A function that makes one call by this kind."""
    if kind == "T":
        return lambda: torch.matmul(a, b, out=out)
    return lambda: tilewright.matmul(a, b, out)


def turn(kind):
    if kind != "T":
        use(kind)


# Chains -------------------------------------------------------------------------------------------------------------------


def stages_of(dtype, batch, rows, side):
    """The first matrix, and for each stage its right operand and which column each result column is. All results are exact."""
    own, stack = getattr(torch, dtype), (batch,) if batch > 1 else ()

    def gather(source, height):
        matrix = torch.zeros((height, len(source)), device="cuda", dtype=own)
        matrix[source, torch.arange(len(source), device="cuda")] = 1
        return matrix.expand(*stack, *matrix.shape).contiguous()

    if side:
        source = torch.randperm(side, device="cuda")
        stages = [(gather(source, side), source)]
    else:
        side = 4096
        down, back = torch.randperm(side, device="cuda")[:16], torch.randint(16, (side,), device="cuda")
        back[down] = torch.randperm(16, device="cuda")
        stages = [(gather(down, side), down), (gather(back, 16), back)]
    first = torch.randint(-8, 9, (*stack, rows, side), device="cuda").to(own)
    return first, stages


def run_chain(first, stages, targets, how):
    """STEPS products, each of the one before. Mixed: some by torch, some on another stream, some after a copy."""
    now, other = first, torch.cuda.Stream()
    for step in range(STEPS):
        right, _ = stages[step % len(stages)]
        out = targets[step % len(stages)][step // len(stages) % 2]
        if how == "mixed" and step % 3 == 1:
            torch.matmul(now, right, out=out)
        elif how == "mixed" and step % 7 == 3:
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                tilewright.matmul(now, right, out)
            torch.cuda.current_stream().wait_stream(other)
        else:
            tilewright.matmul(now, right, out)
        if how == "mixed" and step % 5 == 2:
            out.copy_(out.clone())
        now = out
    return now


def chain_is_right(dtype, sizes, how):
    first, stages = stages_of(dtype, *sizes)
    index = torch.arange(first.shape[-1], device="cuda")
    for step in range(STEPS):
        index = index[stages[step % len(stages)][1]]
    targets = [[first.new_empty((*first.shape[:-1], len(source))) for _ in range(2)] for _, source in stages]
    for each in targets:
        for one in each:
            one.fill_(float("nan"))
    torch.cuda.synchronize()
    if how == "graph":
        graph = torch.cuda.CUDAGraph()
        tilewright.matmul(first, stages[0][0], targets[0][0])
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            last = run_chain(first, stages, targets, how)
        right = True
        for _ in range(3):
            for each in targets:
                for one in each:
                    one.fill_(float("nan"))
            graph.replay()
            right &= torch.equal(last, first[..., index])
        return right
    if how == "side":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            last = run_chain(first, stages, targets, how)
        torch.cuda.current_stream().wait_stream(side)
    else:
        last = run_chain(first, stages, targets, how)
    return torch.equal(last, first[..., index])


def check_chains(kinds, failures):
    counts = {}
    for kind in kinds:
        use(kind)
        for dtype, sizes, how in pairs(FAST, CHAINS, HOWS if kind != "P" else HOWS[:1]):
            right = chain_is_right(dtype, sizes, how)
            counts.setdefault(kind, [0, 0])[0 if right else 1] += 1
            if not right:
                failures.append(f"{kind} {dtype} {sizes} {how}")
    return counts


# Times --------------------------------------------------------------------------------------------------------------------


def loop(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e6


def queued(call, count):
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(count * 40000 + 500000)
    before.record()
    for _ in range(count):
        call()
    after.record()
    torch.cuda.synchronize()
    return before.elapsed_time(after) / count * 1e3


def captured(call, calls=GRAPH_CALLS):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph


def measure(dtype, name, kinds, results):
    """Median microseconds of a call for each kind and measure."""
    given = operands(dtype, name)
    calls, graphs, errors = {}, {}, {}
    for kind in kinds:
        turn(kind)
        call = caller(kind, *given)
        try:
            for _ in range(3):
                call()
            torch.cuda.synchronize()
            graphs[kind] = captured(call)
            calls[kind] = call
        except (TilewrightError, RuntimeError) as error:
            errors[kind] = str(error).splitlines()[0][:200]
            torch.cuda.synchronize()
    some = next(iter(calls))
    turn(some)
    count = max(10, min(250, round(2500 / loop(calls[some], 20))))
    replays = max(1, round(count / GRAPH_CALLS))
    times = {(kind, how): [] for kind in calls for how in ("loop", "queue", "graph")}
    order = list(calls)
    for number in range(WARM_ROUNDS + ROUNDS):
        for kind in order if number % 2 else reversed(order):
            turn(kind)
            own = {
                "loop": loop(calls[kind], count), "queue": queued(calls[kind], count),
                "graph": loop(graphs[kind].replay, replays) / GRAPH_CALLS,
            }  # fmt: skip
            for how, us in own.items():
                if number >= WARM_ROUNDS:
                    times[kind, how].append(us)
    found = {how: {kind: round(median(times[kind, how]), 2) for kind in calls} for how in ("loop", "queue", "graph")}
    spread = {how: {kind: [round(min(v), 2), round(max(v), 2)] for kind, v in ((k, times[k, how]) for k in calls)} for how in found}
    results.append({"dtype": dtype, "product": name, "median": found, "spread": spread, "errors": errors})
    return found, errors


def host_times():
    """Microseconds of the host for a call, and for the bare launch, by kind: enqueued while the device sleeps."""
    given, found = operands("float16", "136x128x128"), {}  # of no other case: its ready call is the last one that was kept
    for _ in range(5):
        for kind in "TPXDM":
            turn(kind)
            call = caller(kind, *given)
            bare = None
            if kind != "T":
                call()
                ready = list(DEVICES[kind].per_thread.kept.ready.values())[-1]
                bare = ready._launches[0][0]
            for what, one in (("call", call), ("launch", bare)):
                if one is None:
                    continue
                torch.cuda.synchronize()
                torch.cuda._sleep(8000000)
                begin = time.perf_counter()
                for _ in range(300):
                    one()
                found.setdefault(f"{kind} {what}", []).append((time.perf_counter() - begin) / 300 * 1e6)
                torch.cuda.synchronize()
    return {what: round(median(values), 2) for what, values in found.items()}


def one_call_graphs(dtype, name):
    """Loops of one product of several launches, and of graphs that hold one."""
    given, found = operands(dtype, name), {}
    calls = {}
    for kind in "PM":
        use(kind)
        call = caller(kind, *given)
        call()
        calls[f"{kind} call"], calls[f"{kind} graph"] = (kind, call), (kind, captured(call, 1).replay)
    calls["T call"] = ("T", caller("T", *given))
    for _ in range(7):
        for what, (kind, call) in calls.items():
            turn(kind)
            found.setdefault(what, []).append(loop(call, 200))
    return {what: round(median(values), 2) for what, values in found.items()}


# Programs -----------------------------------------------------------------------------------------------------------------


def run_share(share):
    """Make every so many-th program of all kinds: afterwards they are on disk."""
    place, of = map(int, share.split("/"))
    wanted = {}
    for dtype, name in (*MAIN, *EXTRA, *SEVERAL):
        kinds = MAIN_KINDS.replace("Q", "") + EXTRA.get((dtype, name), "")
        wanted.setdefault(("product", dtype, name), set()).update(set(kinds))
    for dtype, sizes in pairs(FAST, CHAINS):
        wanted["chain", dtype, sizes] = set("PDM" + ("U" if (dtype, sizes) in CONTROL else ""))
    for (what, dtype, own), kinds in list(wanted.items())[place::of]:
        for kind in sorted(kinds):
            use(kind)
            try:
                if what == "product":
                    tilewright.matmul(*operands(dtype, own))
                else:
                    first, stages = stages_of(dtype, *own)
                    for right, _ in stages:
                        first = tilewright.matmul(first, right)
                torch.cuda.synchronize()
            except TilewrightError as error:
                print(f"{kind} {dtype} {own}: {error}", file=sys.stderr)


def make_programs():
    own = [sys.executable, os.path.abspath(__file__), "--share"]
    children = [subprocess.Popen([*own, f"{place}/{CHILDREN}"]) for place in range(CHILDREN)]
    codes = []
    for child in children:
        try:
            codes.append(child.wait(max(1.0, 80 - (time.perf_counter() - BEGUN))))
        except subprocess.TimeoutExpired:
            child.kill()
            codes.append("killed")
    return codes


# Work-groups that wait for each other -------------------------------------------------------------------------------------


def contend(kind):
    """Two streams of different priority with kernels whose work-groups wait for each other, and a third one with long kernels."""
    use(kind)
    streams = [torch.cuda.Stream(priority=0), torch.cuda.Stream(priority=-5), torch.cuda.Stream(priority=0)]
    given = [operands("float16", "16x16x65536") for _ in streams]
    big = torch.randn(3000, 3000, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(300):
        for stream, (a, b, out) in zip(streams[:2], given, strict=False):
            with torch.cuda.stream(stream):
                for _ in range(5):
                    tilewright.matmul(a, b, out)
        with torch.cuda.stream(streams[2]):
            torch.mm(big[:257], big)
    torch.cuda.synchronize()
    print(f"{kind}: ended after {time.perf_counter() - begin:.2f} s", flush=True)


def check_contention():
    for kind in "PDCB":
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--contend", kind])
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            child.kill()
            print(f"{kind}: hangs (ended by force after 30 s)", flush=True)


# Report -------------------------------------------------------------------------------------------------------------------


def mean(values):
    values = list(values)
    return exp(sum(map(log, values)) / len(values)) if values else float("nan")


def figures(found, kinds):
    return "".join(f"{found[kind]:8.2f}" if kind in found else "     err" for kind in kinds)


def summary(dtype, results):
    own = [each["median"] for each in results if each["dtype"] == dtype]
    words = []
    for how in ("loop", "queue", "graph"):
        ratios = {pair: mean(each[how][pair[0]] / each[how][pair[1]] for each in own if set(pair) <= set(each[how]))
                  for pair in ("PQ", "PD", "PM", "TP", "TD", "TM")}  # fmt: skip
        words.append(how + "".join(f" {a}/{b} {ratio:.3f}" for (a, b), ratio in ratios.items()))
    return f"{SHORT[dtype]} means: " + " | ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share")
    parser.add_argument("--contend")
    parser.add_argument("--contention", action="store_true", help="only: do kernels whose work-groups wait for each other hang?")
    parser.add_argument("--seconds", type=float, default=115, help="no new product is begun after so many")
    parser.add_argument("--no-children", action="store_true")
    options = parser.parse_args()
    if options.share or options.contend or options.contention:
        {"share": lambda: run_share(options.share), "contend": lambda: contend(options.contend)}.get(
            "share" if options.share else "contend" if options.contend else "", check_contention
        )()
        return
    codes = [] if options.no_children else make_programs()
    made = time.perf_counter() - BEGUN
    failures, results = [], []
    counts = check_chains("PDM", failures)
    checked = time.perf_counter() - BEGUN
    print(f"programs {made:.0f} s (children {sorted(set(map(str, codes)))}), chains until {checked:.0f} s: right, wrong {counts} {failures[:4]}", flush=True)
    heads = "".join(f"{how + ' ' + kind:>8}" for how in ("loop", "que", "gra") for kind in "TPDM")
    print(f"{'us a call':22}{heads}", flush=True)
    for dtype, name in MAIN:
        if time.perf_counter() - BEGUN > options.seconds:
            print(f"{SHORT[dtype]} {name}: no time left")
            continue
        found, errors = measure(dtype, name, "T" + MAIN_KINDS, results)
        print(f"{SHORT[dtype]} {name:18}" + "".join(figures(found[how], "TPDM") for how in found) + f" {errors or ''}", flush=True)
    for dtype in FAST:
        print(summary(dtype, results), flush=True)
    extra = []
    for (dtype, name), kinds in EXTRA.items():
        if time.perf_counter() - BEGUN < options.seconds + 10:
            found, errors = measure(dtype, name, "T" + kinds, extra)
            words = " | ".join(f"{how} " + " ".join(f"{k} {us}" for k, us in found[how].items()) for how in ("queue", "graph"))
            print(f"{SHORT[dtype]} {name}: {words} {errors or ''}", flush=True)
    host = host_times()
    several = {f"{SHORT[dtype]} {name}": one_call_graphs(dtype, name) for dtype, name in SEVERAL}
    print(f"host us: {host}; loops of several launches: {several}", flush=True)
    use("U")
    wrong = [chain_is_right(dtype, sizes, how) for (dtype, sizes), how in pairs(CONTROL, ("stream", "side", "graph"))].count(False)
    print(f"control without the wait: {wrong} of {3 * len(CONTROL)} chains wrong (must be > 0); {time.perf_counter() - BEGUN:.0f} s in all")
    record = {"counts": counts, "failures": failures, "main": results, "extra": extra, "host": host, "several": several,
              "control_wrong": wrong, "torch": torch.__version__}  # fmt: skip
    record["compiler"] = library_device(0).compiler.version
    (Path(os.environ.get("OUT", ".")) / "launch.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # without taking down what the control may have left


if __name__ == "__main__":
    main()
