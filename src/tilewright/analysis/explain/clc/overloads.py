"""Which names of functions may stand in parentheses where they are called."""

from collections.abc import Sequence

from .tree import Heading, Name

# Functions of OpenCL C that have one signature, or are macros: all of the first words, and the others.
_FIRST_WORDS = (
    "as_", "get_enqueued_", "get_global_", "get_group_id", "get_local_", "get_max_sub_group_", "get_num_groups", "get_sub_group_",
    "get_work_dim",
)  # fmt: skip
_ONE_SIGNATURE = (
    "atomic_work_item_fence", "barrier", "mem_fence", "printf", "read_mem_fence", "sub_group_all", "sub_group_any",
    "wait_group_events", "work_group_all", "work_group_any", "write_mem_fence",
)  # fmt: skip


def check_has_overloads(name: Name, headings: Sequence[Heading]) -> None:
    """Refuses `(f)(x)`, which takes the address of f unless the argument chooses among several functions."""
    own = bool(headings)
    if len(headings) > 1 or not (own or name.name.startswith(_FIRST_WORDS) or name.name in _ONE_SIGNATURE):
        return
    raise name.position.error(
        f"{name.name!r} stands in parentheses before its arguments, and OpenCL C takes no address of a function: "
        f"write {name.name}(...)"
    )
