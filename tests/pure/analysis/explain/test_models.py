"""The hardware rules: every pattern that an H200's counters were read for, and properties that any pattern must have."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.analysis.explain import models
from tilewright.analysis.explain.models import (
    AMD_WAVE32,
    AMD_WAVE64,
    FAMILIES,
    GT200,
    HD_4870,
    HD_5870,
    INTEL_8,
    INTEL_16,
    KEPLER_4,
    KEPLER_8,
    MODELS,
    NVIDIA,
    find_model,
    model_for,
)
from tilewright.analysis.explain.models.rules import (
    Model,
    as_rows,
    blocks_touched,
    split_access,
    unique_bytes,
    wavefronts,
)
from tilewright.core.device import DeviceInfo
from tilewright.errors import UnknownName

Pattern = Callable[[np.ndarray], np.ndarray]

# Loads from local memory: (bits, what the lanes' addresses are in units of the access, wavefronts counted on an H200).
COUNTED: list[tuple[int, str, Pattern, int]] = [
    (32, "i", lambda i: i, 1),
    (32, "2i", lambda i: 2 * i, 2),
    (32, "32i", lambda i: 32 * i, 32),
    (32, "33i", lambda i: 33 * i, 1),
    (64, "i", lambda i: i, 2),
    (64, "2i", lambda i: 2 * i, 4),
    (64, "i%16", lambda i: i % 16, 2),
    (64, "i/2", lambda i: i // 2, 1),
    (64, "equal", lambda i: 0 * i, 1),
    (128, "i", lambda i: i, 4),
    (128, "2i", lambda i: 2 * i, 8),
    (128, "8i", lambda i: 8 * i, 32),
    (128, "equal", lambda i: 0 * i, 2),
    (128, "i/16", lambda i: i // 16, 2),
    (128, "i/8", lambda i: i // 8, 2),
    (128, "i/4", lambda i: i // 4, 2),
    (128, "i/2", lambda i: i // 2, 2),
    (128, "i%2", lambda i: i % 2, 2),
    (128, "i%8", lambda i: i % 8, 4),
    (128, "i%16", lambda i: i % 16, 4),
    (128, "(i&1)|((i>>2)<<1)", lambda i: (i & 1) | ((i >> 2) << 1), 2),
]
# Global loads: (bits, pattern, sectors counted, sectors that Nsight Compute calls ideal where it was read).
SECTORS: list[tuple[int, str, Pattern, int, int | None]] = [
    (128, "uniform", lambda i: 0 * i, 1, None),
    (32, "uniform", lambda i: 0 * i, 1, 1),
    (128, "i", lambda i: i, 16, None),
    (64, "i", lambda i: i, 8, None),
    (32, "2i", lambda i: 2 * i, 8, 4),
    (32, "i+1", lambda i: i + 1, 5, None),
]


def of(model: Model, pattern: Pattern, size: int, operation: str = "load") -> tuple[int, int]:
    addresses = (pattern(np.arange(model.lanes)) * size)[None].astype(np.int64)
    counts, fewest = wavefronts(model, addresses, np.ones((1, model.lanes), bool), size, operation)
    return int(counts[0]), int(fewest[0])


@pytest.mark.parametrize(("bits", "name", "pattern", "counted"), COUNTED, ids=[f"{c[0]}-bit {c[1]}" for c in COUNTED])
def test_wavefronts_are_those_that_the_h200_counted(bits: int, name: str, pattern: Pattern, counted: int) -> None:
    assert of(NVIDIA, pattern, bits // 8)[0] == counted


def test_stores_of_128_bits_into_rows_of_256_bytes_take_32_wavefronts() -> None:
    assert of(NVIDIA, lambda i: 16 * i, 16, "store")[0] == 32
    assert of(NVIDIA, lambda i: i, 16, "store") == (4, 4)


@pytest.mark.parametrize(
    ("bits", "name", "pattern", "counted", "ideal"), SECTORS, ids=[f"{s[0]} {s[1]}" for s in SECTORS]
)
def test_sectors_are_those_that_the_h200_counted(
    bits: int, name: str, pattern: Pattern, counted: int, ideal: int | None
) -> None:
    size = bits // 8
    addresses = (pattern(np.arange(32)) * size)[None].astype(np.int64)
    active = np.ones((1, 32), bool)
    assert blocks_touched(addresses, active, size, 32)[0] == counted
    if ideal is not None:
        assert -(-unique_bytes(addresses, active, size)[0] // 32) == ideal


def test_the_two_columns_of_a_padded_tile_conflict_on_32_lanes_but_not_on_16() -> None:
    def column(i: np.ndarray) -> np.ndarray:
        return np.asarray(i % 16 * 17 + i // 16)

    assert of(NVIDIA, column, 4) == (2, 1)
    assert of(GT200, column, 4) == (1, 1)
    assert of(NVIDIA, lambda i: i % 16 * 16 + i // 16, 4) == (8, 1)
    assert of(GT200, lambda i: i % 16 * 16 + i // 16, 4) == (16, 1)


def test_lanes_that_return_ask_for_nothing() -> None:
    addresses = (np.arange(32) * 128)[None].astype(np.int64)
    active = np.arange(32)[None] < 5
    assert wavefronts(NVIDIA, addresses, active, 4, "load")[0][0] == 5
    nobody = np.zeros((1, 32), bool)
    assert wavefronts(NVIDIA, addresses, nobody, 4, "load")[0][0] == 0
    assert blocks_touched(addresses, nobody, 4, 32)[0] == 0


def test_stores_do_not_merge_pairs() -> None:
    assert of(NVIDIA, lambda i: i // 2, 8, "store")[0] == 2
    assert of(NVIDIA, lambda i: i // 2, 16, "store")[0] == 4


def test_small_elements_share_words() -> None:
    assert of(NVIDIA, lambda i: i, 2)[0] == 1
    assert of(NVIDIA, lambda i: i, 1)[0] == 1
    assert of(NVIDIA, lambda i: 64 * i, 1)[0] == 16  # 64 bytes apart: every second bank row falls on two banks


def test_amd_reads_128_bits_in_eight_groups_of_eight() -> None:
    assert of(AMD_WAVE64, lambda i: i, 4) == (2, 2)
    assert of(AMD_WAVE64, lambda i: 32 * i, 4) == (64, 2)
    assert of(AMD_WAVE64, lambda i: i, 16, "store") == (8, 8)
    phases = AMD_WAVE64.phases_of(16, "load")
    assert sorted(lane for phase in phases for lane in phase) == list(range(64))
    assert phases[0] == (0, 1, 2, 3, 20, 21, 22, 23)
    assert of(AMD_WAVE32, lambda i: i, 4) == (1, 1)
    assert of(INTEL_16, lambda i: i, 4) == (1, 1)


def test_keplers_banks_give_eight_bytes_in_a_pass() -> None:
    """The examples of NVIDIA's programming guide for both modes, and wider accesses."""
    for model in (KEPLER_4, KEPLER_8):
        assert of(model, lambda i: i, 4) == (1, 1)
        assert of(model, lambda i: 2 * i, 4) == (1, 1), "a stride of two words is free in both modes"
        assert of(model, lambda i: 32 * i, 4) == (16, 1)
        assert of(model, lambda i: i, 8) == (1, 1)
        assert of(model, lambda i: i, 16) == (2, 2)
        assert of(model, lambda i: 0 * i, 4) == (1, 1)
    assert of(KEPLER_4, lambda i: 33 * i, 4) == (1, 1)
    assert of(KEPLER_4, lambda i: 18 * i, 4)[0] > 1
    assert of(KEPLER_8, lambda i: 18 * i, 4) == (1, 1), "why the tutorial pads rows of 16 by two"
    assert of(KEPLER_4, lambda i: i % 2 * 32, 4) == (1, 1), "words 32 apart, in one segment of 64"
    assert of(KEPLER_4, lambda i: i % 2 * 32 + 32, 4) == (2, 1), "in two segments"
    assert of(KEPLER_8, lambda i: i % 2 * 64, 4) == (2, 1)


