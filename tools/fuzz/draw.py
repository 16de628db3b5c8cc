"""Makes a case from one integer, which seeds the generator of all choices."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from .cases import CALLS, ORDERS, PRODUCTS, Case, Given, Lie, Out
from .faults import DEVICE, NAMES, OTHERS, OUTS, SHAPES
from .oracle import INTEGERS
from .shapes import MOST_ELEMENTS, MOST_WORK, Pool
from .types import FLOATS, MOVED, MULTIPLIED, NOT_MOVED, NOT_MULTIPLIED, SWAPPED, VALUES, dtype_of, plain_name

FAULTY = 0.06  # of all cases
WEIGHTS = {"matmul": 4, "gemm": 4, "transpose": 1, "matrix_transpose": 1, "copy": 1}
PLAIN = Lie()
OBJECTS = ("O", "T", "O,i4")  # types whose elements point elsewhere


@dataclass(frozen=True)
class Palette:
    """What cases are drawn from: sizes by type, and how much may vary where each variant is a program to build.

    `kinds` are the places, "host", "device"; with `few` variants lies, types and epilogues are drawn from short lists.
    """

    pool: Callable[[str, bool], Pool]  # of a type, for products or for moves
    kinds: tuple[str, ...] = ("host", "device")
    few: bool = False
    types: tuple[str, ...] = MULTIPLIED
    most_work: int = MOST_WORK


def draw(seed: int, palette: Palette) -> Case:
    """The case of that seed."""
    chance = random.Random(seed)
    call = chance.choices(CALLS, [WEIGHTS[each] for each in CALLS])[0]
    case = Case(seed=seed, call=call, place=chance.choice(palette.kinds))
    case = _product(chance, case, palette) if call in PRODUCTS else _move(chance, case, palette)
    case = _on_device(chance, case) if case.place == "device" else _on_host(chance, case)
    return _faulty(chance, case) if chance.random() < FAULTY else case


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
    if chance.random() < 0.12 and values in ("ordinary", "integers"):
        case = case.but(precision=chance.choice(_precisions(own, other, asked)))
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
    result = _result_type(case)
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


def _result_type(case: Case) -> str:
    """The usual type of the result, from which other types are drawn."""
    if case.dtype:
        return case.dtype
    own = plain_name(dtype_of(case.a.dtype))
    return (
        "int32" if own == "int8" else "float32" if own.startswith("float8") else own if own in MULTIPLIED else "float32"
    )


def _out(chance: random.Random, case: Case, palette: Palette) -> Out:
    kind = chance.random()
    if kind < 0.5:
        return Out()
    dtype = _result_type(case) if case.is_product else case.a.dtype
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
    where = chance.choice([name for name in ("a", "b", "c") if name in case.operands])
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
    while _elements(shape) > MOST_ELEMENTS:
        shape = tuple(max(1, side // 2) for side in shape)
    case = case.but(shape=shape, a=_given(chance, palette, dtype, "ordinary", (1, 1, 2, -1, -2, 3, 0)))
    square = len(shape) >= 2 and chance.random() < 0.3
    if square and case.call != "copy":
        case = case.but(shape=(*shape[:-2], min(shape[-2:]), min(shape[-2:])))
    out = _out(chance, case, palette)
    if square and chance.random() < 0.5 and 0 not in case.a.lie.steps and dtype not in OBJECTS:
        out = Out("is a") if case.result_shape == case.shape else out
    return case.but(out=out)


def _elements(shape: tuple[int, ...]) -> int:
    return Case(call="copy", shape=shape).work


def _affordable(case: Case, palette: Palette) -> Case:
    """The case with its sizes halved until the reference, too, has done it soon."""
    while (
        case.work > palette.most_work or max(_elements(case.shape_of(name)) for name in ("a", "b", "c")) > MOST_ELEMENTS
    ):
        if _elements(case.lead) > 4 and max(case.m, case.n, case.k) < 2 * _elements(case.lead):
            halve = {side: max(1, side // 2) for side in (*case.lead_a, *case.lead_b)}
            case = case.but(
                lead_a=tuple(halve[each] for each in case.lead_a),
                lead_b=tuple(halve[each] for each in case.lead_b),
            )
        else:
            longest = max(("m", "n", "k"), key=lambda name: int(getattr(case, name)))
            case = case.but(**{longest: getattr(case, longest) // 2})
    return case


def _on_host(chance: random.Random, case: Case) -> Case:
    """Operands as kinds of objects, misaligned or with uneven strides, now and then."""
    changes: dict[str, Given] = {}
    for name, given in case.operands.items():
        if case.out.where in (name, f"is {name}") or given.dtype in OBJECTS:
            continue
        kind = chance.random()
        if kind < 0.06:
            given = replace(given, lie=replace(given.lie, shift=chance.choice((1, 2, 3, 4, 8))))
        elif kind < 0.09:
            given = replace(given, lie=replace(given.lie, pad=chance.choice((1, 2, 4, 13))))
        elif kind < 0.2:
            given = replace(given, form=_form(chance, case, name, given))
        changes[name] = given
    out = case.out
    if out.where == "own" and chance.random() < 0.15:
        lie = replace(out.given.lie, shift=chance.choice((0, 1, 2, 4, 8)), pad=chance.choice((0, 0, 1, 4)))
        out = replace(out, given=replace(out.given, lie=lie))
    if out.where == "own" and case.is_product and chance.random() < 0.05 and out.given.dtype in ("float32", "float64"):
        out = replace(out, given=replace(out.given, dtype={"float32": ">f4", "float64": ">f8"}[out.given.dtype]))
    return case.but(out=out, queue=chance.choice((0, 0, 0, 2, 3)), **changes)


def _form(chance: random.Random, case: Case, name: str, given: Given) -> str:
    form = chance.choice(("readonly", "readonly", "memmap", "subclass", "protocol", "dlpack", "matrix", "list"))
    shape = case.shape_of(name)
    usual = not case.is_product or not (case.vector_a or case.vector_b)
    if form == "matrix" and (len(shape) != 2 or not usual or not case.is_product):
        return "readonly"
    if form == "list" and (
        given.dtype not in ("float64", "complex128") or 0 in shape or not shape or _elements(shape) > 10000
    ):
        return "subclass"
    if form == "dlpack" and given.dtype not in (
        "float32",
        "float64",
        "int32",
        "int8",
        "complex64",
        "complex128",
        "float16",
    ):
        return "protocol"
    return form


def _on_device(chance: random.Random, case: Case) -> Case:
    """Arrays on several queues, in sub-buffers, one of them still on the host."""
    changes: dict[str, Given] = {}
    names = list(case.operands)
    for name, given in case.operands.items():
        given = replace(given, queue=chance.choice((0, 0, 1, 2)), sub=chance.random() < 0.15)
        changes[name] = given
    if len(names) > 1 and chance.random() < 0.06:
        name = chance.choice(names[1:])
        if not case.out.where.endswith(name):
            changes[name] = replace(changes[name], form="host")
    out = replace(case.out.given, queue=chance.choice((0, 0, 1)), sub=chance.random() < 0.15)
    return case.but(out=replace(case.out, given=out), queue=chance.choice((0, 0, 1, 2, 3)), **changes)


def _faulty(chance: random.Random, case: Case) -> Case:
    """The case with something wrong in it, if the fault that is drawn can be made of it."""
    fault = chance.choice((*SHAPES, *OUTS, *NAMES, *OTHERS, *(DEVICE if case.place == "device" else ())))
    return _wrong(chance, case, fault)


def _wrong(chance: random.Random, case: Case, fault: str) -> Case:
    gemm, host = case.call == "gemm", case.place == "host"
    real = case.a.dtype == case.b.dtype == "float32" and not case.dtype
    possible = {
        "k differs": case.is_product, "leads differ": case.is_product and not (case.vector_a or case.vector_b),
        "no dimension": case.call == "matmul" and host, "c shape": gemm and case.c is not None and case.beta != "0",
        "bias shape": gemm and case.bias is not None and case.bias_side == "row" and case.n + 1 != case.m,
        "scale shape": gemm and case.scale_a is not None and case.scales[0] == "each" and case.m > 0,
        "activation unknown": gemm, "transposition unknown": gemm, "precision unknown": case.is_product,
        "precision of another type": case.is_product and case.a.dtype == case.b.dtype == "float64" and not case.dtype,
        "dtype unknown": case.is_product, "device unknown": host, "c missing": gemm, "wait for a number": True,
        "out masked": host, "masked": host and case.a.dtype not in OBJECTS and not case.out.where.endswith("a"),
        "out on the host": case.out.where == "own", "two contexts": case.is_product and case.b.form == "plain",
        "out type": case.is_product and real, "queue elsewhere": not host,
    }  # fmt: skip
    if fault in ("alpha", "beta"):
        if not gemm or not real or (fault == "beta" and case.c is None):
            return case
        return case.but(**{fault: chance.choice(("None", "text", "list", "0.5+2j", "10**400"))})
    if not possible.get(fault, True):
        return case
    if fault.startswith("out") and fault not in ("out list", "out number") and case.out.where != "own":
        case = case.but(out=Out("own", Given(case.a.dtype if not case.is_product else _result_type(case))))
    if fault == "out read-only" and not host:
        return case
    if fault == "out type":
        case = case.but(out=Out("own", Given("int32")))
    if fault == "masked":
        case = case.but(a=replace(case.a, form="masked"))
    return case.but(fault=fault)
