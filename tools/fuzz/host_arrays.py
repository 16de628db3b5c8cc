"""The arrays of a case in the host's memory, and in files that are mapped into it."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .cases import Case
from .memory import Block
from .operands import Laid, passed

IN_FILE = "file"  # the form of arrays that are views of a file's bytes


class HostArrays:
    """What is passed for each array. Blocks that hold an array of the form "file" lie in files of their own."""

    def __init__(self, case: Case, laid: dict[str, Laid]) -> None:
        self._laid = laid
        self._folder: TemporaryDirectory[str] | None = None
        self._files: dict[int, np.memmap] = {}
        for each in laid.values():
            if each.given.form == IN_FILE and id(each.block) not in self._files:
                self._files[id(each.block)] = self._mapped(each.block)
        self.arrays: dict[str, Any] = {name: self._passed(each) for name, each in laid.items()}

    def _mapped(self, block: Block) -> np.memmap:
        if self._folder is None:
            self._folder = TemporaryDirectory("tilewright-fuzz")
        path = Path(self._folder.name) / f"{len(self._files)}.bin"
        path.write_bytes(block.before.tobytes())
        return np.memmap(path, np.uint8, "r+")

    def _passed(self, laid: Laid) -> Any:
        mapped = self._files.get(id(laid.block))
        return passed(laid) if mapped is None else laid.place.view(mapped, laid.block.origin + laid.begin)

    def now(self, block: Block) -> np.ndarray:
        """What the block holds."""
        mapped = self._files.get(id(block))
        return block.data if mapped is None else np.array(mapped)

    def fetched(self, result: Any, out: Any) -> np.ndarray | str:
        """The result as an array, or what is wrong with it."""
        array = np.asarray(result)
        memories = [*(each.block.data for each in self._laid.values()), *self._files.values()]
        if out is None and any(np.may_share_memory(array, each) for each in memories):
            return "the result shares memory with an operand"
        return array

    def sent(self, array: np.ndarray) -> np.ndarray:
        """Another array for a call at this place."""
        return array

    def left(self) -> str:
        """What the call has left where nothing should be; "" if it left nothing."""
        if self._folder is None:
            return ""
        own = {f"{number}.bin" for number in range(len(self._files))}
        others = sorted(path.name for path in Path(self._folder.name).iterdir() if path.name not in own)
        return f"the call left {', '.join(others)} beside its files" if others else ""

    def close(self) -> None:
        """Forget the arrays, and remove the files."""
        self.arrays.clear()
        self._files.clear()
        if self._folder is not None:
            self._folder.cleanup()
