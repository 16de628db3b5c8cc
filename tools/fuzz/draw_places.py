"""What depends on where a case's arrays lie: kinds of objects on the host, queues of a device, frameworks of CUDA arrays."""

import random
from dataclasses import replace
from typing import Any

from .cases import Case, Given, count
from .cuda_frameworks import TYPES
from .pairs import tied
from .types import MULTIPLIED, dtype_of

OBJECTS = ("O", "T", "O,i4")  # types whose elements point elsewhere
BY_DLPACK = ("float32", "float64", "int32", "int8", "complex64", "complex128", "float16")  # some that NumPy lends so


def on_host(chance: random.Random, case: Case) -> Case:
    """Operands as kinds of objects, misaligned or with uneven strides, now and then."""
    changes: dict[str, Given] = {}
    for name, given in case.operands.items():
        if case.out.where in (name, f"is {name}") or given.dtype in OBJECTS or (case.pair and name == "b"):
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
    return tied(case.but(out=out, queue=chance.choice((0, 0, 0, 2, 3)), **changes))


def _form(chance: random.Random, case: Case, name: str, given: Given) -> str:
    if case.pair:  # both operands must be views of one memory
        return chance.choice(("readonly", "file", "subclass", "dlpack" if given.dtype in BY_DLPACK else "subclass"))
    form = chance.choice(("readonly", "readonly", "memmap", "subclass", "protocol", "dlpack", "matrix", "list", "file"))
    shape = case.shape_of(name)
    usual = not case.is_product or not (case.vector_a or case.vector_b)
    if form == "matrix" and (len(shape) != 2 or not usual or not case.is_product):
        return "readonly"
    if form == "list" and (
        given.dtype not in ("float64", "complex128") or 0 in shape or not shape or count(shape) > 10000
    ):
        return "subclass"
    if form == "dlpack" and given.dtype not in BY_DLPACK:
        return "protocol"
    return form


def on_device(chance: random.Random, case: Case) -> Case:
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
    return tied(case.but(out=replace(case.out, given=out), queue=chance.choice((0, 0, 1, 2, 3)), **changes))


def on_cuda(chance: random.Random, case: Case) -> Case:
    """CUDA arrays of one framework, now and then one of another beside them; types that both lack become float32."""
    kind = chance.choice(("cupy", "torch"))
    changes: dict[str, Any] = {}
    for name, given in case.operands.items():
        own = kind if chance.random() < 0.94 else "torch"
        lodges = bool(case.pair) and name == "b"  # in the memory of a
        changes[name] = _cuda_given(given, changes["a"].form if lodges else own, lodges)
    if case.pair and dtype_of(changes["a"].dtype).itemsize != dtype_of(changes["b"].dtype).itemsize:
        changes["b"] = replace(changes["b"], dtype=changes["a"].dtype)
    out = case.out
    host = changes.get(out.where.removeprefix("is "))
    changes["out"] = replace(out, given=_cuda_given(out.given, host.form if host else kind, host is not None))
    case = case.but(queue=chance.choice((0, 0, 0, 1, 1, 2, 3)), **changes)
    if case.pair == "reversed" and case.a.form == "torch":
        case = case.but(pair="turned")
    return tied(case)


def _cuda_given(given: Given, kind: str, fixed: bool = False) -> Given:
    """The operand as an array of a framework that can hold it: PyTorch has narrow floats, and no strides below 0."""
    dtype = given.dtype if given.dtype in MULTIPLIED else "float32"
    form = kind if fixed or dtype in TYPES[kind] else "torch"
    lie = given.lie
    if form == "torch":
        lie = replace(lie, steps=tuple(map(abs, lie.steps)))
    return replace(given, dtype=dtype if dtype in TYPES[form] else "float32", lie=lie, form=form)
