"""Makes a case wrong in one way, where the fault that is drawn can be made of it."""

import random
from dataclasses import replace

from .cases import Case, Given, Out, count
from .draw_places import OBJECTS
from .faults import CUDA, DEVICE, NAMES, OTHERS, OUTS, SHAPES
from .limits import LIMIT_FAULTS
from .oracle import usual_result


def faulty(chance: random.Random, case: Case) -> Case:
    """The case with something wrong in it, if the fault that is drawn can be made of it."""
    own = {"device": DEVICE, "cuda": CUDA, "host": LIMIT_FAULTS if case.device and case.call != "copy" else ()}
    fault = chance.choice((*SHAPES, *OUTS, *NAMES, *OTHERS, *own[case.place], *own[case.place]))
    return _wrong(chance, case.but(pair="") if case.pair else case, fault)


def _wrong(chance: random.Random, case: Case, fault: str) -> Case:
    gemm, host = case.call == "gemm", case.place == "host"
    tensor = case.a.form == "torch" and case.a.dtype in ("float16", "float32", "float64")
    beside = case.is_product and count(case.shape_of("b")) > 1 and not case.out.where.endswith("b")
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
        "out type": case.is_product and real, "queue elsewhere": not host, "queue beside limits": case.in_tiles,
        "wait beside limits": case.in_tiles, "requires grad": tensor, "out requires grad": tensor,
        "numpy beside cuda": beside, "opencl beside cuda": beside, "host tensor beside cuda": beside and tensor,
    }  # fmt: skip
    if fault in ("alpha", "beta"):
        if not gemm or not real or (fault == "beta" and case.c is None):
            return case
        return case.but(**{fault: chance.choice(("None", "text", "list", "0.5+2j", "10**400"))})
    if not possible.get(fault, True):
        return case
    if fault.startswith("out") and fault not in ("out list", "out number") and case.out.where != "own":
        case = case.but(out=Out("own", Given(case.a.dtype if not case.is_product else usual_result(case))))
    if fault == "out read-only" and not host:
        return case
    if fault == "out type":
        case = case.but(out=Out("own", Given("int32")))
    if fault == "masked":
        case = case.but(a=replace(case.a, form="masked"))
    return case.but(fault=fault)
