"""Settings, dtypes and names of kernels: obeyed or refused alike by every call that takes a kernel."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright import compare_explanations, custom_kernel, explain, find_kernel, inspect, rung_before, what_if, why
from tilewright.core.problem import Gemm
from tilewright.core.problems import make_problem
from tilewright.errors import InvalidInput, UnknownName, Unsupported
from tilewright.kernels.settings import chosen_kernel, with_settings
from tilewright.measurement.ladders import run_kernel
from tilewright.measurement.roofline import roofline_kernel

MINE = "__kernel void mine(__global REAL* C) { if (get_local_size(0) == TS) C[get_global_id(0)] = 0; }\n"
CALLS: dict[str, Callable[..., object]] = {
    "explain": explain,
    "what_if": what_if,
    "inspect": lambda kernel, **given: inspect(kernel, "sm_90", **given),
    "roofline": roofline_kernel,
    "run_kernel": lambda kernel, **given: run_kernel(kernel, (64,), **given),
    "why": lambda kernel, **given: why(kernel, device_model="nvidia", **given),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call_refuses_a_setting_that_the_rung_does_not_have(call: Callable[..., object]) -> None:
    with pytest.raises(UnknownName, match="NONSENSE"):
        call("tiles/02", settings={"NONSENSE": 3} if call is not what_if else None, **swept(call, "NONSENSE", 3))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call_refuses_a_setting_without_a_geometry(call: Callable[..., object]) -> None:
    with pytest.raises(InvalidInput, match="BM=0"):
        call("tiles/02", settings={"BM": 0} if call is not what_if else None, **swept(call, "BM", 0))


def swept(call: Callable[..., object], name: str, value: int) -> dict[str, object]:
    return {"sweep": {name: (value,)}} if call is what_if else {}


def test_settings_change_a_rung_and_its_name() -> None:
    kernel = chosen_kernel("tiles/02", {"BM": "16", "BN": 16, "BK": 16})
    assert kernel.name == "tiles/02_tiled[BM=16 BN=16 BK=16]"
    assert kernel.config.ndrange(Gemm(20, 40, 8)).global_size == (32, 48)
    assert kernel.smaller == ()
    assert chosen_kernel(kernel) is kernel


def test_settings_of_a_file_are_its_macros(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(MINE)
    kernel = with_settings(custom_kernel(path, ["M"], ["TS"], {"TS": 8}), {"TS": 4})
    assert kernel.config.macros(Gemm(1, 1, 1)) == {"TS": "4"}
    assert kernel.config.ndrange(Gemm(16, 1, 1)).local_size == (4,)


HEAD = "// tilewright: --problem copy --global COLUMNS,ROWS --local 16,4 -D TS=16\n"
COPY = (
    "__kernel void mine(__global REAL* output, const __global REAL* input, int COLUMNS) {\n"
    "    size_t i = get_global_id(1) * COLUMNS + get_global_id(0);\n"
    "    if (get_local_size(0) == TS) output[i] = input[i];\n}\n"
)


@pytest.mark.parametrize("given", [str, Path])
def test_a_path_means_the_file_with_the_options_of_its_head(
    given: Callable[[Path], str | Path], tmp_path: Path
) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(HEAD + COPY)
    kernel = chosen_kernel(given(path))
    assert kernel.operation == "copy"
    assert kernel.config.ndrange(make_problem(kernel, (8, 32))).global_size == (32, 8)
    own = chosen_kernel(given(path), {"TS": 8}, local_size=(8, 2))
    assert own.config.macros(make_problem(own, (8, 32))) == {"TS": "8"}
    assert own.config.ndrange(make_problem(own, (8, 32))).local_size == (8, 2)
    stored = [each for each in explain(given(path), (8, 32)).accesses if each.operation == "store"]
    assert sum(each.cost for each in stored) == 8 * 32 * 4 / 32


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call_reads_the_head_of_a_file(call: Callable[..., object], tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(f"// A lesson.\n// tilewright: --locl 4\n{COPY}")
    with pytest.raises(InvalidInput, match=re.escape(f"{path}:2: unrecognized arguments: --locl 4")):
        call(path)


def test_explain_obeys_settings_with_the_geometry_and_the_constraints() -> None:
    assert explain("tiles/02", 64, settings={"BM": 16, "BN": 16, "BK": 16}).local_size == (16, 16)
    with pytest.raises(Unsupported, match="BM=16"):
        explain("tiles/02", 64, settings={"BM": 16})


def test_without_a_dtype_a_kernel_is_explained_in_its_own() -> None:
    found = explain("tensor/01", 128)
    assert make_problem(find_kernel("tensor/01"), (64,)).dtype == "float16"
    assert make_problem(find_kernel("tiles/02"), (64,)).dtype == "float32"
    assert sum(each.cost for each in found.accesses if each.operation == "store" and each.space == "global") == 1024


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_dtype_that_a_kernel_does_not_have_is_refused(dtype: str) -> None:
    with pytest.raises(Unsupported, match=f"no {dtype}; it has float16"):
        explain("tensor/01", 128, dtype=dtype)


def test_an_offset_of_a_product_is_refused() -> None:
    with pytest.raises(InvalidInput, match="offset of 3"):
        explain("tiles/02", 64, offset=3)


def test_a_sweep_keeps_the_constraints_and_counts_the_rest() -> None:
    answers = what_if("tiles/02", 64, sweep={"BM": (16, 32)}).answers
    assert [answer.settings for answer in answers] == [(("BM", "16"),), (("BM", "32"),)]
    assert answers[0].totals is None
    assert "BM=16, BN=32, BK=32" in answers[0].reason
    assert answers[1].totals is not None
    assert what_if("tiles/02", 64, settings={"BM": 16, "BN": 16}, sweep={"BK": (16,)}).answers[0].totals is not None


def test_a_pitch_keeps_the_settings() -> None:
    (answer,) = what_if("tiles/02", 64, settings={"BM": 16}, pitches={"tile_a": (17,)}).answers
    assert answer.totals is None
    assert "not square" in answer.reason


def test_a_sweep_of_a_word_that_a_file_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(MINE)
    kernel = custom_kernel(path, ["M"], ["4"])
    (answer,) = what_if(kernel, 16, sweep={"TS": (4,)}).answers
    assert answer.totals is not None
    with pytest.raises(UnknownName, match="NOPE"):
        what_if(kernel, 16, sweep={"NOPE": (4,)})


def test_a_kernel_is_compared_with_the_rung_before() -> None:
    before = rung_before("transpose/05")
    assert before is not None
    assert before.name == "transpose/04_naive"
    assert rung_before("transpose/01") is None
    assert rung_before(replace(before, source=Path("mine.cl"))) is None
    lines = compare_explanations(explain(before), explain("transpose/05"))
    assert "transpose/04_naive" in lines[0]
    assert any("8,192, before 32,768" in line for line in lines)


def test_the_launches_before_the_last_are_kept() -> None:
    found = explain("tiles/05", 64)
    assert [each.entry for each in found.earlier] != [found.entry]
    assert len(found.earlier) == 1


@pytest.mark.parametrize("name", ["5", "naive", "rows/0", "rows/00_sequential"])
def test_a_name_that_fits_several_kernels_is_refused_with_all_of_them(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        find_kernel(name)
    assert str(refused.value).count("/") >= 4
    assert name in str(refused.value)


def test_the_host_figure_stands_at_the_loop_order_of_the_host_program() -> None:
    assert find_kernel("rows/00_sequential[r-k-c]").published == (("CPU of 2012, one core", 0.191),)
    assert find_kernel("rows/00_sequential[r-c-k]").published == ()
