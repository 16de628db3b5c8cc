"""Kernels that are slow for one known reason: `why` puts it first, with its line. Good rungs get no complaint."""

from dataclasses import replace
from pathlib import Path

import devices
import pytest
from canned_answers import GUARD, H200, TWO_CORES, answer_of, copy_of, kernel_of
from says import says

from tilewright.advice import rungs
from tilewright.analysis.inspect.counts import Loop, Mix, Resources
from tilewright.analysis.inspect.occupancy import MULTIPROCESSORS, occupancy
from tilewright.analysis.inspect.record import Inspection
from tilewright.kernels import find_kernel, rung_before
from tilewright.kernels.settings import with_settings

IDS = "const int column = get_global_id(0), row = get_global_id(1);"
SWAPPED = "const int row = get_global_id(0), column = get_global_id(1);"
SUM = "REAL sum = 0;\nfor (int k = 0; k < K; k++)\n    sum += A[row * K + k] * B[k * N + column];\nC[row * N + column] = sum;"


def code_of(effects: dict[str, int], opcodes: dict[str, int], lanes: int = 1, **fields: object) -> Inspection:
    """Machine code whose main loop has these instructions. A multiply-add computes `lanes` products."""
    instructions = sum(effects.values())
    mix = Mix(instructions, effects, effects.get("multiply-add", 0) * lanes, opcodes)
    found = Inspection(
        "k", "c", "float32", "arch", "title", 256, "tool", "SASS", Resources(32, 0), None, mix, Loop(1, 0, mix, {}), 1
    )
    return replace(found, **fields)  # type: ignore[arg-type]


def test_a_naive_product_fetches_its_data_too_often(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, f"{IDS}\n{GUARD}\n{SUM}")
    first, *others = answer_of(kernel, 0.05, devices.NVIDIA, H200).causes
    assert first.kind == "data fetched many times"
    assert [line.number for line in first.lines] == [7]
    assert says(first.counted, "A", "B", "134 MB")
    assert says(first.show, "tiles/2", "diff")
    assert first.gain > 2
    assert "no reuse in registers" in [each.kind for each in others]


def test_a_strided_product_is_told_from_a_naive_one(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, f"{SWAPPED}\n{GUARD}\n{SUM}", sizes=("M", "N"))
    first = answer_of(kernel, 0.3, devices.NVIDIA, H200).causes[0]
    assert first.kind == "strided access"
    assert [line.number for line in first.lines] == [7]
    assert says(first.counted, "stride", "line 7")


@pytest.mark.parametrize(("sizes", "exchanged"), [(("M*N",), False), (("M*N", "1"), False), (("M", "N"), True)])
def test_ids_are_exchanged_where_there_are_two(sizes: tuple[str, ...], exchanged: bool, tmp_path: Path) -> None:
    body = "const int i = (get_global_id(0) * 32 + get_global_id(1)) % (M * N);\nC[i] = A[i];"
    kernel = kernel_of(tmp_path, body, ("32", "1")[: len(sizes)], sizes)
    causes = answer_of(kernel, 0.01, devices.NVIDIA, H200).causes
    strided = next(each for each in causes if each.kind == "strided access")
    assert ("exchange the roles of the two ids" in strided.remedy) == exchanged
    assert ("give work-item i the elements i, i +" in strided.remedy) != exchanged


def test_a_transpose_by_rows_writes_with_a_stride(tmp_path: Path) -> None:
    body = (
        "const int x = get_global_id(0), y = get_global_id(1);\nif (x >= COLUMNS || y >= ROWS) return;\n"
        "output[x * ROWS + y] = input[y * COLUMNS + x];"
    )
    first = answer_of(copy_of(tmp_path, body, "transpose"), 0.00015, devices.NVIDIA, H200).causes[0]
    assert (first.kind, [line.number for line in first.lines]) == ("strided access", [5])
    assert says(first.show, "transpose/5")


def test_bank_conflicts_come_first_where_a_tile_is_read_by_columns(tmp_path: Path) -> None:
    body = (
        "__local REAL tile[32][32];\nconst int x = get_local_id(0), y = get_local_id(1);\n"
        "const int column = get_group_id(0) * 32, row = get_group_id(1) * 32;\n"
        "for (int i = y; i < 32; i += 8)\n    tile[i][x] = input[(row + i) * COLUMNS + column + x];\n"
        "barrier(CLK_LOCAL_MEM_FENCE);\n"
        "for (int i = y; i < 32; i += 8)\n    output[(column + i) * ROWS + row + x] = tile[x][i];"
    )
    kernel = copy_of(tmp_path, body, "transpose")
    kernel = replace(kernel, config=replace(kernel.config, global_size=("COLUMNS", "ROWS/4")))  # type: ignore[call-arg]
    first = answer_of(kernel, 0.0002, devices.NVIDIA, H200).causes[0]
    assert (first.kind, [line.number for line in first.lines]) == ("bank conflicts", [10])
    assert says(first.counted, "pitch", 33)


