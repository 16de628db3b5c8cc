"""Launches of other programs: their arguments by type, the watcher's budgets, and its report."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.captured import watcher as watching
from tilewright.analysis.captured.arguments import arguments_of
from tilewright.analysis.captured.explained import explain_captured
from tilewright.analysis.captured.pages import save_pages
from tilewright.analysis.captured.watch_report import bytes_of, report
from tilewright.analysis.captured.watcher import Watcher
from tilewright.analysis.explain import LocalMemory, PrintedExplanation
from tilewright.analysis.explain.clc import parse_program
from tilewright.analysis.marked_lines import plain_text
from tilewright.core.build_options import read_options
from tilewright.core.captured import (
    BufferValue,
    CapturedKernel,
    CapturedLaunch,
    LocalValue,
    NullValue,
    RawValue,
    UnreadValue,
    Value,
)
from tilewright.core.images import ImageValue, SamplerValue
from tilewright.core.watch_limits import Limits
from tilewright.errors import InvalidInput

TWICE = "__kernel void twice(__global float *x, float k) { int i = get_global_id(0); x[i] = k * x[i]; }"
BEYOND = "__kernel void beyond(__global float *x) { x[4 * get_global_id(0)] = 1; }"
ENDLESS = "__kernel void endless(__global int *x) { while (x[0] == 0) x[1] += 1; }"
KERNEL = CapturedKernel("twice", TWICE, "")


def buffer(array: np.ndarray, memory: int = 1, writable: bool = True) -> BufferValue:
    return BufferValue(np.ascontiguousarray(array).view(np.uint8).reshape(-1), memory, writable)


def raw(value: object, dtype: str) -> RawValue:
    return RawValue(np.array(value, dtype).tobytes())


@dataclass(frozen=True)
class Launch:
    """A launch without a device."""

    kernel: CapturedKernel = KERNEL
    global_size: tuple[int, ...] = (64,)
    local_size: tuple[int, ...] | None = (32,)
    offset: tuple[int, ...] = (0,)
    values: tuple[Value, ...] = (buffer(np.arange(64, dtype=np.float32)), raw(2, "f4"))
    trouble: type[Exception] | None = None

    def capture(self, patience: float) -> CapturedLaunch:
        if self.trouble is not None:
            raise self.trouble("as asked for")
        return CapturedLaunch(self.kernel, self.global_size, self.local_size, self.offset, self.values)


@pytest.mark.parametrize(
    ("text", "macros", "include"),
    [
        ("", {}, ()),
        ("-DA -D B=4 -DC= -I dir -Iother -cl-mad-enable", {"A": "1", "B": "4", "C": ""}, ("dir", "other")),
        ("-DA=1 -UA -D 'F=a b'", {"F": "a b"}, ()),
        ("-cl-std=CL2.0 -cl-fast-relaxed-math", {"__FAST_RELAXED_MATH__": "1"}, ()),
        ("-DT=it's -w", {"T": "it's"}, ()),
    ],
)
def test_build_options_are_read(text: str, macros: dict[str, str], include: tuple[str, ...]) -> None:
    found = read_options(text)
    assert (found.macros, found.include) == (macros, include)
    assert found.standard == ("CL2.0" if "CL2.0" in text else None)


def test_the_version_of_the_language_is_obeyed() -> None:
    source = "__kernel void f(__global int *x) { x[__OPENCL_C_VERSION__ >= 200 ? 9 : 0] = 1; }"
    for options, faults in (("", 0), ("-cl-std=CL2.0", 1)):
        launch = CapturedLaunch(
            CapturedKernel("f", source, options), (1,), (1,), (0,), (buffer(np.zeros(4, np.int32)),)
        )
        assert len(explain_captured(launch, seconds=5).explanation.faults) == faults


def test_bytes_become_what_the_signature_says() -> None:
    source = """typedef struct { float a; int b; } pair;
    __kernel void all(__global int *x, __constant ushort4 *c, __local float *t, float3 v, long n, pair p, __global pair *q) {}"""
    function = parse_program(source).functions["all"]
    numbers = np.arange(5, dtype=np.int32)
    pair = np.array([(1.5, 7)], [("a", "f4"), ("b", "i4")])
    found = arguments_of(
        function,
        (
            buffer(np.append(numbers, np.int32(9)).view(np.uint8)[:22], 1), buffer(np.arange(8, dtype=np.uint16), 2, False),
            LocalValue(64), raw([1, 2, 3, 0], "f4"), raw(-5, "i8"), RawValue(pair.tobytes()), buffer(pair, 3),
        ),
    )  # fmt: skip
    np.testing.assert_array_equal(found["x"], numbers)
    assert found["c"].dtype == np.uint16  # type: ignore[union-attr]
    assert not found["c"].flags.writeable  # type: ignore[union-attr]
    assert found["t"] == LocalMemory(64)
    assert list(found["v"]) == [1, 2, 3]  # type: ignore[arg-type]
    assert found["n"] == -5
    assert found["p"].tobytes() == pair.tobytes() == found["q"].tobytes()  # type: ignore[union-attr]


def test_parameters_of_one_buffer_share_an_array() -> None:
    function = parse_program("__kernel void f(__global float *x, __global float *y, __global float *z) {}").functions[
        "f"
    ]
    shared = np.zeros(4, np.float32)
    found = arguments_of(function, (buffer(shared, 5), buffer(shared, 5), buffer(shared.copy(), 6)))
    assert np.shares_memory(found["x"], found["y"])
    assert not np.shares_memory(found["x"], found["z"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((UnreadValue("is an image, which is not read back"), raw(2, "f4")), "argument 'x' is an image"),
        ((buffer(np.zeros(1)), raw(2, "f8")), "'k' is a float of 4 bytes, but 8 were given"),
        ((raw(2, "i8"), raw(2, "f4")), "'x' is a pointer, and 8 bytes were given"),
        ((buffer(np.zeros(1)), buffer(np.zeros(1))), "'k' is a float, but a buffer was given"),
        ((buffer(np.zeros(1)),), "2 parameters, but 1 arguments"),
    ],
)
def test_what_cannot_be_given_is_named(values: tuple[Value, ...], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        explain_captured(CapturedLaunch(KERNEL, (64,), (32,), (0,), values), seconds=1)


@pytest.mark.parametrize(
    ("size", "attribute", "chosen"),
    [((1024,), "", (256,)), ((7,), "", (7,)), ((64, 64), "", (16, 16)), ((257, 2), "", (1, 2)),
     ((64, 8), "__attribute__((reqd_work_group_size(16, 4, 1)))", (16, 4))],
)  # fmt: skip
def test_a_local_size_is_chosen(size: tuple[int, ...], attribute: str, chosen: tuple[int, ...]) -> None:
    kernel = CapturedKernel("k", f"{attribute} __kernel void k(int n) {{}}", "")
    found = explain_captured(CapturedLaunch(kernel, size, None, (0,) * len(size), (raw(1, "i4"),)), seconds=1)
    assert found.explanation.local_size == chosen
    assert found.notes == (
        f"the program leaves the work-group to the driver; counted with {'x'.join(map(str, chosen))} work-items",
    )


SUMS = """__kernel void k(__global float *x, __global const uint *y, __global int *none)
{
    size_t i = get_global_id(0);
    x[i] = none == 0 ? as_float(y[i] + (uint)get_local_size(0)) : 0;
}"""


@pytest.mark.parametrize(
    ("size", "offset", "options", "faults"),
    [((32,), (32,), "", 0), ((32,), (33,), "", 2), ((48,), (0,), "-cl-std=CL2.0", 0)],
)
def test_offsets_ragged_groups_and_one_buffer_of_two_types(
    size: tuple[int, ...], offset: tuple[int, ...], options: str, faults: int
) -> None:
    data = np.arange(64, dtype=np.uint32)
    values = (buffer(data), buffer(data.copy()), NullValue())
    launch = CapturedLaunch(CapturedKernel("k", SUMS, options), size, (32,), offset, values)
    found = explain_captured(launch, seconds=1).explanation
    assert len(found.faults) == faults
    assert {each.buffer for each in found.accesses} == {"x=y"}


def test_each_ndrange_is_explained_once_and_counted_always() -> None:
    watcher = Watcher()
    for _ in range(3):
        watcher.seen(Launch())
    watcher.seen(Launch(global_size=(32,)))
    rows = {each.global_size: each for each in watcher.launches()}
    assert {size: row.launches for size, row in rows.items()} == {(64,): 3, (32,): 1}
    first = rows[(64,)]
    assert first.explanation is not None
    assert (first.sample, first.reason, first.faults) == (1, "", 0)
    assert (first.useful_bytes, first.moved_bytes) == (512, 512)
    assert first.explanation.outputs == {}


def test_a_launch_that_is_refused_is_none() -> None:
    watcher = Watcher(Limits(samples=1))
    for _ in range(2):
        with pytest.raises(ValueError, match="a work-group too large"), watcher.enqueueing(Launch()):
            raise ValueError("a work-group too large")
        assert watcher.launches() == ()
    watcher.seen(Launch(global_size=(32,)))
    with pytest.raises(KeyboardInterrupt), watcher.enqueueing(Launch(global_size=(32,))):
        raise KeyboardInterrupt
    (row,) = watcher.launches()
    assert (row.launches, row.sample, row.reason) == (1, 1, "")


def test_what_is_not_explained_has_a_reason() -> None:
    watcher = Watcher(Limits(samples=6))
    watcher.seen(Launch(kernel=CapturedKernel("twice", None, "", "its source is not known")))
    watcher.seen(Launch(global_size=(63,)))
    watcher.seen(Launch(global_size=(0,)))
    watcher.seen(Launch(global_size=(32,), trouble=ValueError))
    watcher.seen(Launch(kernel=CapturedKernel("twice", "__kernel void twice(", "")))
    reasons = " | ".join(sorted(each.reason for each in watcher.launches()))
    for words in (
        "source is not known",
        "63",
        "NDRange is empty",
        "ValueError: as asked",
        "twice.cl:1",
    ):
        assert words in reasons
    text = plain_text(report(watcher.launches(), "demo.py"))
    assert text.count("not explained:") == 6  # the rows and the heading
    assert all(each.reason in text for each in watcher.launches())


def test_budgets_end_explaining() -> None:
    watcher = Watcher(Limits(seconds=1e-6))
    watcher.seen(Launch())
    assert "time for explaining was used up" in watcher.launches()[0].reason
    watcher = Watcher(Limits(samples=1))
    for size in (32, 64):
        watcher.seen(Launch(global_size=(size,)))
    assert "1 launches of twice were explained" in {each.global_size: each for each in watcher.launches()}[(64,)].reason


def test_a_launch_that_does_not_end_is_stopped() -> None:
    watcher = Watcher(Limits(launch_seconds=0.1))
    endless = CapturedKernel("endless", ENDLESS, "")
    watcher.seen(Launch(endless, (1,), (1,), values=(buffer(np.zeros(2, np.int32)),)))
    row = watcher.launches()[0]
    assert row.explanation is not None
    assert row.explanation.stop is not None
    assert row.seconds < 5
    assert row.verdict.startswith("stopped at line 1")


def test_threads_are_counted_together() -> None:
    watcher = Watcher()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: watcher.seen(Launch()), range(200)))
    (row,) = watcher.launches()
    assert row.launches == 200
    assert row.explanation is not None


@pytest.mark.parametrize("while_explained", [True, False])
def test_a_destructor_may_enqueue_a_launch_meanwhile(while_explained: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector runs it wherever memory is allocated. Both launches are explained, and their time counts once."""
    watcher, inner = Watcher(), [Launch(global_size=(32,))]
    name = "explain_captured" if while_explained else "replace"
    disturbed: Callable[..., Any] = getattr(watching, name)

    def collect(*given: Any, **named: Any) -> Any:
        if inner:
            watcher.seen(inner.pop())
        return disturbed(*given, **named)

    monkeypatch.setattr(watching, name, collect)
    begin = monotonic()
    caller = Thread(target=watcher.seen, args=(Launch(),), daemon=True)
    caller.start()
    caller.join(30)
    assert not caller.is_alive()
    rows = watcher.launches()
    assert {(row.global_size, row.launches, row.reason, row.useful_bytes) for row in rows} == {
        ((32,), 1, "", 256),
        ((64,), 1, "", 512),
    }
    assert watcher._spent <= monotonic() - begin


