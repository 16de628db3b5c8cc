"""How many programs random products build on an H200's facts: no more than now."""

import random
from dataclasses import replace

import pytest

from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.cuda_cores_tma.config import CudaCoresConfig
from tilewright.kernels.product.mma.config_tma import MmaTmaConfig
from tools.program_counts import (
    DEVICE,
    TABLES,
    TYPES,
    by_kernel,
    left_without,
    main,
    program_of,
    programs_of,
    random_products,
    random_side,
)

# What 200 products build. Another count is no fault where plans gained by it; more programs are what first calls wait for.
MOST = {"float32": 147, "float64": 119, "float16": 152, "bfloat16": 160, "int8": 152, "complex64": 106}


@pytest.mark.parametrize("dtype", TYPES)
def test_no_more_programs_are_built(dtype: str) -> None:
    steps = tuple(programs_of(dtype, 200, 1).values())
    assert 0 < len(steps) <= MOST[dtype]
    assert sum(by_kernel(steps).values()) == len(steps)


def program(m: int, n: int, k: int, dtype: str, **others: object) -> object:
    (step,) = plan_product(Gemm(m, n, k, dtype, **others), DEVICE, TABLES).steps  # type: ignore[arg-type]
    return program_of(step)


def test_small_operands_share_a_program_of_wgmma() -> None:
    assert program(48, 256, 2048, "float16", b_order="column") == program(40, 232, 2112, "float16", b_order="column")


def test_a_lone_product_shares_the_program_of_a_batch() -> None:
    for problem in (Gemm(64, 64, 64), Gemm(64, 64, 64, batch=2)):
        for config in (CudaCoresConfig(256, 128), MmaTmaConfig(64, 64, 2, 4, 8)):
            macros = config.macros(replace(problem, dtype="float64") if isinstance(config, MmaTmaConfig) else problem)
            assert macros["A_BATCHED"] == macros["B_BATCHED"] == 1


def test_what_multiplies_programs_is_told() -> None:
    steps = [step for step in programs_of("float32", 40, 1).values() if step.kernel.name == "portable/main_loop"]
    left = left_without(steps)
    assert list(left.values()) == sorted(left.values())
    assert 0 < left["A_VEC"] <= len(steps)
    assert "REAL" not in left  # a single value multiplies nothing


def test_a_seed_gives_the_same_products() -> None:
    one, same, other = (list(random_products("float32", 5, seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert all(1 <= random_side(random.Random(seed)) <= 8192 for seed in range(200))


def test_the_table_and_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dtype", "int8", "--count", "3", "--macros"]) == 0
    assert capsys.readouterr().out.startswith("int8")
    for words, named in ((["--count", "0"], "0 products"), (["--dtype", "float33"], "float33")):
        with pytest.raises(SystemExit):
            main(words)
        assert named in capsys.readouterr().err