def test_one_work_group_leaves_the_other_units_idle(tmp_path: Path) -> None:
    body = (
        "for (int at = get_global_id(0); at < M * N; at += 256) {\nconst int row = at / N, column = at % N;\n"
        f"{SUM}\n}}"
    )
    kernel = kernel_of(tmp_path, body, ("256",), ("256",))
    first = answer_of(kernel, 1.0, devices.NVIDIA, H200, (1024,)).causes[0]
    assert first.kind == "too few work-groups"
    assert says(first.counted, 1, 132)
    on_cpu = answer_of(kernel, 1.0, devices.CPU, TWO_CORES, (512,))
    assert "too few work-groups" in [each.kind for each in on_cpu.causes]


def test_a_sum_in_global_memory_is_named(tmp_path: Path) -> None:
    step = "C[row * N + column] += A[row * K + k] * B[k * N + column];"
    kernel = kernel_of(tmp_path, f"{IDS}\n{GUARD}\nC[row * N + column] = 0;\nfor (int k = 0; k < K; k++)\n    {step}")
    causes = answer_of(kernel, 0.2, devices.NVIDIA, H200).causes
    kept = next(each for each in causes if each.kind == "sum kept in memory")
    assert [line.number for line in kept.lines] == [7]
    assert says(kept.counted, "C")
    assert says(kept.show, "rows/3")


def test_narrow_loads_are_named_once_registers_are_reused() -> None:
    kernel = with_settings(find_kernel("tiles/6"), {"BM": "64", "BN": "64", "TM": "4", "TN": "4"})
    narrow = next(each for each in answer_of(kernel, 6e-3, devices.NVIDIA, H200).causes if each.kind == "narrow loads")
    assert {43, 47} & {line.number for line in narrow.lines}
    assert says(narrow.show, "tiles/7")


def test_a_loop_of_few_multiply_adds_is_said() -> None:
    code = code_of({"multiply-add": 1, "global load 32": 2, "integer": 6, "control": 1}, {"FFMA": 1})
    causes = answer_of("tiles/1", 0.05, devices.NVIDIA, H200, code=code).causes
    few = next(each for each in causes if each.kind == "few multiply-adds in the loop")
    assert says(few.counted, 10, 2)


def test_branches_leave_lanes_idle(tmp_path: Path) -> None:
    tiled = f"{IDS}\n{GUARD}\nREAL sum = 0;\nfor (int k = 0; k < K; k++) {{\nif (get_global_id(0) % 2)\n"
    tiled += "    sum += A[row * K + k] * B[k * N + column];\nelse\n    sum += B[k * N + column] * A[row * K + k];\n}\n"
    answer = answer_of(kernel_of(tmp_path, f"{tiled}C[row * N + column] = sum;"), 0.05, devices.NVIDIA, H200)
    idle = next(each for each in answer.causes if each.kind == "idle lanes")
    assert {8, 10} <= {line.number for line in idle.lines}
    assert says(idle.counted, "lanes", "warp")


def test_a_narrow_work_group_leaves_lanes_idle(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, f"{IDS}\n{GUARD}\n{SUM}", ("8", "1"))
    idle = next(each for each in answer_of(kernel, 0.2, devices.NVIDIA, H200).causes if each.kind == "idle lanes")
    assert says(idle.counted, 8, 32)
    assert says(idle.remedy, "multiple", 32)


def test_spilled_registers_are_counted_in_the_machine_code() -> None:
    code = code_of({"multiply-add": 10, "private load 32": 30, "private store 32": 10}, {"FFMA": 10})
    causes = answer_of("tiles/10", 0.02, devices.NVIDIA, H200, code=code).causes
    assert causes[0].kind in ("registers spill", "few multiply-adds in the loop")
    spill = next(each for each in causes if each.kind == "registers spill")
    assert says(spill.counted, 40, 50)


def test_a_long_private_array_is_named_without_machine_code() -> None:
    causes = answer_of("rows/6", 0.965, replace(devices.NVIDIA, compute_units=1), H200).causes
    assert [each for each in causes if each.kind == "registers spill" and says(each.counted, "own_row", "16,384")]


def test_division_in_the_loop_is_found_in_source_and_code(tmp_path: Path) -> None:
    body = f"{IDS}\n{GUARD}\nREAL sum = 0;\nfor (int k = 0; k < K; k++)\n    sum += A[row * K + k % K] * B[k % K * N + column];\n"
    kernel = kernel_of(tmp_path, f"{body}C[row * N + column] = sum;")
    code = code_of({"multiply-add": 1, "integer": 30, "global load 32": 2, "control": 2}, {"FFMA": 1, "IMAD": 20})
    found = answer_of(kernel, 0.2, devices.NVIDIA, H200, code=code).causes
    division = next(each for each in found if each.kind == "integer division")
    assert [line.number for line in division.lines] == [7]
    clean = code_of({"multiply-add": 8, "integer": 4, "global load 32": 2}, {"FFMA": 8})
    assert not [
        each for each in answer_of(kernel, 0.2, devices.NVIDIA, H200, code=clean).causes if "division" in each.kind
    ]