@pytest.mark.parametrize(("word", "expected"), [("bounds", True), ("faults", True), ("race", False), ("conflicts", False),
                                                ("unexplained", False)])  # fmt: skip
def test_conditions_know_their_faults(word: str, expected: bool) -> None:
    watcher = Watcher()
    watcher.seen(Launch(CapturedKernel("beyond", BEYOND, ""), values=(buffer(np.zeros(64, np.float32)),)))
    assert watcher.launches()[0].has(word) is expected


def test_the_worst_is_first_and_has_details(tmp_path: Path) -> None:
    watcher = Watcher()
    watcher.seen(Launch())
    watcher.seen(Launch(CapturedKernel("beyond", BEYOND, ""), values=(buffer(np.zeros(64, np.float32)),)))
    rows = watcher.launches()
    text = plain_text(report(rows, "demo.py"))
    assert [each.entry for each in rows] == ["beyond", "twice"]
    assert text.startswith("demo.py: 2 launches of 2 kernels; explained in ")
    assert "\nbeyond.cl: beyond, 64 by 32 work-items" in text
    assert "\ntwice.cl" not in text
    written = save_pages(rows, "demo & <co>", tmp_path / "pages")
    assert [each.name for each in written] == ["index.html", "01-beyond.html", "02-twice.html"]
    index = written[0].read_text()
    assert "demo &amp; &lt;co&gt;" in index
    assert '<a href="01-beyond.html">beyond</a>' in index


