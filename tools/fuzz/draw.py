"""Makes a case from one integer, which seeds the generator of all choices."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import limits
from .cases import CALLS, ORDERS, PRODUCTS, Case, Given, Lie, Out, count
from .draw_faults import faulty
from .draw_places import OBJECTS, on_cuda, on_device, on_host
from .oracle import INTEGERS, usual_result
from .pairs import paired, tied
from .shapes import MOST_ELEMENTS, MOST_WORK, Pool
from .types import FLOATS, MOVED, MULTIPLIED, NOT_MOVED, NOT_MULTIPLIED, SWAPPED, VALUES

FAULTY = 0.06  # of all cases
PAIRED = 0.12  # of products: b lies in the memory of a
REPRODUCIBLE = 0.08  # of products
SMALL, NAMED = 0.2, 0.18  # of calls on host arrays: for the default device, and for one that is named, with limits
WARM = 0.25  # of calls: made before, so that a ready one is found
WEIGHTS = {"matmul": 4, "gemm": 4, "transpose": 1, "matrix_transpose": 1, "copy": 1}
PLAIN = Lie()


@dataclass(frozen=True)
class Palette:
    """What cases are drawn from: sizes by type, and how much may vary where each variant is a program to build.

    `kinds` are the places, "host", "device", "cuda"; with `few` variants lies, types and epilogues are drawn from short lists.
    """

    pool: Callable[[str, bool], Pool]  # of a type, for products or for moves
    kinds: tuple[str, ...] = ("host", "device")
    few: bool = False
    types: tuple[str, ...] = MULTIPLIED
    most_work: int = MOST_WORK


def draw(seed: int, palette: Palette) -> Case:
    """The case of that seed. What a seed means is not kept: a record's failures hold their cases in full."""
    chance = random.Random(seed)
    call = chance.choices(CALLS, [WEIGHTS[each] for each in CALLS])[0]
    case = Case(seed=seed, call=call, place=chance.choice(palette.kinds))
    case = _product(chance, case, palette) if call in PRODUCTS else _move(chance, case, palette)
    if case.place == "host":
        case = _with_limits(chance, on_host(chance, case), palette)
    else:
        case = on_device(chance, case) if case.place == "device" else on_cuda(chance, case)
    if chance.random() < FAULTY:
        return faulty(chance, case)
    if case.out.where in ("", "own") and chance.random() < WARM:
        case = case.but(warm=chance.choice((1, 2, 3)))
    return case


def _with_limits(chance: random.Random, case: Case, palette: Palette) -> Case:
    """Some calls on host arrays without a queue: for the default device, or for one that is named, mostly in tiles."""
    kind = chance.random()
    if kind < SMALL:
        case = limits.small(chance, case)
    elif kind < SMALL + NAMED:
        case = limits.named(chance, case)
    return _affordable(tied(case), palette)


def _lie(chance: random.Random, few: bool, steps: tuple[int, ...] = (1, 1, 2, -1, -2, 3)) -> Lie:
    """How an array lies: half of them as usual."""
    kind = chance.random()
    if kind < 0.4:
        return Lie(at_end=chance.random() < 0.7)
    order = chance.choice(ORDERS[:2] if few else ORDERS)
    if kind < 0.6:
        return Lie(order, at_end=chance.random() < 0.7)
    walked = tuple(chance.choice(steps) for _ in range(chance.choice((1, 2, 2, 3))))
    offset = chance.choice((0, 0, 1, 3, 16, 64))
    return Lie(order, walked, offset=offset, at_end=chance.random() < 0.7)


def _given(chance: random.Random, palette: Palette, dtype: str, values: str, steps: tuple[int, ...]) -> Given:
    return Given(dtype, _lie(chance, palette.few, steps), values)


