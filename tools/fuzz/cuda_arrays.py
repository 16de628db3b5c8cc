"""The arrays of a case as CUDA arrays: views with offsets and strides into larger allocations of CuPy's and PyTorch's.

A block belongs to one framework: that of the first array in it. `Case.queue` says on which streams a call runs: 0, on the default
ones; 1, on a current stream of each framework that is not, where the operands arrive late, and where alone the result is waited
for; 2 and 3, on a stream that `queue=` names, as an object or as CUDA's number.
"""

from contextlib import ExitStack
from typing import Any

import numpy as np
import pyopencl.array

from .bench import Bench
from .cases import Case
from .cuda_frameworks import TYPES, Torch
from .memory import Block, Geometry
from .operands import Laid
from .types import plain_name

CURRENT, BY_OBJECT, BY_NUMBER = 1, 2, 3
USUAL = "cupy"


def framework_name(case: Case, form: str) -> str:
    """Whose array a form is: its own name, or that of `a` for "plain" ones."""
    if form in TYPES:
        return form
    return case.a.form if case.a.form in TYPES else USUAL


class CudaArrays:
    """The arrays of a case on a GPU, and what their memory holds afterwards."""

    def __init__(self, case: Case, laid: dict[str, Laid], bench: Bench) -> None:
        self._case, self._laid, self._bench = case, laid, bench
        self._wholes: dict[int, tuple[str, Any]] = {}
        self._streams = ExitStack()
        self.kind = framework_name(case, case.a.form)
        names = {framework_name(case, each.given.form) for each in laid.values()} | {self.kind}
        frameworks = [bench.frameworks[name] for name in sorted(names)]
        if case.queue == CURRENT:
            for framework in frameworks:
                self._streams.enter_context(framework.on(framework.side()))
        self._staged: list[tuple[str, Any, Any]] = []
        self.arrays: dict[str, Any] = {name: self._passed(name, each) for name, each in laid.items()}
        if case.queue == CURRENT:
            for framework in frameworks:
                framework.late()
        for name, staged, whole in self._staged:
            bench.frameworks[name].land(staged, whole)
        if case.queue in (BY_OBJECT, BY_NUMBER):
            bench.frameworks.finish()  # whoever names another stream sees to the order himself

    def _passed(self, name: str, laid: Laid) -> Any:
        fault = self._case.fault
        if name == "b" and fault == "numpy beside cuda":
            return laid.view
        if name == "b" and fault == "opencl beside cuda":
            return pyopencl.array.to_device(self._bench.queues[0], np.ascontiguousarray(laid.view))
        if name == "b" and fault == "host tensor beside cuda":
            torch = self._bench.frameworks["torch"]
            assert isinstance(torch, Torch)
            return torch.on_the_host(laid.view)
        owner, whole = self._whole(laid)
        made = self._bench.frameworks[owner].view(whole, laid.place, laid.block.origin + laid.begin - laid.place.low)
        if (fault, name) in (("requires grad", "a"), ("out requires grad", "out")):
            made.requires_grad_(True)
        return made

    def _whole(self, laid: Laid) -> tuple[str, Any]:
        """The block's bytes on the GPU, and whose they are."""
        key = id(laid.block)
        if key not in self._wholes:
            name = framework_name(self._case, laid.given.form)
            staged, whole = self._bench.frameworks[name].staged(laid.block.before)
            self._staged.append((name, staged, whole))
            self._wholes[key] = name, whole
        return self._wholes[key]

    def keywords(self) -> dict[str, Any]:
        """What the call is given about its stream."""
        if self._case.queue not in (BY_OBJECT, BY_NUMBER):
            return {}
        framework = self._bench.frameworks[self.kind]
        stream = framework.side()
        return {"queue": stream if self._case.queue == BY_OBJECT else framework.handle(stream)}

    def now(self, block: Block) -> np.ndarray:
        """What the block's memory holds; the block itself if an operand was passed from the host."""
        if id(block) not in self._wholes:
            return block.data
        name, whole = self._wholes[id(block)]
        return self._bench.frameworks[name].fetched(whole)

    def fetched(self, result: Any, out: Any) -> np.ndarray | str:
        """The result as an array, or what is wrong with it. Nothing but the current stream is waited for, unless the call ran on
        another one."""
        if self.keywords():
            self._bench.frameworks.finish()
        if out is None:
            framework = self._bench.frameworks[self.kind]
            if not framework.holds(result):
                return f"a {type(result).__module__}.{type(result).__name__} came back for arrays of {self.kind}"
            return framework.fetched(result)
        where = self._case.out.where.removeprefix("is ")
        laid = self._laid[where if self._case.out.where.startswith("is ") else "out"]
        return laid.place.view(self.now(laid.block), laid.block.origin + laid.begin)

    def sent(self, array: np.ndarray) -> Any:
        """Another array for a call at this place, of the same kind."""
        kind = self.kind if plain_name(array.dtype) in TYPES[self.kind] else "torch"
        array = array if array.flags.forc else np.ascontiguousarray(array)
        framework = self._bench.frameworks[kind]
        staged, whole = framework.staged(array.reshape(-1, order="A").view(np.uint8))
        framework.land(staged, whole)
        return framework.view(whole, Geometry(array.shape, array.dtype, array.strides, 0, array.nbytes), 0)

    def left(self) -> str:
        return ""

    def close(self) -> None:
        """Leave the streams, and let go of the memory, once nothing uses it."""
        self._streams.close()
        self._bench.frameworks.finish()
        self.arrays.clear()
        self._wholes.clear()
        self._staged.clear()
