"""The fuzzer's CUDA arrays without a GPU: what it does with their memory, streams and types."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import fuzz_calls
import numpy as np
import pytest
from fuzz_calls import desk

from tools.fuzz.cases import Case, Given, Lie, Out
from tools.fuzz.check import FAILED, RIGHT, check
from tools.fuzz.cuda_frameworks import TYPES, Frameworks, Torch
from tools.fuzz.draw import Palette, draw
from tools.fuzz.memory import Geometry, geometry
from tools.fuzz.oracle import EITHER, WORKS, expect
from tools.fuzz.shapes import Pool
from tools.fuzz.types import MULTIPLIED, dtype_of

POOL = Pool(((300, 300, 513, 1), (5, 7, 40, 2), (1, 257, 30, 1)), (16, 32, 513))
CHAINED = Case(call="gemm", m=9, n=8, k=30, precision="reproducible")


def drawn() -> list[Case]:
    palette = Palette(lambda dtype, moves: POOL, ("cuda",))
    return [draw(seed, palette) for seed in range(3000)]


class PretendedTensors:
    """A framework whose arrays are NumPy's. Those that are staged have not landed yet."""

    landed = finished = 0

    def staged(self, data: np.ndarray) -> tuple[Any, Any]:
        return np.array(data), np.full_like(data, 0xEE)

    def land(self, staged: Any, whole: Any) -> None:
        whole[...] = staged
        self.landed += 1

    def view(self, whole: Any, place: Geometry, begin: int) -> Any:
        return place.view(whole, begin + place.low)

    def holds(self, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def fetched(self, array: Any) -> np.ndarray:
        return np.array(array)

    def late(self) -> None:
        assert not self.landed

    def side(self) -> int:
        return 17

    def on(self, stream: Any) -> Any:
        return nullcontext()

    def handle(self, stream: Any) -> int:
        return int(stream)

    def finish(self) -> None:
        self.finished += 1


def cuda_desk(**changed: Any) -> Any:
    made = Frameworks({"cupy": PretendedTensors, "torch": PretendedTensors})
    return replace(desk(**changed), frameworks=made)


ON_GPU = Case(
    place="cuda", m=5, n=4, k=7, a=Given(form="torch"), b=Given(form="cupy"), out=Out("own", Given(lie=Lie(steps=(2,))))
)


@pytest.mark.parametrize("queue", [0, 1, 2, 3])
def test_cuda_arrays_are_compared_with_all_that_lies_around_them(queue: int) -> None:
    for case in (ON_GPU.but(queue=queue), ON_GPU.but(queue=queue, out=Out()), ON_GPU.but(queue=queue, m=0)):
        assert check(case, cuda_desk()).verdict == RIGHT, check(case, cuda_desk()).reason
    case = ON_GPU.but(queue=queue)
    for out, broken, told in (
        (case.out, fuzz_calls.writes_behind_out, "byte -1 of the memory of out"),
        (case.out, fuzz_calls.writes_a_gap, "byte 4 of the memory of out"),
        (Out(), fuzz_calls.spoils_a, "of the memory of a changed"),
        (Out(), fuzz_calls.off_by_one_bit, "1 of 20 elements are wrong"),
        (case.out, fuzz_calls.off_by_one_bit, "came back instead of out"),
    ):
        outcome = check(case.but(out=out), cuda_desk(matmul=broken))
        assert outcome.verdict == FAILED
        assert told in outcome.reason
    wrong = check(case.but(out=Out()), cuda_desk(matmul=lambda *given, **others: [1.0]))
    assert "a builtins.list came back for arrays of torch" in wrong.reason


def test_the_stream_is_named_as_the_case_says() -> None:
    seen = []

    def noting(a: Any, b: Any, queue: Any = None, **given: Any) -> Any:
        seen.append(queue)
        return fuzz_calls.matmul(a, b)

    for queue in (0, 1, 2, 3):
        assert check(ON_GPU.but(queue=queue, out=Out()), cuda_desk(matmul=noting)).verdict == RIGHT
    assert seen == [None, None, 17, 17]


def test_parts_of_reproducible_products_are_cuda_arrays_too() -> None:
    case = CHAINED.but(place="cuda", a=Given(form="cupy"), b=Given(form="cupy"), queue=1)
    assert check(case, cuda_desk(gemm=fuzz_calls.chained)).verdict == RIGHT
    found = [check(case.but(seed=seed), cuda_desk(gemm=fuzz_calls.free_sums)).verdict for seed in range(20)]
    assert FAILED in found


def same_size(case: Case) -> bool:
    return dtype_of(case.a.dtype).itemsize == dtype_of(case.b.dtype).itemsize


def test_cuda_cases_ask_no_framework_for_what_it_lacks() -> None:
    cases = drawn()
    kinds = set()
    for case in cases:
        named = {**case.operands, **({"out": case.out.given} if case.out.where in ("own", "a", "b", "c") else {})}
        kinds.add((case.a.form, case.queue))
        for name, given in named.items():
            if given.form == "plain":  # a faulty out, of the kind of a
                continue
            assert given.dtype in TYPES[given.form], (case.seed, name)
            assert name != "b" or case.pair in ("", "copy") or same_size(case), case.seed
            assert given.form == "cupy" or min(given.lie.steps, default=0) >= 0, (case.seed, name)
        assert not (case.pair == "reversed" and case.a.form == "torch")
    assert kinds == {(form, queue) for form in TYPES for queue in range(4)}
    assert {"requires grad", "out requires grad", "numpy beside cuda", "host tensor beside cuda"} <= {
        each.fault for each in cases
    }
    outcomes = [expect(case, desk().info).outcome for case in cases]
    assert outcomes.count(WORKS) > 0.7 * len(cases)
    assert outcomes.count(EITHER) < 0.03 * len(cases)


def test_tensors_are_views_of_the_bytes_that_were_sent() -> None:
    pytest.importorskip("torch")
    torch = Torch("cpu")
    for name in MULTIPLIED:
        dtype = dtype_of(name)
        for lie in (Lie(), Lie("columns"), Lie(steps=(2, 3)), Lie(steps=(0,)), Lie("swapped", (1, 2))):
            place = geometry((2, 3, 4), dtype, lie)
            data = np.random.default_rng(1).integers(0, 2, place.span + 64, np.uint8)
            staged, whole = torch.staged(data)
            view = torch.view(whole, place, 16)
            assert (np.asarray(torch.fetched(whole)) == 0xEE).all()
            torch.land(staged, whole)
            assert torch.holds(view)
            found = torch.fetched(view)
            assert found.dtype == dtype
            assert found.tobytes() == np.array(place.view(data, 16)).tobytes()
    assert torch.fetched(torch.view(whole, geometry((2, 0), dtype, Lie()), 0)).shape == (2, 0)
    with pytest.raises(ValueError, match="no tensor of"):
        torch.view(whole, geometry((2, 3), np.dtype(np.float32), Lie(steps=(-1,))), 64)
