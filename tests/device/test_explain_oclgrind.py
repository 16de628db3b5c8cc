"""`explain` against Oclgrind, an independent interpreter: the same values, and faults in the same kernels.

Oclgrind runs in a child process, since it puts itself in the place of the OpenCL loader. Skipped where it is missing.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source

pytestmark = pytest.mark.skipif(shutil.which("oclgrind") is None, reason="oclgrind is not installed")

CHILD = """
import json, sys
import numpy as np
import pyopencl as cl
task = json.loads(sys.stdin.read())
platform = next(each for each in cl.get_platforms() if "Oclgrind" in each.name)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
kernel = cl.Program(context, task["source"]).build().k
a, o = (np.array(task[name], np.int32) for name in ("a", "o"))
buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=each) for each in (o, a)]
kernel(queue, (64,), (32,), *buffers, np.int32(7))
cl.enqueue_copy(queue, o, buffers[0])
queue.finish()
print(json.dumps(o.tolist()))
"""
HEAD = (
    "__kernel void k(__global int* o, __global int* a, int n) {"
    "__local int t[64]; int l = get_local_id(0), g = get_global_id(0);\n"
)
WAIT = "barrier(CLK_LOCAL_MEM_FENCE);"

# A body, and a word of what Oclgrind says about it ("" for a right kernel).
BODIES = {
    "right reduction": (
        f"t[l] = a[g]; {WAIT} for (int s = 16; s; s >>= 1) {{ if (l < s) t[l] += t[l + s]; {WAIT} }} o[g] = t[0];",
        "",
    ),
    "right rotation": (f"t[l] = a[g] * 3; {WAIT} o[g] = t[(l + 5) % 32] + n;", ""),
    "right loop": ("int s = 0; for (int i = 0; i < l; i++) { if (i == 4) continue; s += a[i] * i; } o[g] = s;", ""),
    "right private array": ("int p[8]; for (int i = 0; i < 8; i++) p[i] = a[i] + g; o[g] = p[l & 7] - p[n];", ""),
    "missing barrier": ("t[l] = g;\no[g] = t[31 - l];", "data race"),
    "missing second barrier": (f"for (int i = 0; i < 3; i++) {{ t[l] = i; {WAIT} o[g] += t[(l + 1) % 32]; }}", "data race"),
    "race between groups": ("o[l] = g;", "data race"),
    "out of bounds": ("o[g] = a[g + 65];", "Invalid read"),
    "out of bounds local": (f"t[l + 33] = a[g];\n{WAIT} o[g] = t[40];", "Invalid write"),
    "unset local": (f"if (n == 8) t[l] = a[g];\n{WAIT} o[g] = t[l];", "Uninitialized"),
    "divergent barrier": (f"if (l < 16)\n{WAIT}\no[g] = 1;", "divergence"),
}  # fmt: skip


def run_oclgrind(body: str, arrays: dict[str, np.ndarray], folder: Path) -> tuple[list[int] | None, str]:
    """The buffer `o` after a run (None if the run ended early), and what Oclgrind said."""
    script = folder / "child.py"
    script.write_text(CHILD)
    task = json.dumps({"source": HEAD + body + "}", **{name: array.tolist() for name, array in arrays.items()}})
    command = ["oclgrind", "--data-races", "--uninitialized", "--max-errors", "2000", sys.executable, str(script)]
    done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=60, check=False)
    lines = done.stdout.strip().splitlines()
    return (json.loads(lines[-1]) if done.returncode == 0 and lines else None), done.stderr


@pytest.mark.parametrize("name", BODIES)
def test_oclgrind_agrees(name: str, tmp_path: Path) -> None:
    body, word = BODIES[name]
    arrays = {"a": np.arange(64, dtype=np.int32) * 7 - 100, "o": np.zeros(64, np.int32)}
    found = explain_source(
        HEAD + body + "}", global_size=(64,), local_size=(32,), arguments={**arrays, "n": 7}, groups="all"
    )
    values, said = run_oclgrind(body, arrays, tmp_path)
    if word:
        assert word.lower() in said.lower()
        assert found.faults
    else:
        assert said.strip() == ""
        assert found.findings == ()
        assert values == found.outputs["o"].tolist()
