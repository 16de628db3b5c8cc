"""Finds which instructions beyond OpenCL C a device runs. Each is tried in a child process, and the answers are kept on disk.

The compute capability and the driver's compiler and assembler decide the answers. Trials take four seconds, so a GPU of a
capability and a branch of the driver in PROVEN is not tried.

`python -m tilewright.runtime.opencl.instructions --platform NAME --device INDEX PROBE...` is the child. A fault
poisons its context, so the child ends there. The next child continues with the remaining probes.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.device import DeviceInfo
from ...core.includes import with_includes
from ...core.kernel import KERNELS
from ...core.tensor_map import TensorMap
from ...errors import Unsupported
from ..cache import BinaryCache, cache_folder, content_key
from ..children import run_child, tell
from .retarget import retarget
from .smoke import PROBES, find_device

if TYPE_CHECKING:
    import pyopencl

FEATURES = ("nvidia", "mma", "mma_f64", "mma_f64_chain", "mma_f64_m8", "ldmatrix", "cp_async", "tma", "wgmma")
# Shared memory of an SM that one work-group can have in compute capabilities 9.0, 8.0, 8.6 and 7.5, the largest first.
STATIC_LOCAL = (227 * 1024, 163 * 1024, 99 * 1024, 64 * 1024)
STATIC = "static_local:"
TARGETS = {"wgmma": "sm_90a"}
ITEMS = {"wgmma": 128}
NUMBERS = np.arange(64 * 32, dtype=np.uint32)
MAP = TensorMap("int32", (32, 64), (128,), (16, 8))
TIME_LIMIT_S = 60.0
WORKS = "works"
# Compute capabilities and driver branches under which every probe worked: on an H100 and an H200. tests/gpu runs the probes
# on such a GPU and compares.
PROVEN = frozenset({((9, 0), "580")})

Answers = dict[str, str]


def with_instructions(info: DeviceInfo) -> DeviceInfo:
    """`info` with the features and the static local memory that trials have shown. Only NVIDIA's devices are tried."""
    if "nvidia" not in info.features:
        return info
    answers = answers_for(info)
    proven = {feature for feature in FEATURES if answers.get(feature) == WORKS}
    local = [size for size in STATIC_LOCAL if answers.get(static_local(size)) == WORKS]
    features = (info.features - {"nvidia"}) | proven
    return replace(info, features=features, static_local_bytes=max(local, default=0))


def answers_for(info: DeviceInfo) -> Answers:
    """For each probe "works" or what happened instead: as PROVEN says, from the cache on disk, or from child processes."""
    if (info.compute_capability, info.driver.partition(".")[0]) in PROVEN:
        return dict.fromkeys(every_probe(), WORKS)
    cache = BinaryCache(cache_folder() / "instructions")
    sources = sorted(path.read_text() for path in (*PROBES.glob("*.cl"), *(KERNELS / "prelude").glob("*.cl")))
    key = content_key(info.name, info.platform, info.version, info.driver, *sources)
    kept = cache.get(key)
    if kept is not None:
        return dict(json.loads(kept))
    answers, lasting = try_in_children(info)
    if lasting:
        cache.put(key, json.dumps(answers).encode())
    return answers


def static_local(size: int) -> str:
    """The probe of a static local array of that many bytes, by name."""
    return f"{STATIC}{size}"


def every_probe() -> list[str]:
    """The names of all probes, those of static local memory from the largest down."""
    return [*FEATURES, *(static_local(size) for size in STATIC_LOCAL)]


def try_in_children(info: DeviceInfo) -> tuple[Answers, bool]:
    """Each probe's answer, and whether the answers can be kept: a child that was killed or timed out proves nothing."""
    left = every_probe()
    answers: Answers = {}
    lasting = True
    while left:
        own = ["--platform", info.platform, "--version", info.version, "--device", str(info.place)]
        child = run_child([sys.executable, "-m", "tilewright.runtime.opencl.instructions", *own, *left], TIME_LIMIT_S)
        stages = child.stages()
        answers |= {name: str(stage["answer"]) for name, stage in stages.items()}
        left = [name for name in left if name not in stages]
        if left and child.ending:
            answers[left.pop(0)] = child.ending
            lasting = lasting and child.faulted
        elif left:
            raise Unsupported(f"the child that tries instructions ended without an answer for {', '.join(left)}")
    return answers, lasting


def main(arguments: Sequence[str] | None = None) -> None:
    """The child's entry."""
    parser = argparse.ArgumentParser(description="Try instructions on an OpenCL device; a JSON line for each answer.")
    parser.add_argument("--platform", required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("probes", nargs="+")
    options = parser.parse_args(arguments)
    device = find_device(options.platform, options.version, options.device)
    for name, answer in _try_all(device, options.probes):
        tell(name, answer=answer)


def _try_all(device: "pyopencl.Device", names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each probe's answer, until one poisons the context."""
    import pyopencl as cl

    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    roomy = False
    for name in names:
        if roomy and name.startswith(STATIC):
            yield name, WORKS  # the sizes come from the largest: what has room for that has room for less
            continue
        try:
            kernel = _build(context, device, name)
        except (cl.Error, Unsupported) as refusal:
            yield name, f"refused: {_telling_line(str(refusal))}"
            continue
        try:
            answer = _run(context, queue, kernel, name)
        except cl.Error as fault:
            yield name, f"failed: {str(fault).splitlines()[0]}"
            return
        roomy = roomy or (name.startswith(STATIC) and answer == WORKS)
        yield name, answer


def _telling_line(text: str) -> str:
    """The compiler's first error in a log, or the first line."""
    lines = text.strip().splitlines() or ["no reason given"]
    return next((line.strip() for line in lines if "error:" in line), lines[0])


def probe_text(name: str) -> str:
    """The whole text of a probe, such as "tma" or "static_local:65536"."""
    stem, _, size = name.partition(":")
    path = PROBES / f"{stem}.cl"
    defines = f"#define LOCAL_BYTES {size}\n" if size else ""
    return defines + with_includes(path.read_text(), path, {})


def _build(context: Any, device: Any, name: str) -> Any:
    import pyopencl as cl

    stem = name.partition(":")[0]
    program = cl.Program(context, probe_text(name)).build(cache_dir=False)
    if stem in TARGETS:
        ptx = program.binaries[0].rstrip(b"\0").decode()
        program = cl.Program(context, [device], [retarget(ptx, TARGETS[stem]).encode()]).build()
    return cl.Kernel(program, "probe")


def _run(context: Any, queue: Any, kernel: Any, name: str) -> str:
    import pyopencl as cl

    from ..tensor_maps import encode

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    try:
        encoded = encode(MAP) if name == "tma" else bytes(128)
    except Unsupported as refusal:
        return f"refused: {refusal}"
    answer, items = np.zeros(2, np.int32), ITEMS.get(name, 32)
    contents = (np.frombuffer(encoded, np.uint8).copy(), NUMBERS, answer)
    buffers = [cl.Buffer(context, flags, hostbuf=each) for each in contents]
    kernel(queue, (items,), (items,), *buffers)
    cl.enqueue_copy(queue, answer, buffers[2])
    wrong, reached = (int(each) for each in answer)
    return WORKS if (wrong, reached) == (0, items) else f"wrong: {wrong} of {items} work-items, {reached} answered"


if __name__ == "__main__":
    main()
