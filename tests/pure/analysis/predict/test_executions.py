"""How often machine code runs, from counted accesses and loops."""

from collections import Counter

import pytest

from tilewright.analysis.inspect.sass import parse_sass
from tilewright.analysis.predict.executions import AccessMean, regions_of, set_times, source_counts
from tilewright.analysis.predict.pipeline import cycles, step_of
from tilewright.analysis.predict.work import instructions_of

HERE = "own/kernel.cl"
UNROLLED = """
.text.kernel:
	//## File "own/kernel.cl", line 2
        /*0000*/                   MOV R1, 0x0 ;
.L_x_0:
	//## File "own/kernel.cl", line 4
        /*0010*/                   LDG.E R2, desc[UR4][R4.64] ;
        /*0020*/                   LDG.E R3, desc[UR4][R4.64+0x4] ;
        /*0030*/                   FFMA R6, R2, R3, R6 ;
	//## File "own/kernel.cl", line 3
        /*0040*/                   VIADD R7, R7, 0xfffffffe ;
        /*0050*/                   ISETP.NE.AND P0, PT, R7, RZ, PT ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
	//## File "own/kernel.cl", line 5
        /*0070*/                   STG.E desc[UR4][R8.64], R6 ;
        /*0080*/                   EXIT ;
.L_x_1:
        /*0090*/                   BRA `(.L_x_1);
        /*00a0*/                   NOP;
"""
ONLY = (0, 0, 0)


def access(line: int, requests: float, operation: str = "load") -> AccessMean:
    return AccessMean(
        (HERE, line), operation, False, 4, requests, 4 * requests, requests, 128 * requests, 128 * requests, 32
    )


def timed(accesses: list[AccessMean], loops: dict[tuple[str, int], Counter[tuple[int, int, int]]]) -> list[float]:
    regions = regions_of(parse_sass(UNROLLED, "kernel"))
    set_times(regions, source_counts(accesses, loops, {ONLY: 1.0}, 2))
    return [each.times for each in regions]


def test_an_unrolled_loop_runs_as_often_as_its_loads_need() -> None:
    # Two warps make 100 iterations each, with one load; the machine code has two copies of it.
    assert timed([access(4, 200), access(5, 2, "store")], {}) == [1.0, 50.0]


def test_without_loads_the_counter_tells_how_often() -> None:
    assert timed([], {(HERE, 3): Counter({ONLY: 200})}) == [1.0, 50.0]


def test_code_that_nothing_reaches_is_not_counted() -> None:
    regions = regions_of(parse_sass(UNROLLED, "kernel"))
    set_times(regions, source_counts([access(4, 200)], {}, {ONLY: 1.0}, 2))
    found = instructions_of(regions)
    assert found.issued == 3 + 50 * 6  # MOV, STG, EXIT; no BRA to itself, no NOP
    assert found.floats == 50


@pytest.mark.parametrize(("latency", "least"), [(30.0, 30.0), (400.0, 400.0)])
def test_loads_in_flight_together_wait_once(latency: float, least: float) -> None:
    loop = regions_of(parse_sass(UNROLLED, "kernel"))[1].instructions
    own = cycles((step_of(each, lambda _: latency) for each in loop), loops=True)
    assert least < own < least + 20


def test_a_loop_whose_loads_were_never_made_does_not_run() -> None:
    assert timed([access(5, 2, "store")], {}) == [1.0, 0.0]