@pytest.mark.parametrize("model", [KEPLER_4, KEPLER_8])
@given(words=st.lists(st.integers(0, 511), min_size=32, max_size=32), shift=st.integers(0, 8))
def test_keplers_counts_repeat_with_the_period(model: Model, words: list[int], shift: int) -> None:
    def lanes(by: int) -> Pattern:
        return lambda i: np.asarray(words)[i] + by

    assert of(model, lanes(0), 4) == of(model, lanes(shift * model.period // 4), 4)
    if model is KEPLER_4:
        assert of(model, lanes(0), 4)[0] <= of(NVIDIA, lanes(0), 4)[0]


def test_a_radeon_without_local_memory_of_its_own_counts_sectors_for_it() -> None:
    assert of(HD_5870, lambda i: i, 4) == (2, 2)
    assert of(HD_5870, lambda i: 32 * i, 4) == (64, 2)
    assert of(HD_4870, lambda i: i, 4) == (4, 4)
    assert of(HD_4870, lambda i: 16 * i, 4) == (64, 4)
    assert "global memory" in HD_4870.local_rule
    assert "32 banks" in HD_5870.local_rule


def test_every_model_says_what_it_rests_on() -> None:
    assert {model.name for model in MODELS if model.verified} == {"nvidia"}
    for model in MODELS:
        assert model.evidence
        assert find_model(model.name) is model
    with pytest.raises(UnknownName, match="amd64"):
        find_model("amd")


def test_a_model_stands_in_a_file_of_its_family_and_is_found_by_all_its_names() -> None:
    folder = Path(models.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "rules"}
    assert {family.__name__.rsplit(".", 1)[1] for family in FAMILIES} == files
    names = [name for model in MODELS for name in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    assert all(name in (find_model(name).name, *find_model(name).aliases) for name in names)
    assert [find_model(name) for name in ("h100", "sm_90", "a100")] == [NVIDIA] * 3
    assert [find_model(name) for name in ("mi300", "rdna3")] == [AMD_WAVE64, AMD_WAVE32]


@pytest.mark.parametrize(
    ("vendor", "kind", "width", "model"),
    [
        ("NVIDIA Corporation", "gpu", 32, NVIDIA),
        ("Advanced Micro Devices, Inc.", "gpu", 64, AMD_WAVE64),
        ("AMD", "gpu", 32, AMD_WAVE32),
        ("AMD", "gpu", 0, AMD_WAVE64),
        ("Intel(R) Corporation", "gpu", 16, INTEL_16),
        ("Intel(R) Corporation", "gpu", 8, INTEL_8),
        ("Intel(R) Corporation", "gpu", 64, INTEL_16),
        ("Intel(R) Corporation", "cpu", 0, NVIDIA),
        ("Apple", "gpu", 32, NVIDIA),
    ],
)
def test_a_device_gets_the_model_of_its_vendor_and_width(vendor: str, kind: str, width: int, model: Model) -> None:
    assert model_for(DeviceInfo("a device", "a platform", vendor, kind=kind, sub_group_width=width)) is model


def test_accesses_split_into_powers_of_two() -> None:
    assert split_access(16, 16, 16) == [(0, 16)]
    assert split_access(32, 32, 16) == [(0, 16), (16, 16)]
    assert split_access(16, 4, 16) == [(0, 4), (4, 4), (8, 4), (12, 4)]
    assert split_access(12, 4, 16) == [(0, 4), (4, 4), (8, 4)]
    assert split_access(12, 16, 16) == [(0, 8), (8, 4)]


def test_a_group_fills_sub_groups_of_its_own() -> None:
    rows = as_rows(np.arange(2 * 48)[None], 48, 32)
    assert rows.shape == (1, 4, 32)
    assert rows[0, 1, 15] == 47
    assert rows[0, 1, 16] == 0
    assert rows[0, 2, 0] == 48


addresses_of_a_request = st.lists(st.integers(0, 255), min_size=32, max_size=32)


def slow_wavefronts(words: list[int], active: list[bool]) -> int:
    """Conflicts of 4-byte accesses by the definition, lane by lane."""
    banks: dict[int, set[int]] = {}
    for word, on in zip(words, active, strict=True):
        if on:
            banks.setdefault(word % 32, set()).add(word)
    return max((len(each) for each in banks.values()), default=0)


@given(addresses_of_a_request, st.lists(st.booleans(), min_size=32, max_size=32))
def test_counts_are_those_of_the_definition(words: list[int], active: list[bool]) -> None:
    addresses, on = np.array([words], np.int64) * 4, np.array([active])
    assert wavefronts(NVIDIA, addresses, on, 4, "load")[0][0] == slow_wavefronts(words, active)
    touched = {word * 4 // 32 for word, each in zip(words, active, strict=True) if each}
    assert blocks_touched(addresses, on, 4, 32)[0] == len(touched)


@given(addresses_of_a_request, st.sampled_from([1, 2, 4, 8, 16]), st.integers(1, 4), st.sampled_from(MODELS))
def test_moving_a_request_by_whole_periods_changes_nothing(
    units: list[int], size: int, periods: int, model: Model
) -> None:
    lanes = (units * 2)[: model.lanes]
    addresses, on = np.array([lanes], np.int64) * size, np.ones((1, model.lanes), bool)
    moved = addresses + periods * model.period
    for operation in ("load", "store"):
        one, other = (wavefronts(model, each, on, size, operation) for each in (addresses, moved))
        assert one[0][0] == other[0][0] >= one[1][0]
    for block in (model.sector, model.line):
        assert blocks_touched(addresses, on, size, block)[0] == blocks_touched(moved, on, size, block)[0]


@given(st.lists(st.integers(0, 4000), min_size=32, max_size=32), st.sampled_from([1, 2, 4, 8, 12, 16]))
def test_misaligned_accesses_count_every_block_and_byte(starts: list[int], size: int) -> None:
    addresses, on = np.array([starts], np.int64), np.ones((1, 32), bool)
    touched = {byte for start in starts for byte in range(start, start + size)}
    assert unique_bytes(addresses, on, size)[0] == len(touched)
    assert blocks_touched(addresses, on, size, 32)[0] == len({byte // 32 for byte in touched})
