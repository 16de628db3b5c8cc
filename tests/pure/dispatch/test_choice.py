"""The choice among all families: one stream of candidates, the cheapest first, of which no more is built than is asked for."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from devices import CPU, HOPPER
from families import kernels_of

from tilewright.core import source
from tilewright.core.kernel import Config, Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import FAMILIES, plan_product, product_candidates
from tilewright.errors import Unsupported
from tilewright.kernels import find_kernel
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.family import Candidate, Group, cheapest_first, ranked
from tilewright.kernels.product.portable import search as portable
from tilewright.kernels.product.wgmma import search as wgmma
from tilewright.kernels.settings import with_settings

PROBLEMS = (
    Gemm(4096, 4096, 4096, "float16"),
    Gemm(70, 80, 5000),
    Gemm(5, 3000, 2000, "float64"),
    Gemm(300, 500, 700, "float32", "column", "column", precision="tf32"),
    Gemm(33, 65, 129, "complex64", batch=40),
    StridedGemm(
        190, 210, 900, "bfloat16", views=(Layout(1, 903, 1), Layout(0, 1, 901), Layout(0, 211, 1)), out_dtype="float32"
    ),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.title)
def test_all_families_are_one_sorted_stream(problem: Gemm) -> None:
    ranks = [each.rank for each in ranked(FAMILIES, call_of(problem), HOPPER)]
    assert len(ranks) > 30
    assert ranks == sorted(ranks)


def costs_within(offer: Candidate | Group, floors: tuple[float, ...] = ()) -> Iterator[tuple[float, tuple[float, ...]]]:
    """The cost of every candidate with the floors of the groups around it."""
    if isinstance(offer, Candidate):
        yield offer.cost, floors
        return
    for inner in offer.open():
        yield from costs_within(inner, (*floors, offer.floor))


@pytest.mark.parametrize("family", [portable, wgmma], ids=["portable", "wgmma"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.title)
def test_no_candidate_costs_less_than_its_group_says(problem: Gemm, family: object) -> None:
    found = [each for offer in family.offers(call_of(problem), HOPPER) for each in costs_within(offer)]  # type: ignore[attr-defined]
    assert bool(found) == (
        family is portable or problem.dtype in ("float16", "bfloat16") or problem.precision == "tf32"
    )
    for cost, floors in found:
        assert floors
        assert max(floors) <= cost


def test_what_is_dear_is_not_opened() -> None:
    opened = []

    def group(floor: float) -> Group:
        def candidates() -> list[Candidate]:
            opened.append(floor)
            return [Candidate(find_kernel("tiles/01"), Config(), floor + extra) for extra in (1.0, 0.5)]

        return Group(floor, candidates)

    stream = cheapest_first(group(floor) for floor in (9.0, 2.0, 1.0))
    assert [each.cost for each in islice(stream, 3)] == [1.5, 2.0, 2.5]
    assert opened == [1.0, 2.0]


def test_a_plan_configures_what_it_tries_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Config] = []

    def configured(self: Candidate) -> Kernel:
        made.append(self.config)
        kernel: Kernel = unwatched(self)
        return kernel

    unwatched = Candidate.configured.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Candidate, "configured", property(configured))
    for problem in PROBLEMS:
        made.clear()
        found = plan_product(problem, HOPPER)
        assert len(made) == 1 + len({(each.kernel, each.config) for each in found.rejected})


@pytest.mark.parametrize("sizes", [(0, 5, 7), (5, 0, 7), (5, 7, 0)])
def test_products_of_nothing_have_plans(sizes: tuple[int, int, int]) -> None:
    for dtype in ("float32", "float16", "float64"):
        for batch in (1, 0):
            assert plan_product(Gemm(*sizes, dtype, batch=batch), HOPPER).steps


def test_what_no_kernel_can_make_is_refused_at_once() -> None:
    with pytest.raises(Unsupported, match=r"\bfloat32\b.*\bint32\b"):
        plan_product(Gemm(100, 100, 100, out_dtype="int32"), HOPPER)


def test_keys_name_candidates_and_have_nothing_to_do_with_how_they_are_printed() -> None:
    problem = Gemm(300, 500, 700, "float32", "column", "column", precision="tf32")
    kernels = list(product_candidates(problem, HOPPER))
    names = [(each.name, tuple(each.config.key.items())) for each in kernels]
    assert len(set(names)) == len(names)
    held = next(each.config for each in kernels_of(wgmma, problem, HOPPER))
    assert type(held)(**held.key) == held


def test_signatures_are_parsed_once_for_each_version_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.cl"
    path.write_text("__kernel void first(__global float* a) {\n}\n")
    parsed: list[str] = []
    parse_signature = source.parse_signature

    def parse(text: str, filename: str) -> source.Signature:
        parsed.append(filename)
        return parse_signature(text, filename)

    monkeypatch.setattr(source, "parse_signature", parse)
    kernel = Kernel(path, Config())
    assert [kernel.signature.entry for _ in range(3)] == ["first"] * 3
    path.write_text("__kernel void the_second(__global float* a) {\n}\n")
    assert [kernel.signature.entry for _ in range(3)] == ["the_second"] * 3
    assert len(parsed) == 2


def test_the_last_rung_for_cpus_is_cut_for_the_devices_cores() -> None:
    (step,) = plan_kernel(find_kernel("cpu/06"), Gemm(500, 500, 500), CPU).steps
    assert step.config.key["units"] == CPU.compute_units


def test_the_last_rung_for_cpus_obeys_settings_of_cores_and_cache() -> None:
    made = with_settings(find_kernel("cpu/06"), {"units": 3, "level2_bytes": 2 * 2**20})
    (step,) = plan_kernel(made, Gemm(500, 500, 500), replace(CPU, compute_units=2, level2_bytes=2**20)).steps
    assert step.config.key["units"] == 3
    macros = step.config.macros(step.problem)
    assert (macros["MR"], macros["NV"]) == (6, 4), "the tile of a large level-2 cache"
