"""Guesses what nobody said about a launch: dimensions, sizes, local sizes. Every guess is an option that may be given."""

from ..explain.clc.tree import Call, Function, Program
from ..explain.clc.walk import called_functions, nodes_of

SIDES = {1: 1024, 2: 64, 3: 16}  # of an NDRange of as many dimensions: small, and several work-groups
GROUPS = {1: (64,), 2: (16, 16), 3: (8, 4, 4)}
SECOND = ("h", "height", "rows", "row", "m", "ny", "ysize", "size_y", "dimy")  # names of sizes that go with dimension 1
FROM_ZERO = ("offset", "off", "start", "begin", "base", "shift", "first", "step", "iteration", "iter")
_IDS = ("get_global_id", "get_local_id", "get_group_id", "get_local_size", "get_global_size", "get_num_groups")


def dimensions(program: Program, entry: Function) -> int:
    """1 to 3: one more than the highest dimension that the kernel asks for an id or a size of."""
    if entry.work_group is not None:
        sides = [place for place, side in enumerate(entry.work_group) if side > 1]
        least = max(sides, default=0) + 1
    else:
        least = 1
    for function in called_functions(program, entry.name):
        for call in (each for each in nodes_of(function.body) if isinstance(each, Call) and each.name in _IDS):
            values = [getattr(each, "value", None) for each in call.arguments]
            if values and isinstance(values[0], int) and 0 <= values[0] < 3:
                least = max(least, values[0] + 1)
    return least


def group_for(entry: Function, dims: int) -> tuple[int, ...]:
    """The work-group that the kernel asks for, or one of 64 to 256 work-items."""
    if entry.work_group is not None:
        return (*entry.work_group, 1, 1)[:dims]
    return GROUPS[dims]


def size_for(name: str, global_size: tuple[int, ...]) -> int:
    """The value of an integer argument: a side of the NDRange; 0 for what is called an offset."""
    word = name.lower().strip("_")
    if word in FROM_ZERO or word.endswith(("offset", "_off", "start", "begin")):
        return 0
    return global_size[1] if len(global_size) > 1 and word in SECOND else global_size[0]