def test_conversions_in_the_loop_are_found() -> None:
    code = code_of({"multiply-add": 4, "convert": 8, "local load 32": 4}, {"FFMA": 4})
    kinds = [each.kind for each in answer_of("tiles/6", 0.03, devices.NVIDIA, H200, code=code).causes]
    assert "conversions" in kinds


def test_scalar_code_on_a_cpu_is_not_vectorised() -> None:
    code = code_of({"multiply-add": 4, "load 32": 4, "integer": 2}, {"vfmadd231ss": 4})
    first = answer_of("cpu/1", 0.5, devices.CPU, TWO_CORES, (512,), code).causes[0]
    assert first.kind == "not vectorised"
    assert says(first.counted, 4, 16)
    vector = code_of({"multiply-add": 4, "load 512": 4}, {"vfmadd231ps": 4}, lanes=16)
    kinds = [each.kind for each in answer_of("cpu/1", 0.5, devices.CPU, TWO_CORES, (512,), vector).causes]
    assert "not vectorised" not in kinds


def test_gathers_on_a_cpu_are_named() -> None:
    code = code_of({"multiply-add": 8, "gathered load": 2, "load 32": 8}, {"vfmadd231ps": 8, "vgatherdps": 2}, lanes=16)
    kinds = [each.kind for each in answer_of("cpu/1", 0.05, devices.CPU, TWO_CORES, (512,), code).causes]
    assert "gathers" in kinds


def test_low_occupancy_matters_only_far_from_the_bounds() -> None:
    few = occupancy(MULTIPROCESSORS["sm_90"], 256, 255, 0)
    assert few.part < 0.25
    mix = {"multiply-add": 64, "local load 128": 4}
    code = code_of(mix, {"FFMA": 64}, occupancy=few)
    slow = answer_of("tiles/10", 0.02, devices.NVIDIA, H200, code=code)
    assert "low occupancy" in [each.kind for each in slow.causes]
    assert "low occupancy" not in [
        each.kind for each in answer_of("tiles/10", 0.003, devices.NVIDIA, H200, code=code).causes
    ]


def test_a_last_wave_with_little_in_it_is_said() -> None:
    full = occupancy(MULTIPROCESSORS["sm_90"], 256, 128, 0)
    code = code_of({"multiply-add": 64, "local load 128": 4}, {"FFMA": 64}, occupancy=full)
    answer = answer_of("tiles/10", 0.0004, devices.NVIDIA, H200, (128 * 17, 128 * 16, 1024), code)
    tail = next(each for each in answer.causes if each.kind == "tail wave")
    assert says(tail.counted, 272, 132)


def test_a_tiny_problem_is_dominated_by_its_launch() -> None:
    answer = answer_of("tiles/10", 0.000002, devices.NVIDIA, H200, (128,), wall=0.00001)
    assert answer.causes[0].kind in ("launch overhead", "too few work-groups")
    launch = next(each for each in answer.causes if each.kind == "launch overhead")
    assert launch.gain == pytest.approx(5)


def test_little_work_between_barriers_is_said() -> None:
    kinds = [each.kind for each in answer_of("rows/6", 0.965, devices.NVIDIA, H200).causes]
    assert "barriers" in kinds


@pytest.mark.parametrize(("rung", "seconds"), [("07", 5.43e-3), ("08", 8.86e-3), ("09", 5.55e-3), ("10", 4.34e-3)])
def test_good_rungs_get_none_of_the_complaints_of_naive_ones(rung: str, seconds: float) -> None:
    kinds = {each.kind for each in answer_of(f"tiles/{rung}", seconds, devices.NVIDIA, H200).causes}
    assert not kinds & {
        "data fetched many times",
        "strided access",
        "no reuse in registers",
        "bank conflicts",
        "idle lanes",
    }


def test_no_gain_is_larger_than_what_the_other_bounds_allow() -> None:
    answer = answer_of("tiles/1", 0.05, devices.NVIDIA, H200)
    arithmetic = next(each.seconds for each in answer.limits if each.name == "multiply-adds")
    assert all(1 < each.gain <= 0.05 / arithmetic and 0 < each.part <= 1 for each in answer.causes)
    assert [each.gain for each in answer.causes] == sorted((each.gain for each in answer.causes), reverse=True)


@pytest.mark.parametrize("rung", sorted({*rungs.ON_GPUS.values(), *rungs.ON_CPUS.values()}))
def test_every_rung_that_an_answer_names_exists(rung: str) -> None:
    assert find_kernel(rung).lesson
    assert rung_before(rung) is not None or rung in ("tiles/1", "cpu/1")
