"""A user's own kernel file as a Kernel. Its launch sizes are expressions over the problem's sizes and the -D macros."""

from __future__ import annotations

import argparse
import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InvalidInput, UnknownName, quoted
from .argument_words import LaunchWords
from .checked import check_object, checked_mapping, checked_names, checked_path
from .kernel import Config, Kernel, NDRange, round_up
from .kernel_options import folders_among, macros_among, settings_of
from .language import Sentence
from .launch_arguments import words_of
from .problem import Problem
from .sizes import FilePath, Sides, sides

OPERATIONS = ("gemm", "transpose", "copy")
ORDERS = {"r": "row", "c": "column"}
AUTO = ("auto",)  # a local size that is left to the driver
ORDER_WORDS = {"row": "rrr", "column": "ccc"}

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: -(-a // b),
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate(expression: str, names: Mapping[str, int]) -> int:
    """The value of an integer expression of + - * / // % and names. "/" rounds up, because it counts tiles.

    >>> evaluate("M/TS*16", {"M": 100, "TS": 32})
    64
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise InvalidInput(f"{expression[:80]!r} cannot be read: {error}") from error
    try:
        return _value(tree.body, names)
    except (ZeroDivisionError, RecursionError) as error:
        raise InvalidInput(f"{expression[:80]!r} cannot be computed: {error}") from error


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:  # True is none
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise UnknownName("size or macro", node.id, names)
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    raise InvalidInput(f"{ast.unparse(node)!r} is not an integer expression of + - * / // % and names")


@dataclass(frozen=True)
class Geometry(Config):
    """Global and local size as expressions, and the macros given with -D, in their order.

    The local size "auto" is left to the driver. `offset` are expressions, too. The global size of a `ragged` launch is not
    rounded up. `values` are numbers that arguments get beside those of the problem.
    """

    global_size: tuple[str, ...]
    local_size: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    offset: tuple[str, ...] = ()
    ragged: bool = False
    values: tuple[tuple[str, int | float | complex | bytes], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # arguments, and the size of the problem that each of them is

    def macros(self, problem: Problem) -> dict[str, str | int]:
        """The macros; an expression over sizes, such as COLUMNS2=2*N, is computed."""
        sizes = self._sizes_of(problem)
        return {name: computed_macro(value, sizes) for name, value in self.defines}

    def scalars(self, problem: Problem) -> dict[str, Any]:
        return {**dict(self.values), **{name: problem.scalars[size] for name, size in self.renamed}}

    def ndrange(self, problem: Problem) -> NDRange:
        wanted, local = self._sizes(problem)
        whole = wanted if self.ragged else tuple(
            round_up(max(size, 0), side) for size, side in zip(wanted, local, strict=True)
        )  # fmt: skip
        if max(whole) >= 2**63:
            raise InvalidInput(f"--global {','.join(self.global_size)}: {max(whole):,} work-items cannot be counted")
        if min(whole) < 0:
            raise InvalidInput(f"--global {','.join(self.global_size)}: {min(whole):,} work-items are less than none")
        names = self._names(problem)
        offset = tuple(evaluate(each, names) for each in self.offset)
        if offset and (len(offset) != len(whole) or min(offset) < 0):
            raise InvalidInput(
                f"--global-offset {','.join(self.offset)}: give one number for each dimension, not negative"
            )
        return NDRange(whole, local, offset, self.local_size == AUTO)

    def _sizes_of(self, problem: Problem) -> dict[str, int]:
        scalars = {**problem.scalars, **dict(self.values)}
        scalars |= {name: scalars[size] for name, size in self.renamed if size in scalars}
        return {name: value for name, value in scalars.items() if isinstance(value, int)}

    def _names(self, problem: Problem) -> dict[str, int]:
        sizes = self._sizes_of(problem)
        macros = {name: str(computed_macro(value, sizes)) for name, value in self.defines}
        return sizes | {name: int(value) for name, value in macros.items() if value.lstrip("-").isdecimal()}

    def _sizes(self, problem: Problem) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The global size as it was asked for, and the local size."""
        names = self._names(problem)
        wanted = tuple(evaluate(each, names) for each in self.global_size)
        if self.local_size == AUTO and wanted:
            return wanted, likely_local(wanted)
        local = tuple(evaluate(each, names) for each in self.local_size)
        if len(local) != len(self.global_size) or not 1 <= len(local) <= 3 or min(local) < 1:
            raise InvalidInput(f"--global {','.join(self.global_size)} and --local {','.join(self.local_size)} "
                               "must have the same 1 to 3 dimensions, of at least 1")  # fmt: skip
        return wanted, local

    def asked(self, problem: Problem) -> tuple[int, ...]:
        """The global size before it is rounded up to whole work-groups."""
        return self._sizes(problem)[0]

    def rounding(self, problem: Problem) -> str:
        """A sentence about a global size that was rounded up to whole work-groups, with the guard that a kernel needs then;
        "" if it was not."""
        (wanted, local), whole = self._sizes(problem), self.ndrange(problem).global_size
        if wanted == whole:
            return self._left_over(whole, local)
        sizes, rounded, group = ("x".join(map(str, each)) for each in (wanted, whole, local))
        sides = [
            (place, side)
            for place, (side, asked, size) in enumerate(zip(self.global_size, wanted, whole, strict=True))
            if asked != size
        ]
        guard = " && ".join(f"get_global_id({place}) < {side.strip()}" for place, side in sides)
        if not all(side.strip().isidentifier() for _, side in sides):
            return Sentence(
                "the global size {sizes} was rounded up to {rounded}, whole work-groups of {group}: no work-item may load or "
                "store beyond the matrices",
                sizes=sizes, rounded=rounded, group=group,
            )  # fmt: skip
        return Sentence(
            "the global size {sizes} was rounded up to {rounded}, whole work-groups of {group}: guard loads and stores by "
            "`if ({guard})`",
            sizes=sizes, rounded=rounded, group=group, guard=guard,
        )  # fmt: skip

    def __str__(self) -> str:
        defines = "".join(f" {name}={value}" for name, value in self.defines)
        return f"global={','.join(self.global_size)} local={','.join(self.local_size)}{defines}"

    def _left_over(self, whole: tuple[int, ...], local: tuple[int, ...]) -> str:
        """A sentence about the smaller work-groups at the edges of a ragged launch; "" if there are none."""
        if not any(size % side for size, side in zip(whole, local, strict=True)):
            return ""
        sizes, group = ("x".join(map(str, each)) for each in (whole, local))
        return Sentence(
            "the global size {sizes} is no multiple of {group}: work-groups at its edges are smaller, as OpenCL 2 allows",
            sizes=sizes, group=group,
        )  # fmt: skip


def computed_macro(value: str, sizes: Mapping[str, int]) -> str | int:
    """The value of a macro that is an expression over sizes; every other text as it is."""
    words = re.findall(r"[A-Za-z_]\w*", value)
    if not words or not all(word in sizes for word in words) or not re.fullmatch(r"[\w\s+*/%()-]*", value):
        return value
    try:
        return evaluate(value, sizes)
    except InvalidInput:
        return value


def likely_local(global_size: Sequence[int]) -> tuple[int, ...]:
    """Work-groups as drivers choose them: sides that divide the global size, about 256 work-items together."""
    most = {1: 256, 2: 16, 3: 8}.get(len(global_size), 1)
    return tuple(max((side for side in range(1, most + 1) if size % side == 0), default=1) for size in global_size)


def custom_kernel(
    path: FilePath,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    defines: Mapping[str, str | int] | None = None,
    operation: str = "gemm",
    orders: str = "rrr",
    options: Sequence[str] = (),
    launch: LaunchWords | None = None,
) -> Kernel:
    """Make a kernel of the user's own `.cl` file.

    Sizes are in work-items: "M,N", ("M", "N/4") or (16, 16). They are expressions over M N K (gemm) or ROWS COLUMNS OFFSET
    (transpose, copy) and the integer macros, which `defines` gives values. The global size is rounded up to a multiple of
    the local size.

    `orders` gives the memory order of A, B and C: r for row-major, c for column-major. Arguments are bound by name: A B C M N
    K, or input output ROWS COLUMNS OFFSET. The macro REAL is the element type. `options` go to the OpenCL compiler. `launch`
    gives the arguments of any other kernel; sizes that are left out are guessed when it is explained or run.

    InvalidInput for a file that does not exist; UnknownName for another operation than gemm, transpose or copy.
    """
    source = checked_path("path", path)
    if source.is_dir():
        raise InvalidInput(f"{source} is a folder: give a .cl file")
    if not source.is_file():
        raise InvalidInput(f"there is no kernel file {source}")
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise UnknownName("problem", operation, OPERATIONS)
    if not isinstance(orders, str) or len(orders) != 3 or set(orders) - set(ORDERS):
        raise InvalidInput(f"orders={quoted(orders)}: three letters, r or c, for A, B and C, such as rrr or ccc")
    a_order, b_order, c_order = (ORDERS[letter] for letter in orders)
    macros = tuple((name, str(value)) for name, value in checked_mapping("defines", defines).items())
    check_object(
        "launch", launch, (LaunchWords, type(None)), "what the keyword arguments of `explain` make, or leave it out"
    )
    words, options = launch or LaunchWords(), checked_names("options", options, "-cl-fast-relaxed-math")
    whole, group = (
        sides(() if each is None or (isinstance(each, str) and not each) else each)
        for each in (global_size, local_size)
    )
    config = Geometry(whole, group, macros, words.global_offset, words.ragged)
    if words.ragged and not any(each.strip().startswith("-cl-std=") for each in options):
        options = (*options, "-cl-std=CL2.0")  # the first version with smaller groups at the edges
    orders_of = (a_order, b_order, c_order)
    return Kernel(source, config, operation, orders=orders_of, options=tuple(options), launch=words)


def own_kernel(path: FilePath, options: argparse.Namespace) -> Kernel:
    """The kernel of a user's file with the options that `with_head` gives.

    Macros among the compiler's options are treated as `-D`: whatever reads the source sees them.
    """
    operation = "gemm" if options.problem is None else options.problem
    if options.order is not None and operation != "gemm":
        raise InvalidInput(f"--order {options.order}: only a gemm has memory orders; a {operation} is row-major")
    order = "row" if options.order is None else options.order
    macros, rest = macros_among(options.build_option)
    folders, rest = folders_among(rest)
    words = words_of(options)
    return custom_kernel(
        path, options.global_size, options.local_size, {**macros, **settings_of(options.define)}, operation,
        ORDER_WORDS.get(order, order), rest, replace(words, include=(*folders, *words.include)),
    )  # fmt: skip
