"""The rungs as texts: `list` and `show`."""

from difflib import unified_diff

from .. import kernels
from ..core.kernel import Ladder
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


def show(rung: str, diff: bool = False) -> str:
    """The OpenCL C source of a rung. With `diff`, the unified difference from the rung before it.

    UnknownName if no rung has that name; InvalidInput for the difference of a first rung.
    """
    kernel = kernels.find_kernel(rung)
    if not diff:
        return kernel.text
    previous = kernels.rung_before(kernel)
    if previous is None:
        raise InvalidInput(f"{kernel.name} has no rung before it")
    names = previous.source.name, kernel.source.name
    return "\n".join(unified_diff(previous.text.splitlines(), kernel.text.splitlines(), *names, lineterm="")) + "\n"
