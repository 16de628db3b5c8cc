"""A user's own kernel file as a Kernel. Its launch sizes are expressions over the problem's sizes and the -D macros."""

from __future__ import annotations

import argparse
import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput, UnknownName
from .kernel import Config, Kernel, NDRange, round_up
from .kernel_options import macros_among, settings_of
from .problem import Problem
from .sizes import FilePath, Sides, sides

OPERATIONS = ("gemm", "transpose", "copy")
ORDERS = {"r": "row", "c": "column"}
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
    """Global and local size as expressions, and the macros given with -D, in their order."""

    global_size: tuple[str, ...]
    local_size: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return dict(self.defines)

    def ndrange(self, problem: Problem) -> NDRange:
        wanted, local = self._sizes(problem)
        whole = tuple(round_up(max(size, 0), side) for size, side in zip(wanted, local, strict=True))
        if max(whole) >= 2**63:
            raise InvalidInput(f"--global {','.join(self.global_size)}: {max(whole):,} work-items cannot be counted")
        return NDRange(whole, local)

    def _sizes(self, problem: Problem) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The global size as it was asked for, and the local size."""
        names = {name: value for name, value in problem.scalars.items() if isinstance(value, int)}
        names |= {name: int(value) for name, value in self.defines if value.lstrip("-").isdigit()}
        local = tuple(evaluate(each, names) for each in self.local_size)
        if len(local) != len(self.global_size) or not 1 <= len(local) <= 3 or min(local) < 1:
            raise InvalidInput(f"--global {','.join(self.global_size)} and --local {','.join(self.local_size)} "
                               "must have the same 1 to 3 dimensions, of at least 1")  # fmt: skip
        return tuple(evaluate(each, names) for each in self.global_size), local

    def rounding(self, problem: Problem) -> str:
        """A sentence about a global size that was rounded up to whole work-groups, with the guard that a kernel needs then;
        "" if it was not."""
        (wanted, local), whole = self._sizes(problem), self.ndrange(problem).global_size
        if wanted == whole:
            return ""
        sizes, rounded, group = ("x".join(map(str, each)) for each in (wanted, whole, local))
        sides = [
            (place, side)
            for place, (side, asked, size) in enumerate(zip(self.global_size, wanted, whole, strict=True))
            if asked != size
        ]
        guard = " && ".join(f"get_global_id({place}) < {side.strip()}" for place, side in sides)
        advice = f"guard loads and stores by `if ({guard})`"
        if not all(side.strip().isidentifier() for _, side in sides):
            advice = "no work-item may load or store beyond the matrices"
        return f"the global size {sizes} was rounded up to {rounded}, whole work-groups of {group}: {advice}"

    def __str__(self) -> str:
        defines = "".join(f" {name}={value}" for name, value in self.defines)
        return f"global={','.join(self.global_size)} local={','.join(self.local_size)}{defines}"


def custom_kernel(
    path: FilePath,
    global_size: Sides,
    local_size: Sides,
    defines: Mapping[str, str | int] | None = None,
    operation: str = "gemm",
    orders: str = "rrr",
    options: Sequence[str] = (),
) -> Kernel:
    """Make a kernel of the user's own `.cl` file.

    Sizes are in work-items: "M,N", ("M", "N/4") or (16, 16). They are expressions over M N K (gemm) or ROWS COLUMNS OFFSET
    (transpose, copy) and the integer macros. The global size is rounded up to a multiple of the local size.

    `orders` gives the memory order of A, B and C: r for row-major, c for column-major. Arguments are bound by name: A B C M N
    K, or input output ROWS COLUMNS OFFSET. The macro REAL is the element type. `options` go to the OpenCL compiler.

    InvalidInput for a file that does not exist; UnknownName for another operation than gemm, transpose or copy.
    """
    source = Path(path)
    if source.is_dir():
        raise InvalidInput(f"{source} is a folder: give a .cl file")
    if not source.is_file():
        raise InvalidInput(f"there is no kernel file {source}")
    if operation not in OPERATIONS:
        raise UnknownName("problem", operation, OPERATIONS)
    if len(orders) != 3 or set(orders) - set(ORDERS):
        raise InvalidInput(f"orders={orders!r}: three letters, r or c, for A, B and C, such as rrr or ccc")
    a_order, b_order, c_order = (ORDERS[letter] for letter in orders)
    macros = tuple((name, str(value)) for name, value in (defines or {}).items())
    config = Geometry(sides(global_size), sides(local_size), macros)
    return Kernel(source, config, operation, orders=(a_order, b_order, c_order), options=tuple(options))


def own_kernel(path: FilePath, options: argparse.Namespace) -> Kernel:
    """The kernel of a user's file with the options that `with_head` gives. Both sizes must be among them.

    Macros among the compiler's options are treated as `-D`: whatever reads the source sees them.
    """
    operation = "gemm" if options.problem is None else options.problem
    if options.order is not None and operation != "gemm":
        raise InvalidInput(f"--order {options.order}: only a gemm has memory orders; a {operation} is row-major")
    order = "row" if options.order is None else options.order
    macros, rest = macros_among(options.build_option)
    return custom_kernel(
        path, options.global_size, options.local_size, {**macros, **settings_of(options.define)}, operation,
        ORDER_WORDS.get(order, order), rest,
    )  # fmt: skip
