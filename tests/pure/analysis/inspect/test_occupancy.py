"""Occupancy against published examples, the hardware's own limits, and the figures that a compiler prints."""

import pytest
from paths import DATA

from tilewright.analysis.inspect.gcn import metadata
from tilewright.analysis.inspect.occupancy import MULTIPROCESSORS, find_multiprocessor, occupancy
from tilewright.errors import UnknownName


@pytest.mark.parametrize(
    ("arch", "items", "registers", "local_bytes", "groups", "waves", "limiter"),
    [
        # CUDA C++ Best Practices Guide, "Calculating Occupancy": 75 % with 12 blocks, 63 % with 4.
        ("sm_70", 128, 37, 0, 12, 48, "registers"),
        ("sm_70", 320, 37, 0, 4, 40, "registers"),
        # CUDA C++ Programming Guide, "Multiprocessor Level": 2 blocks of 512 with 64 registers, 1 with one more.
        ("sm_70", 512, 64, 0, 2, 32, "registers"),
        ("sm_70", 512, 65, 0, 1, 16, "registers"),
        # From 8.0 on each block loses 1 KB of shared memory: of 228 KB, blocks of 227 KB or 113 KB take all.
        ("sm_90", 128, 32, 227 << 10, 1, 4, "local memory"),
        ("sm_90", 128, 32, 113 << 10, 2, 8, "local memory"),
        ("sm_90", 128, 32, 114 << 10, 1, 4, "local memory"),
        ("sm_80", 256, 32, 0, 8, 64, "waves"),
        ("sm_80", 32, 16, 0, 32, 32, "work-groups"),
        ("sm_86", 1024, 32, 0, 1, 32, "waves"),
        ("sm_89", 32, 16, 0, 24, 24, "work-groups"),
        ("sm_120", 768, 40, 0, 2, 48, "waves"),
        ("sm_75", 1024, 64, 0, 1, 32, "waves"),
        # A block that can never have its registers does not run at all.
        ("sm_90", 1024, 72, 0, 0, 0, "registers"),
        # AMD: 512 registers for each lane of a SIMD, in steps of 8, four SIMDs.
        ("gfx90a", 256, 64, 0, 8, 32, "waves"),
        ("gfx90a", 256, 65, 0, 7, 28, "registers"),
        ("gfx90a", 256, 24, 32768, 2, 8, "local memory"),
        ("gfx1100", 256, 96, 0, 8, 64, "waves"),
        ("gfx1100", 256, 97, 0, 6, 48, "registers"),
        ("gfx1100", 256, 256, 0, 2, 16, "registers"),
        # Intel's GPU Occupancy Calculator: 64 hardware threads of 32 lanes on an Xe-core, 128 KB of local memory.
        ("pvc", 256, 128, 64 << 10, 2, 16, "local memory"),
        ("pvc", 256, 128, 16 << 10, 8, 64, "waves"),
        ("pvc", 256, 128, 17 << 10, 5, 40, "local memory"),  # 17 KB take 24
        ("pvc", 256, 256, 0, 4, 32, "registers"),
        ("pvc", 1024, 128, 129 << 10, 0, 0, "local memory"),
        ("dg2", 256, 128, 17 << 10, 4, 64, "local memory"),  # 17 KB take 32
        ("tgllp", 64, 128, 0, 28, 112, "waves"),
    ],
)  # fmt: skip
def test_known_examples(
    arch: str, items: int, registers: int, local_bytes: int, groups: int, waves: int, limiter: str
) -> None:
    found = occupancy(find_multiprocessor(arch), items, registers, local_bytes)
    assert (found.groups, found.waves, found.limiter) == (groups, waves, limiter)
    assert found.part == waves / found.most_waves


def test_what_fits_without_registers_and_local_memory_is_limited_by_waves_and_groups_alone() -> None:
    for chip in MULTIPROCESSORS.values():
        found = occupancy(chip, chip.group_items, 0, 0)
        assert set(found.limits) == {"work-groups", "waves"}
        assert 0 < found.waves <= chip.waves


def test_groups_of_one_wavefront_need_no_barrier_on_amd() -> None:
    assert occupancy(find_multiprocessor("gfx90a"), 64, 16, 0).groups == 32
    assert occupancy(find_multiprocessor("gfx90a"), 128, 16, 0).groups == 16


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
def test_llvm_reckons_the_same(arch: str) -> None:
    values = metadata((DATA / f"tiles_02.{arch}.s").read_text(encoding="utf-8"))
    chip = find_multiprocessor(arch)
    found = occupancy(chip, 256, int(values["vgpr_count"]), int(values["group_segment_fixed_size"]))
    assert found.waves == chip.units * int(values["Occupancy"])


def test_more_of_anything_never_fits_more() -> None:
    for chip in MULTIPROCESSORS.values():
        before = None
        for registers in range(1, 256):
            groups = occupancy(chip, 256, registers, 0).groups
            assert before is None or groups <= before
            before = groups


def test_names_of_architectures() -> None:
    assert find_multiprocessor("sm_90a").name == "sm_90"
    assert find_multiprocessor("gfx90a:sramecc+:xnack-").name == "gfx90a"
    with pytest.raises(UnknownName, match="sm_90"):
        find_multiprocessor("sm_91")


def test_an_occupancy_says_what_limits_it() -> None:
    chip = find_multiprocessor("sm_90")
    assert str(occupancy(chip, 256, 128, 17408)) == (
        "25%: 2 work-groups = 16 of 64 waves on a multiprocessor, limited by registers"
    )
    assert "no work-group fits" in str(occupancy(chip, 1024, 72, 0))
