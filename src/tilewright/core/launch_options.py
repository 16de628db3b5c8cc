"""The keyword arguments of all calls that take a `.cl` file of the user's own, as one record."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict

from ..errors import InvalidInput
from .argument_words import LaunchWords, bound_names
from .sizes import FilePath, Sides, sides


class LaunchOptions(TypedDict, total=False):
    """How a `.cl` file's kernel is launched beyond its sizes. All are optional.

    problem: what it computes, "gemm", "transpose" or "copy". entry: the kernel, if the file holds several. arguments: what each
    parameter gets: a number, an array, None, a word such as "f32[1024]", "local:4096" or "@other", a dict for a struct. The
    same array for two parameters is one buffer. bind: the operand or size of a gemm, transpose or copy that a parameter is
    ({"in1": "A", "rows": "M"}, or "in1=A,rows=M"). init: what a buffer holds before the launch: a number, "unset", "random",
    "index", a file or an array. expect: the right contents of a buffer after it. include: folders of included files. ragged:
    smaller work-groups at the edges instead of a rounded global size. global_offset: the offset of global ids.
    """

    problem: str
    entry: str
    arguments: Mapping[str, Any]
    bind: Mapping[str, str] | str
    init: Mapping[str, Any]
    expect: Mapping[str, Any]
    include: Sequence[FilePath] | FilePath
    ragged: bool
    global_offset: Sides


def check_names(options: Mapping[str, Any]) -> None:
    """InvalidInput for a keyword argument that no call has."""
    known = LaunchOptions.__annotations__
    if unknown := [name for name in options if name not in known]:
        near = get_close_matches(unknown[0], known, n=1)
        advice = f"did you mean {near[0]}?" if near else f"those of a .cl file's arguments are {', '.join(known)}"
        raise InvalidInput(f"the call has no argument {unknown[0]!r}; {advice}")


def launch_words(options: LaunchOptions) -> LaunchWords | None:
    """The record of these options; None if there are none. InvalidInput for what is no mapping of names."""
    if not options:
        return None
    bind = options.get("bind") or {}
    pairs = bound_names((bind,)) if isinstance(bind, str) else _pairs("bind", bind)
    include = options.get("include") or ()
    folders = include if isinstance(include, list | tuple) else (include,)
    return LaunchWords(
        entry=options.get("entry"),
        arguments=_pairs("arguments", options.get("arguments") or {}),
        bind=tuple((name, str(target)) for name, target in pairs),
        init=_pairs("init", options.get("init") or {}),
        expect=_pairs("expect", options.get("expect") or {}),
        include=tuple(str(each) for each in folders),
        ragged=bool(options.get("ragged")),
        global_offset=sides(options.get("global_offset") or ()),
        problem_given="problem" in options,
    )


def _pairs(what: str, given: Any) -> tuple[tuple[str, Any], ...]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidInput(f"{what}={given!r}: give a dict of the kernel's parameters"[:200])
    return tuple(given.items())