def _product(chance: random.Random, case: Case, palette: Palette) -> Case:
    own, other, asked = _types(chance, palette)
    sized = own if own in MULTIPLIED else "float32"
    m, n, k, batch = palette.pool(sized, False).sizes(chance)
    lead_a, lead_b = _leads(chance, batch)
    values = chance.choices(VALUES, (50, 12, 14, 8, 8, 2))[0]
    read = (1, 1, 2, -1, -2, 3, 0)
    case = case.but(m=m, n=n, k=k, lead_a=lead_a, lead_b=lead_b, a=_given(chance, palette, own, values, read),
        b=_given(chance, palette, other, values, read), dtype=asked,
    )  # fmt: skip
    if case.call == "gemm":
        case = _gemm(chance, case, palette, values)
    elif chance.random() < 0.25:
        case = case.but(vector_a=chance.random() < 0.5, vector_b=chance.random() < 0.6)
        case = case.but(lead_a=() if case.vector_a else case.lead_a, lead_b=() if case.vector_b else case.lead_b)
    if chance.random() < PAIRED:
        case = paired(chance, case)
    if chance.random() < REPRODUCIBLE:
        case = case.but(precision="reproducible")
    elif chance.random() < 0.12 and values in ("ordinary", "integers"):
        case = case.but(precision=chance.choice(_precisions(case.a.dtype, case.b.dtype, asked)))
    case = case.but(out=_out(chance, case, palette))
    return _affordable(case, palette)


def _types(chance: random.Random, palette: Palette) -> tuple[str, str, str]:
    """The types of both operands, and the one that is asked for, or ""."""
    own = chance.choice(palette.types)
    kind = chance.random()
    if kind < (0.92 if palette.few else 0.72):
        return own, own, ""
    if kind < 0.80:
        return own, chance.choice(palette.types), ""
    if kind < 0.86:
        swapped = chance.choice(SWAPPED)
        return swapped, chance.choice((swapped, own)), ""
    if kind < 0.94:
        return own, chance.choice((own, own, chance.choice(palette.types))), chance.choice(palette.types)
    rare = chance.choice(NOT_MULTIPLIED)
    return rare, chance.choice((rare, own)), ""


def _precisions(own: str, other: str, asked: str) -> tuple[str, ...]:
    if own == other == "float32":
        return ("ieee", "tf32", "fp32_split") if asked in ("", "float32") else ("ieee",)
    bytes_read = own == other and own.startswith("float8") and asked in ("", "float32", "float16", "bfloat16")
    return ("ieee", "fp8") if bytes_read else ("ieee",)


