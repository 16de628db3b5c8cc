"""The level-2 cache: what Linux says, else what the driver says if it can be that, else unknown."""

from pathlib import Path

import pytest

from tilewright.runtime.caches import data_cache, level2_bytes

KIB, MIB = 2**10, 2**20


def add_cache(system: Path, cpu: int, index: int, level: str, kind: str, size: str) -> None:
    folder = system / f"cpu{cpu}" / "cache" / f"index{index}"
    folder.mkdir(parents=True)
    for name, text in (("level", level), ("type", kind), ("size", size)):
        (folder / name).write_text(text + "\n")


def add_core(system: Path, cpu: int, level2: str) -> None:
    """A processor as Linux describes one, the instructions' cache before and after the data's."""
    caches = (("1", "Instruction", "32K"), ("1", "Data", "48K"), ("2", "Instruction", "64K"), ("2", "Unified", level2))
    for index, (level, kind, size) in enumerate((*caches, ("3", "Unified", "307200K"))):
        add_cache(system, cpu, index, level, kind, size)


def test_the_levels_are_told_apart(tmp_path: Path) -> None:
    add_core(tmp_path, 0, "2048K")
    assert [data_cache(tmp_path / "cpu0" / "cache", level) for level in (1, 2, 3, 4)] == [
        48 * KIB,
        2 * MIB,
        300 * MIB,
        0,
    ]


def test_what_linux_says_counts_more_than_the_driver(tmp_path: Path) -> None:
    add_core(tmp_path, 0, "1M")
    assert level2_bytes(2 * MIB, tmp_path) == MIB


def test_the_smallest_of_different_cores_counts(tmp_path: Path) -> None:
    add_core(tmp_path, 0, "2048K")
    add_core(tmp_path, 10, "1280K")
    (tmp_path / "cpufreq").mkdir()
    (tmp_path / "cpu11").mkdir()  # one that is switched off has no caches
    assert level2_bytes(0, tmp_path) == 1280 * KIB


@pytest.mark.parametrize(
    ("reported", "found"),
    [(2 * MIB, 2 * MIB), (512 * KIB, 512 * KIB), (32 * MIB, 0), (32 * KIB, 0), (0, 0)],
    ids=["level 2", "a small one", "level 3", "level 1", "nothing"],
)
def test_without_linuxs_description_the_driver_is_believed_if_it_can_mean_level_2(
    tmp_path: Path, reported: int, found: int
) -> None:
    assert level2_bytes(reported, tmp_path) == found
    assert level2_bytes(reported, tmp_path / "missing") == found


@pytest.mark.parametrize("size", ["", "many", "K", "-1K", "2048k2"])
def test_a_description_that_says_nothing_is_passed_over(tmp_path: Path, size: str) -> None:
    add_cache(tmp_path, 0, 0, "2", "Unified", size)
    assert level2_bytes(0, tmp_path) == 0
    assert level2_bytes(MIB, tmp_path) == MIB


def test_a_description_without_its_files_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "cpu0" / "cache" / "index0").mkdir(parents=True)
    assert level2_bytes(MIB, tmp_path) == MIB
