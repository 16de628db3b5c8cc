"""Random expressions of integers and of floats: the interpreter of `explain` against the CPU drivers, bit by bit."""

from random import Random

import numpy as np
import pytest
from interpreted_values import DTYPES, UNSIGNED, compare, kernel_of

from tilewright.runtime.opencl.device import Device

# Random expressions. An expression of a signed type carries bounds of its value, so that nothing overflows.
Expression = tuple[str, str, int, int]  # text, type, lowest, highest
LEAVES = {"char": (-128, 127), "short": (-32768, 32767), "int": (-(2**31), 2**31 - 1)}
RANK = {"uint": 0, "long": 1, "ulong": 2}


def leaf(random: Random) -> Expression:
    kind = random.choice((*UNSIGNED, "char", "short", "int", "literal", "literal"))
    if kind == "literal":
        value = random.randint(0, 200)
        return str(value), "int", value, value
    if kind in LEAVES:
        return f"v_{kind}", kind, *LEAVES[kind]
    bits = 8 * np.dtype(DTYPES[kind]).itemsize
    return f"v_{kind}", kind, 0, 2**bits - 1


def promote(kind: str) -> str:
    return kind if kind in RANK else "int"


def usual(left: str, right: str) -> str:
    left, right = promote(left), promote(right)
    return max(left, right, key=lambda each: RANK.get(each, -1))


def fits(kind: str, low: int, high: int) -> bool:
    bits = 63 if kind == "long" else 31
    limit: int = 2**bits
    return -limit <= low and high < limit


def limits_of(kind: str) -> tuple[int, int]:
    return (0, 2 ** (64 if kind == "ulong" else 32) - 1) if kind in ("uint", "ulong") else (-(2**31), 2**31 - 1)


def node(random: Random, depth: int) -> Expression:
    if depth == 0:
        return leaf(random)
    choice = random.choice(
        ("+", "-", "*", "/", "%", "&", "|", "^", ">>", "<<", "<", "==", "?", "cast", "~", "&&", "max")
    )
    left = node(random, depth - 1)
    if choice == "cast":
        kind = random.choice(("uchar", "ushort", "uint", "ulong"))
        return f"({kind})({left[0]})", kind, 0, 2 ** (8 * np.dtype(DTYPES[kind]).itemsize) - 1
    if choice == "~":
        kind = promote(left[1])
        bounds = limits_of(kind) if kind in ("uint", "ulong") else (~left[3], ~left[2])
        return f"(~({left[0]}))", kind, *bounds
    right = node(random, depth - 1)
    kind = usual(left[1], right[1])
    texts = f"(({left[0]}) {choice} ({right[0]}))"
    if choice in ("<", "==", "&&"):
        return texts, "int", 0, 1
    if choice == "?":
        return f"(({left[0]}) ? ({left[0]}) : ({right[0]}))", kind, *spread(kind, left, right)
    if choice == "max":
        return f"max(({kind})({left[0]}), ({kind})({right[0]}))", kind, *spread(kind, left, right)
    return arithmetic(choice, left, right, kind, texts)


def spread(kind: str, left: Expression, right: Expression) -> tuple[int, int]:
    return limits_of(kind) if kind in ("uint", "ulong") else (min(left[2], right[2]), max(left[3], right[3]))


def arithmetic(choice: str, left: Expression, right: Expression, kind: str, texts: str) -> Expression:
    unsigned = kind in ("uint", "ulong")
    if choice in ("<<", ">>"):
        kind = promote(left[1])
        if choice == "<<" and kind not in ("uint", "ulong"):
            return left
        bits = 64 if kind in ("long", "ulong") else 32
        bounds = limits_of(kind) if kind in ("uint", "ulong") else (min(left[2], 0), max(left[3], 0))
        return f"(({left[0]}) {choice} (({right[0]}) & {bits - 1}))", kind, *bounds
    if choice in ("/", "%"):
        divisor = f"((({right[0]}) & 15) + 1)"
        kind = usual(left[1], usual(right[1], "int"))
        bounds = limits_of(kind) if kind in ("uint", "ulong") else (min(left[2], -15), max(left[3], 15))
        return f"(({left[0]}) {choice} {divisor})", kind, *bounds
    if unsigned:
        return texts, kind, *limits_of(kind)
    if choice in ("&", "|", "^"):
        return texts, kind, *limits_of("int")
    results = {
        "+": (left[2] + right[2], left[3] + right[3]),
        "-": (left[2] - right[3], left[3] - right[2]),
        "*": (min(a * b for a in left[2:] for b in right[2:]), max(a * b for a in left[2:] for b in right[2:])),
    }[choice]
    return (texts, kind, *results) if fits(kind, *results) else left


# Seeds, not Hypothesis: it takes constants from every module that is loaded, so that a change elsewhere made other programs, and
# one of them sent Intel's compiler (2026.2) into an endless loop (LLVM's InstCombine, folding comparisons in a select).
@pytest.mark.parametrize("seed", range(4))
def test_random_integer_expressions(seed: int, one_device: Device) -> None:
    random = Random(seed)
    chosen = [node(random, random.randint(1, 4)) for _ in range(30)]
    source, arrays = kernel_of({f"out_{index}": (each[1], each[0]) for index, each in enumerate(chosen)})
    compare(one_device, source, arrays)


def float_node(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(("v_float", "(float)v_short", "(float)v_uchar", "1.5f", "-0.25f", "3.0f", "v_float"))
    choice = random.choice(("+", "-", "*", "/", "fabs", "fma", "sqrt", "?", "floor", "double"))
    first = float_node(random, depth - 1)
    if choice in ("fabs", "sqrt", "floor"):
        return f"{choice}({first})"
    second = float_node(random, depth - 1)
    if choice == "fma":
        return f"fma({first}, {second}, {float_node(random, depth - 1)})"
    if choice == "?":
        return f"({first} < {second} ? {second} : {first})"
    if choice == "double":
        return f"(float)((double)({first}) + 0.5 * ({second}))"
    return f"(({first}) {choice} ({second}))"


@pytest.mark.parametrize("seed", range(3))
def test_random_float_expressions(seed: int, one_device: Device) -> None:
    random = Random(seed)
    chosen = [float_node(random, random.randint(1, 4)) for _ in range(30)]
    source, arrays = kernel_of({f"out_{index}": ("float", each) for index, each in enumerate(chosen)})
    compare(one_device, source, arrays)
