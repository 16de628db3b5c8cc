"""The rungs as texts: `list` and `show`."""

import shlex
from difflib import unified_diff

from .. import kernels
from ..core.checked import checked_switch
from ..core.kernel import Ladder
from ..core.sizes import Size
from ..core.source import shown_path
from ..errors import InvalidInput
from ..kernels import LADDERS, Ladders, find_ladder


def list(name: str | Ladder | None = None) -> Ladders:
    """The ladders, or the one of that name. `print` shows each rung's name and what it changes.

    UnknownName if no ladder has that name.

    >>> print(str(list("transpose")).splitlines()[1])
      transpose/01_copy                A plain copy, coalesced on both sides: the speed that a transpose can reach.
    """
    if name is None:
        return LADDERS
    ladder = name if isinstance(name, Ladder) else find_ladder(name)
    return Ladders((ladder,))


def show(rung: str, diff: bool = False, *, program: bool = False, size: Size | None = None) -> str:
    """The OpenCL C source of a rung. With `diff`, the unified difference from the rung before it; of a kernel as it was
    published, from the rung that it is a variant of.

    With `program`, what a compiler gets: a whole program for each launch of a problem of `size` (256 x 256 x 64 or 256 x 256 if
    left out), with its macros, after a comment that says how it is launched. Any host program can build it.

    UnknownName if no rung has that name; InvalidInput for a file, the difference of a first rung, and a `size` without `program`;
    Unsupported for a size that the rung refuses.
    """
    diff, program = checked_switch("diff", diff), checked_switch("program", program)
    if isinstance(rung, str) and rung.lower().endswith(".cl"):
        raise InvalidInput(
            f"{rung} is a file, and `show` shows rungs: `tilewright explain {shlex.quote(rung)}` explains a file, "
            f"`tilewright run {shlex.quote(rung)}` measures it"
        )
    kernel = kernels.find_kernel(rung)
    if program:
        from ..analysis.programs import programs_of  # it needs NumPy, which printing a file does not

        return "\n".join(programs_of(kernel, size))
    if size is not None:
        raise InvalidInput(f"size {size}: only a program depends on the size; show the program, or leave the size out")
    if not diff:
        return kernel.text
    previous = kernels.rung_before(kernel)
    if previous is None:
        raise InvalidInput(f"{kernel.name} has no rung before it")
    if previous.source == kernel.source:
        return f"{kernel.name} is the file of {previous.name} with other settings: {kernel.config}, not {previous.config}\n"
    names = previous.source.name, kernel.source.name
    if names[0] == names[1]:  # a kernel as it was published has the file name of its rung
        names = shown_path(previous.source), shown_path(kernel.source)
    return "\n".join(unified_diff(previous.text.splitlines(), kernel.text.splitlines(), *names, lineterm="")) + "\n"
