"""Oclgrind, another interpreter of OpenCL C, finds the same faults in kernels in the styles of samples and benchmark suites."""

import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from foreign import FAULTS, KERNELS, NEEDS, launches

from tilewright.analysis.explain import LocalMemory
from tilewright.core.source import parse_signature

pytestmark = pytest.mark.skipif(shutil.which("oclgrind") is None, reason="oclgrind is not installed")

CHILD = """
import pickle, sys
import numpy as np
import pyopencl as cl
task = pickle.loads(open(sys.argv[1], "rb").read())
platform = next(each for each in cl.get_platforms() if "Oclgrind" in each.name)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
program = cl.Program(context, task["source"]).build([f"-D{name}={value}" for name, value in task["macros"].items()])
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
arguments = [
    cl.LocalMemory(given) if isinstance(given, int) else
    cl.Buffer(context, flags, hostbuf=given) if isinstance(given, np.ndarray) and given.ndim else given
    for given in task["arguments"]
]
cl.Kernel(program, task["entry"])(queue, task["global_size"], task["local_size"], *arguments)
queue.finish()
print("ended")
"""
WORDS = {
    "race": "data race",
    "bounds": "invalid (read|write)",
    "uninitialised": "uninitialized",
    "divergent": "divergence",
}
RIGHT = sorted(name for name in KERNELS if name not in FAULTS and name not in NEEDS)[::6]


def said_by_oclgrind(name: str, folder: Path) -> str:
    """What Oclgrind says of a kernel, in lower-case letters. Skips the test where it cannot run the kernel."""
    (launch,) = launches(name)
    given = [
        launch.arguments[each.name] for each in parse_signature(launch.source, launch.name, launch.entry).parameters
    ]
    task = {
        "source": launch.source, "entry": launch.entry, "macros": dict(launch.macros),
        "global_size": launch.global_size, "local_size": launch.local_size,
        "arguments": [each.size if isinstance(each, LocalMemory) else each for each in given],
    }  # fmt: skip
    (folder / "task").write_bytes(pickle.dumps(task))
    (folder / "child.py").write_text(CHILD)
    command = ["oclgrind", "--data-races", "--uninitialized", "--max-errors", "50", sys.executable, "child.py", "task"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.stdout.strip() != "ended" and not any(re.search(word, done.stderr.lower()) for word in WORDS.values()):
        pytest.skip(f"Oclgrind cannot run it: {done.stderr.strip().splitlines()[-1:]}")
    return done.stderr.lower()


@pytest.mark.parametrize("name", sorted(set(FAULTS) - set(NEEDS)))
def test_it_finds_the_marked_faults(name: str, tmp_path: Path) -> None:
    said = said_by_oclgrind(name, tmp_path)
    assert any(re.search(WORDS[fault], said) for fault in FAULTS[name]), said[:500]


@pytest.mark.parametrize("name", RIGHT)
def test_it_finds_nothing_in_right_kernels(name: str, tmp_path: Path) -> None:
    said = said_by_oclgrind(name, tmp_path)
    assert not re.search(f"{WORDS['race']}|{WORDS['bounds']}", said)