def _leads(chance: random.Random, batch: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The leading dimensions of both operands, which broadcast."""
    if batch > 1:
        return chance.choice((((batch,), (batch,)), ((batch,), ()), ((), (batch,)), ((batch,), (1,))))
    if chance.random() < 0.7:
        return (), ()
    whole = tuple(
        chance.choice((1, 2, 3, 4, 0) if chance.random() < 0.1 else (1, 2, 3)) for _ in range(chance.randrange(1, 5))
    )
    cut = [tuple(1 if chance.random() < 0.3 else side for side in whole) for _ in range(2)]
    pair = [each[chance.choice((0, 0, len(each))) :] for each in cut]
    return pair[0], pair[1]


def _gemm(chance: random.Random, case: Case, palette: Palette, values: str) -> Case:
    result = usual_result(case)
    real = not result.startswith("complex")
    numbers: tuple[str, ...] = ("1", "1.0", "0", "0.5", "-1.75", "-1", "1e-3", "nan")
    if result in INTEGERS:
        signed = ("-1", "-3") if result.startswith("int") else ()
        numbers = ("1", "0") if result == "bool" else ("1", "0", "2", "2.0", *signed)
    numbers = numbers if real else ("1", "0.5+2j", "-1j", "0", "2")
    turns = ("N", "N", "T", "C")
    case = case.but(alpha=chance.choice(numbers), trans_a=chance.choice(turns), trans_b=chance.choice(turns))
    if chance.random() < 0.5:
        other = "bool" if result in INTEGERS else "float32"
        c = _given(chance, palette, chance.choice((result, result, result, other)), values, (1, 2, -1, -2, 0))
        case = case.but(c=c, beta=chance.choice(numbers))
    if chance.random() < 0.4:
        case = case.but(
            bias=_given(chance, palette, result, values, (1, 2, -1)), bias_side=chance.choice(("row", "column"))
        )
    if chance.random() < (0.05 if result in INTEGERS else 0.35) and real:
        case = case.but(activation=chance.choice(("relu",) if palette.few else ("relu", "gelu", "gelu_tanh", "silu")))
    if case.a.dtype.startswith("float8") and chance.random() < 0.6:
        scales = chance.choice(("none", "one", "each")), chance.choice(("none", "one", "each"))
        one, two = (
            Given(chance.choice(("float32", "float32", "float64", "int32")), PLAIN, "integers") for _ in range(2)
        )
        case = case.but(scale_a=one, scales=scales, scale_b=two if chance.random() < 0.6 else None)
    return case


def _out(chance: random.Random, case: Case, palette: Palette) -> Out:
    kind = chance.random()
    if kind < 0.5:
        return Out()
    dtype = usual_result(case) if case.is_product else case.a.dtype
    steps = (1, 1, 2, -1, -2, 3) if chance.random() < 0.97 else (0, 1)
    if kind < 0.75:
        wider = chance.random() < 0.15 and case.is_product
        return Out("own", _given(chance, palette, chance.choice(FLOATS) if wider else dtype, "ordinary", steps))
    if (
        case.c is not None
        and kind < 0.85
        and case.c.dtype == dtype
        and 0 not in case.c.lie.steps
        and case.c.form == "plain"
    ):
        return Out("is c")
    where = chance.choice([name for name in ("a", "b", "c", "bias") if name in case.operands])
    distance = chance.choice((0, 0, 1, -1, 2, 5, -7, 64))
    lie = chance.choice((PLAIN, _lie(chance, palette.few)))
    return Out(where, Given(dtype, replace(lie, offset=0)), distance)


def _move(chance: random.Random, case: Case, palette: Palette) -> Case:
    dtype = (
        chance.choice(MOVED)
        if chance.random() < 0.93
        else chance.choice((*NOT_MOVED, *(OBJECTS if case.place == "host" else ())))
    )
    rows, columns, _, batch = palette.pool("float32", True).sizes(chance)
    rank = chance.choices((0, 1, 2, 3, 4, 5, 6), (1, 3, 8, 5, 3, 2, 2))[0]
    few = (0, 1, 1, 2, 3, 4, 5) if chance.random() < 0.1 else (1, 2, 3, 4)
    shape = tuple(chance.choice(few) for _ in range(max(0, rank - 2))) + (
        (columns,) if rank == 1 else (rows, columns) if rank else ()
    )
    if batch > 1:
        shape = (batch, rows, columns)
    while count(shape) > MOST_ELEMENTS:
        shape = tuple(max(1, side // 2) for side in shape)
    case = case.but(shape=shape, a=_given(chance, palette, dtype, "ordinary", (1, 1, 2, -1, -2, 3, 0)))
    square = len(shape) >= 2 and chance.random() < 0.3
    if square and case.call != "copy":
        case = case.but(shape=(*shape[:-2], min(shape[-2:]), min(shape[-2:])))
    out = _out(chance, case, palette)
    if square and chance.random() < 0.5 and 0 not in case.a.lie.steps and dtype not in OBJECTS:
        out = Out("is a") if case.result_shape == case.shape else out
    return case.but(out=out)


def _affordable(case: Case, palette: Palette) -> Case:
    """The case with its sizes halved until the reference, too, has done it soon."""
    if not case.is_product:
        return case
    while case.work > palette.most_work or max(count(case.shape_of(name)) for name in ("a", "b", "c")) > MOST_ELEMENTS:
        if count(case.lead) > 4 and max(case.m, case.n, case.k) < 2 * count(case.lead):
            halve = {side: max(1, side // 2) for side in (*case.lead_a, *case.lead_b)}
            case = case.but(
                lead_a=tuple(halve[each] for each in case.lead_a),
                lead_b=tuple(halve[each] for each in case.lead_b),
            )
        else:
            longest = max(("m", "n", "k"), key=lambda name: int(getattr(case, name)))
            case = tied(case.but(**{longest: getattr(case, longest) // 2}))
    return case
