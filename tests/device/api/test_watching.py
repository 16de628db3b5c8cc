"""PyOpenCL programs watched: their results stay the same, their launches are seen with their own arguments."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from pyopencl.elementwise import ElementwiseKernel

import tilewright
from tilewright.analysis.captured.explained import explain_captured
from tilewright.cli.main import main
from tilewright.core.captured import CapturedLaunch
from tilewright.core.images import ImageValue, SamplerValue
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.interception import Interception
from tilewright.runtime.opencl.launch_values import PendingLaunch

pytestmark = pytest.mark.filterwarnings("ignore")  # PyOpenCL's cache of binaries warns of what compilers say

SOURCE = """
typedef struct { float scale; int shift; } change;
__kernel void scaled(__global const float *x, __global float *y, const change c) {
    int i = get_global_id(0);
    y[i] = c.scale * x[i] + c.shift + ADDED;
}
__kernel void rotated(__global float *x, __local float *t, int n) {
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    BARRIER
    x[get_global_id(0)] = t[(l + 1) % n];
}
__kernel void gathered(__global const float *x, __global const int *at, __global float *y) {
    int i = get_global_id(0);
    y[i * 2] = x[at[i]];
}
"""
CHANGE = np.dtype([("scale", np.float32), ("shift", np.int32)])


@pytest.fixture
def queue(device: Device) -> Any:
    return cl.CommandQueue(device.context)


def built(queue: Any, barrier: str = "barrier(CLK_LOCAL_MEM_FENCE);") -> Any:
    return cl.Program(queue.context, SOURCE.replace("BARRIER", barrier)).build(options=["-DADDED=4"])


def buffer_of(queue: Any, array: np.ndarray, flags: int = cl.mem_flags.READ_WRITE) -> Any:
    return cl.Buffer(queue.context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)


def read(queue: Any, buffer: Any, count: int) -> np.ndarray:
    out = np.empty(count, np.float32)
    cl.enqueue_copy(queue, out, buffer)
    return out


def test_structs_macros_and_results(queue: Any) -> None:
    x = np.arange(100, dtype=np.float32)
    change = np.zeros((), CHANGE)
    change["scale"], change["shift"] = 2, 3
    with tilewright.watching() as found:
        program = built(queue)
        source, target = buffer_of(queue, x), cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, x.nbytes)
        program.scaled(queue, x.shape, (10,), source, target, change)
        result = read(queue, target, 100)
    np.testing.assert_array_equal(result, 2 * x + 7)
    (row,) = found.launches
    assert (row.entry, row.ndrange, row.launches, row.reason) == ("scaled", "100 by 10", 1, "")
    assert row.explanation is not None
    assert row.explanation.macros["ADDED"] == "4"
    assert row.faults == 0
    assert row.useful_bytes == 800


@pytest.mark.parametrize(("barrier", "race"), [("barrier(CLK_LOCAL_MEM_FENCE);", False), ("", True)])
def test_a_race_is_found_by_every_way_to_launch(queue: Any, barrier: str, race: bool) -> None:
    x = np.arange(64, dtype=np.float32)
    with tilewright.watching() as found:
        kernel = built(queue, barrier).rotated
        first, second = buffer_of(queue, x), buffer_of(queue, x)
        kernel.set_arg(0, first)
        kernel.set_arg(1, cl.LocalMemory(128))
        kernel.set_arg(2, np.int32(32))
        cl.enqueue_nd_range_kernel(queue, kernel, (2,), (32,), g_times_l=True)
        kernel.set_args(second, cl.LocalMemory(64), np.int32(16))
        cl.enqueue_nd_range_kernel(queue, kernel, (64,), (16,))
        kernel.set_scalar_arg_dtypes([None, None, np.int32])
        kernel(queue, (64,), (8,), buffer_of(queue, x), cl.LocalMemory(32), 8)
        queue.finish()
    assert sorted(each.ndrange for each in found.launches) == ["64 by 16", "64 by 32", "64 by 8"]
    assert [each.reason for each in found.launches] == ["", "", ""]
    assert all(each.has("race") is race for each in found.launches)
    assert bool(found.failures(["race", "bounds"])) is race


def test_launches_that_pyopencl_refuses_are_none(queue: Any) -> None:
    x = np.arange(64, dtype=np.float32)
    with tilewright.watching() as found:
        kernel, target = built(queue).rotated, buffer_of(queue, x)
        kernel.set_args(target, cl.LocalMemory(1 << 40), np.int32(32))
        with pytest.raises(cl.Error):
            cl.enqueue_nd_range_kernel(queue, kernel, (64,), (32,))
        kernel.set_args(target, cl.LocalMemory(128), np.int32(32))
        with pytest.raises(cl.Error):
            cl.enqueue_nd_range_kernel(queue, kernel, (64,), (48,))
        cl.enqueue_nd_range_kernel(queue, kernel, (64,), (32,))
        queue.finish()
    assert [(each.ndrange, each.launches) for each in found.launches] == [("64 by 32", 1)]


def test_contents_decide_what_is_found(queue: Any) -> None:
    """Indices come from a buffer: the fault is in the data alone. Contents are those before the launch, written by another."""
    x, at = np.zeros(64, np.float32), np.arange(32, dtype=np.int32)
    at[7] = 64
    with tilewright.watching() as found:
        target = cl.Buffer(queue.context, cl.mem_flags.WRITE_ONLY, 256)
        built(queue).gathered(queue, (32,), (32,), buffer_of(queue, x), buffer_of(queue, at), target)
        queue.finish()
    (row,) = found.launches
    assert row.has("bounds")
    assert "y with a stride of 8 bytes" in str(found)


def test_the_binary_cache_does_not_hide_the_source(queue: Any) -> None:
    for _ in range(2):
        with tilewright.watching() as found:
            change = np.ones((), CHANGE)
            x = buffer_of(queue, np.ones(32, np.float32))
            built(queue).scaled(queue, (32,), (32,), x, buffer_of(queue, np.ones(32, np.float32)), change)
        assert [each.reason for each in found.launches] == [""]


def test_sub_buffers_hidden_buffers_and_read_only_ones(queue: Any) -> None:
    flags = cl.mem_flags
    source = "__kernel void one(__global float *x) { x[get_global_id(0)] = 1; }"
    with tilewright.watching() as found:
        kernel = cl.Program(queue.context, source).build().one
        hidden = cl.Buffer(queue.context, flags.READ_WRITE | flags.HOST_NO_ACCESS, 128)
        kernel(queue, (32,), (32,), hidden)
        whole = cl.Buffer(queue.context, flags.READ_WRITE, 1 << 16)
        kernel(queue, (64,), (32,), whole.get_sub_region(1 << 15, 128))
        queue.finish()
    rows = {each.ndrange: each for each in found.launches}
    assert rows["32 by 32"].faults == 0
    assert rows["64 by 32"].has("bounds")  # within the buffer, and beyond the sub-buffer


PICTURES = """__kernel void pictures(read_only image2d_t a, sampler_t how, read_only image2d_array_t b, read_only image3d_t c,
                                     write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 texel = read_imagef(a, how, (float2)(at.x * 0.125f, at.y * 0.25f));
    write_imagef(out, at, texel + read_imageui(b, (int4)(at, 2, 0)).y + read_imagei(c, (int4)(at, 1, 0)).z);
}"""


def test_texels_and_samplers_are_those_of_the_program(queue: Any) -> None:
    if not queue.device.image_support:
        pytest.skip("no images here")
    generator, context, channels = np.random.default_rng(7), queue.context, cl.channel_type
    texels = [
        generator.integers(0, 100, (*shape, 4)).astype(dtype)
        for shape, dtype in (((4, 8), "u1"), ((3, 4, 8), "u2"), ((2, 4, 8), "i4"))
    ]
    formats = ("UNORM_INT8", "UNSIGNED_INT16", "SIGNED_INT32")
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    images = [
        cl.create_image(
            context, flags, cl.ImageFormat(cl.channel_order.RGBA, getattr(channels, kind)), array.shape[-2::-1],
            hostbuf=array, is_array=kind == "UNSIGNED_INT16",
        )
        for array, kind in zip(texels, formats, strict=True)
    ]  # fmt: skip
    sampler = cl.Sampler(context, True, cl.addressing_mode.REPEAT, cl.filter_mode.LINEAR)
    written = cl.ImageFormat(cl.channel_order.RGBA, channels.FLOAT)
    out = cl.create_image(context, cl.mem_flags.WRITE_ONLY, written, (8, 4))
    seen: list[CapturedLaunch] = []

    @contextmanager
    def on_launch(pending: PendingLaunch) -> Iterator[None]:
        seen.append(pending.capture(5.0))
        yield

    with Interception(on_launch):
        program = cl.Program(context, PICTURES).build()
        program.pictures(queue, (8, 4), None, images[0], sampler, *images[1:], out)
    (launch,) = seen
    first, how, second, third, last = launch.values
    assert how == SamplerValue(True, "repeat", True)
    for value, array, kind in zip((first, second, third), texels, formats, strict=True):
        assert isinstance(value, ImageValue)
        assert (value.order, value.type, value.sides) == ("RGBA", kind, array.shape[-2::-1])
        np.testing.assert_array_equal(value.data, array.reshape(-1).view(np.uint8))
    assert isinstance(last, ImageValue)
    assert explain_captured(launch, seconds=5).explanation.faults == ()


def test_elementwise_kernels_and_arrays(queue: Any) -> None:
    with tilewright.watching() as found:
        x = pyopencl.array.arange(queue, 1000, dtype=np.float32)
        y = 2 * x
        combine = ElementwiseKernel(
            queue.context, "float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]", "combine"
        )
        z = pyopencl.array.empty_like(x)
        combine(3, x, y, z)
        result = z.get()
    np.testing.assert_array_equal(result, 5 * np.arange(1000, dtype=np.float32))
    assert "combine" in {each.entry for each in found.launches}
    assert all(each.explanation is not None for each in found.launches)
    assert sum(each.faults for each in found.launches) == 0


def test_reductions_and_scans(queue: Any) -> None:
    pytest.importorskip("mako")
    from pyopencl.scan import InclusiveScanKernel

    with tilewright.watching() as found:
        x = pyopencl.array.to_device(queue, np.arange(500, dtype=np.int32))
        total = int(pyopencl.array.sum(x).get())
        InclusiveScanKernel(queue.context, np.int32, "a+b", neutral="0")(x)
        last = int(x.get()[-1])
    assert total == last == 500 * 499 // 2
    entries = {each.entry for each in found.launches if each.explanation is not None}
    assert entries >= {"scan_lev1", "reduce_kernel_stage1"}, [each.reason for each in found.launches]


def test_threads_with_queues_of_their_own(queue: Any) -> None:
    results: dict[int, np.ndarray] = {}

    def work(number: int, program: Any) -> None:
        own = cl.CommandQueue(queue.context)
        kernel, change = cl.Kernel(program, "scaled"), np.ones((), CHANGE)
        x = buffer_of(own, np.full(64, number, np.float32))
        for _ in range(10):
            kernel(own, (64,), (64,), x, x, change)
        results[number] = read(own, x, 64)

    with tilewright.watching() as found:
        program = built(queue)
        threads = [threading.Thread(target=work, args=(number, program)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all((results[number] == number + 50).all() for number in range(4))
    assert sum(each.launches for each in found.launches) == 40


def test_buffers_are_freed_as_before(queue: Any) -> None:
    """A launch whose buffer is gone has a reason; nothing is kept alive by us."""
    with tilewright.watching() as found:
        kernel = cl.Program(queue.context, "__kernel void one(__global float *x) { x[0] = 1; }").build().one
        buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 64)
        kernel(queue, (1,), (1,), buffer)
        queue.finish()
        before = buffer.get_info(cl.mem_info.REFERENCE_COUNT)
    assert before == 1
    assert found.launches[0].reason == ""


def test_nothing_stays_replaced(queue: Any) -> None:
    before = cl.enqueue_nd_range_kernel, cl.Kernel, cl.Kernel.set_arg
    with tilewright.watching():
        assert cl.enqueue_nd_range_kernel is not before[0]
    assert (cl.enqueue_nd_range_kernel, cl.Kernel, cl.Kernel.set_arg) == before


PROGRAM = """
import sys
import numpy as np
import pyopencl as cl
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
source = "__kernel void beyond(__global float *x, int n) { int i = get_global_id(0); if (i <= n) x[i] += 1; }"
x = np.zeros(63, np.float32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
room = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
kernel = cl.Program(context, source).build().beyond
for _ in range(3):
    kernel(queue, (64,), (64,), buffer, np.int32(int(sys.argv[1])))
cl.enqueue_copy(queue, x, buffer)
print(sys.argv[1:], x.sum())
sys.exit(int(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("arguments", "own", "status"), [(["60", "0"], 0, 0), (["62", "5"], 5, 5), (["62", "0"], 0, 0), (["63", "0"], 0, 1)]
)
def test_the_command_keeps_output_and_status(tmp_path: Path, arguments: list[str], own: int, status: int) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    plain = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    command = [
        "-m",
        "tilewright",
        "watch",
        "--fail-on",
        "bounds",
        "--html",
        str(tmp_path / "pages"),
        str(script),
        *arguments,
    ]
    ours = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    if "get_platforms" in plain.stderr:
        pytest.skip("the loader finds no driver by itself")
    assert (plain.returncode, ours.returncode) == (own, status), ours.stderr
    assert plain.stdout == ours.stdout
    assert "beyond" in ours.stderr
    assert ("out of bounds at line 1" in ours.stderr) is (arguments[0] == "63")
    assert (tmp_path / "pages" / "index.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a program"),
        (["none.py"], "there is no script none.py"),
        (["--json", "-", "x.py"], "standard output belongs to the program"),
        (["--fail-on", "rain", "x.py"], "'rain' is none of race"),
        (["-m"], "-m needs a module"),
        (["--"], "name a program"),
    ],
)
def test_misuse_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "x.py").write_text("")
    given = [str(tmp_path / each) if each == "x.py" else each for each in arguments]
    try:
        status = main(["watch", *given])
    except SystemExit as error:
        status = int(error.code or 0)
    assert status == 2
    assert words in capsys.readouterr().err