def test_a_program_without_launches_is_told() -> None:
    assert "no kernel was launched" in plain_text(report((), "demo.py"))


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (4_194_304, "4.19 MB")])
def test_bytes_have_units(count: int, text: str) -> None:
    assert bytes_of(count) == text


def test_images_and_samplers_are_given_to_their_parameters() -> None:
    source = (
        "kernel void k(read_only image2d_t a, sampler_t s, global float *y) { *y = read_imagef(a, s, (int2)(2, 1)).x; }"
    )
    image = ImageValue(np.arange(24, dtype=np.uint8), "RGBA", "UNORM_INT8", (3, 2))
    sampler, y = SamplerValue(False, "clamp", False), buffer(np.zeros(1, np.float32))

    def explained(*values: Value) -> PrintedExplanation:
        return explain_captured(
            CapturedLaunch(CapturedKernel("k", source, ""), (1,), (1,), (0,), values), seconds=1
        ).explanation

    (access,) = (each for each in explained(image, sampler, y).accesses if each.is_image)
    assert (access.buffer, access.useful_bytes) == ("a", 4)
    for values, words in (
        ((replace(image, order="sRGBA"), sampler, y), "sRGBA UNORM_INT8 is not interpreted"),
        ((replace(image, sides=(4, 2)), sampler, y), "4x2 texels of RGBA UNORM_INT8: 24 bytes"),
        ((y, sampler, y), "'a' is a image2d_t, but a buffer was given"),
        ((image, raw(1, "u4"), y), "'s' is of type sampler_t"),
        ((image, image, y), "'s' is of type sampler_t"),
        ((image, sampler, image), "'y' is of type global float"),
    ):
        with pytest.raises(InvalidInput, match=words):
            explained(*values)
