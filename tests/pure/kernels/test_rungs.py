"""The files of the ladders: names, lessons, signatures, and that files and entries agree."""

import re
from pathlib import Path

import pytest

from tilewright.core.kernel import KERNELS, Kernel, Ladder
from tilewright.core.source import parse_signature
from tilewright.errors import UnknownName
from tilewright.kernels import LADDERS, all_kernels, find_kernel, find_ladder, matches_rung, rung_before, select
from tilewright.kernels.known_bad import KNOWN_BAD

RUNGS = [kernel for ladder in LADDERS.values() for kernel in ladder.with_originals]
NUMBERED = re.compile(r"\d\d[a-z]?_[a-z0-9]+(_[a-z0-9]+)*\.cl")
FOLDERS = sorted({kernel.source.parent for kernel in (*RUNGS, *KNOWN_BAD)})


def sources_of(ladder: Ladder) -> list[Path]:
    """Each file once, in the order of the ladder."""
    return list(dict.fromkeys(kernel.source for kernel in ladder.kernels))


@pytest.mark.parametrize("kernel", [*RUNGS, *KNOWN_BAD], ids=lambda kernel: kernel.name)
def test_a_rung_has_a_numbered_file_that_begins_with_its_lesson(kernel: Kernel) -> None:
    assert NUMBERED.fullmatch(kernel.source.name), kernel.source.name
    first = kernel.text.splitlines()[0]
    assert first.startswith("// "), f"{kernel.name} begins with {first!r}"
    assert kernel.lesson == first.removeprefix("// ")
    assert kernel.lesson.endswith("."), f"the lesson of {kernel.name} is no whole sentence: {kernel.lesson}"
    assert not re.search(r"\. [A-Z]", kernel.lesson), f"the lesson of {kernel.name} is more than one: {kernel.lesson}"
    assert len(first) <= (110 if kernel in RUNGS and not kernel.source.stem.endswith("_production") else 150)


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)
def test_files_and_entries_agree(ladder: Ladder) -> None:
    folder = ladder.kernels[0].source.parent
    assert folder.name == ladder.name
    files = [path for path in sorted(folder.glob("*.cl")) if path.name[0].isdigit()]
    sources = sources_of(ladder)
    own = [path for path in sources if path.parent == folder]
    assert own == files, "the ladder and its folder differ, or are in another order"
    assert {path.parent for path in sources[len(own) :]} <= {KERNELS / "product" / ladder.name}, (
        "a rung of the library's"
    )
    numbers = [path.name.partition("_")[0] for path in sources]
    assert len(set(numbers)) == len(numbers), "a number is double"
    whole = [int(number) for number in numbers if number.isdigit()]
    assert whole == list(range(whole[0], whole[0] + len(whole))), "a number is missing"


def test_texts_name_rungs_by_their_words() -> None:
    """Numbers in sentences would have to change with the files."""
    texts = [path for ending in ("*.cl", "*.py") for path in KERNELS.rglob(ending)]
    found = [path.name for path in texts if re.search(r"\b[Rr]ungs? \d", path.read_text(encoding="utf-8"))]
    assert not found


def test_known_bad_kernels_and_their_files_agree() -> None:
    folder = KNOWN_BAD[0].source.parent
    assert [each.source for each in KNOWN_BAD] == sorted(folder.glob("*.cl"))
    assert not {each.name for each in KNOWN_BAD} & {each.name for each in RUNGS}
    for kernel in KNOWN_BAD:
        assert kernel.lesson.startswith(("Wrong: ", "Slow: ")), kernel.name


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)
def test_neighbours_share_the_names_of_their_arguments(ladder: Ladder) -> None:
    signatures = [  # a tensor map only says how an operand lies
        [
            each.name
            for each in parse_signature(path.read_text(), path.name).parameters
            if not each.name.startswith("map_")
        ]
        for path in sources_of(ladder)
    ]
    for path, before, after in zip(sources_of(ladder)[1:], signatures, signatures[1:], strict=False):
        if path.stem.endswith("_production"):  # the library's own kernel takes what the library needs
            continue
        assert len(before) == len(after), f"{path.name} has other arguments than the rung before: {before}, {after}"
        changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) <= 1, f"{path.name} renames {changed}"


@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_published_figures_name_their_device(kernel: Kernel) -> None:
    for device, figure in kernel.published:
        assert device
        assert figure > 0


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)
def test_a_ladder_says_what_it_is_and_where_its_figures_come_from(ladder: Ladder) -> None:
    assert find_ladder(ladder.name) is ladder
    assert ladder.title
    assert ladder.origin


def test_names_are_unique_and_found() -> None:
    names = [kernel.name for kernel in (*RUNGS, *KNOWN_BAD)]
    assert len(set(names)) == len(names)
    for name in names:
        assert find_kernel(name).name == name
    assert list(all_kernels()) == names


@pytest.mark.parametrize(
    ("full", "wanted", "matches"),
    [
        ("tiles/02_tiled", "2", True),
        ("tiles/02_tiled", "02", True),
        ("rows/00_sequential[r-k-c]", "rows/00", True),
        ("rows/00_sequential[r-k-c]", "rows/00[r-k-c]", True),
        ("rows/00_sequential[r-k-c]", "rows/sequential[r-k-c]", True),
        ("rows/00_sequential[r-k-c]", "rows/00[k-r-c]", False),
        ("tiles/02_tiled", "tiled", True),
        ("tiles/02_tiled", "02_tiled", True),
        ("tiles/02_tiled", "tiles/2", True),
        ("tiles/02_tiled", "rows/2", False),
        ("tiles/02_tiled", "tile", False),
        ("tiles/02_tiled", "", False),
        ("tiles/11_clblas_style", "1", False),
        ("tiles/07a_between", "7", False),
        ("tiles/07a_between", "7a", True),
        ("tiles/07a_between", "tiles/07a", True),
        ("tiles/07_wide_loads", "7a", False),
        ("tiles/07_wide_loads", "", False),
        ("rows/00_sequential", "", False),
        ("rows/00_sequential[r-k-c]", "0", True),
        ("rows/00_sequential[r-k-c]", "sequential", True),
        ("rows/00_sequential[r-k-c]", "00_sequential[r-k-c]", True),
        ("rows/00_sequential[r-k-c]", "00_sequential[c-k-r]", False),
        ("tiles/07_wide_loads[published]", "tiles/7[published]", True),
        ("tiles/07_wide_loads[published]", "Wide_Loads[Published]", True),
        ("tiles/07_wide_loads[published]", "tiles/7[other]", False),
        ("tiles/07_wide_loads", "tiles/7[published]", False),
    ],
)
def test_a_rung_is_named_by_number_or_words(full: str, wanted: str, matches: bool) -> None:
    assert matches_rung(full, wanted) is matches


def test_selection_keeps_the_order_asked_for_and_takes_no_rung_twice() -> None:
    tiles = find_ladder("tiles")
    assert select(tiles, ()) == tiles.kernels
    assert [each.name for each in select(tiles, ("3", "naive", "tiles/3"))] == [
        "tiles/03_more_work_per_item",
        "tiles/01_naive",
    ]
    assert len(select(find_ladder("rows"), ("0",))) == 6
    with pytest.raises(UnknownName, match="'77'"):
        select(tiles, ("1", "77"))


def test_a_kernel_as_it_was_published_is_meant_only_where_it_is_named() -> None:
    tiles = find_ladder("tiles")
    assert find_kernel("tiles/7").variant == ""
    assert find_kernel("tiles/7[published]") in tiles.originals
    assert [each.variant for each in select(tiles, ("tiles/7",))] == [""]
    assert [each.variant for each in select(tiles, ("tiles/7[published]",))] == ["published"]
    assert [each.variant for each in select(tiles, ("tiles/7",), published=True)] == ["", "published"]
    assert select(tiles, (), published=True) == tiles.with_originals
    assert set(tiles.with_originals) == {*tiles.kernels, *tiles.originals}


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)
def test_originals_are_variants_of_rungs_and_follow_them(ladder: Ladder) -> None:
    names = [kernel.name.partition("[")[0] for kernel in ladder.with_originals]
    assert list(dict.fromkeys(names)) == list(dict.fromkeys(each.name.partition("[")[0] for each in ladder.kernels))
    for kernel in ladder.originals:
        assert kernel.variant, kernel.name
        before = rung_before(kernel)
        assert before is not None
        assert before.name == kernel.rung
    files = sorted((ladder.kernels[0].source.parent / "published").glob("*.cl"))
    assert sorted({each.source for each in ladder.originals if each.source.parent.name == "published"}) == files


@pytest.mark.parametrize("ladder", LADDERS.values(), ids=LADDERS)
def test_every_figure_belongs_to_one_source(ladder: Ladder) -> None:
    devices = [device for source in ladder.publications for device in source.devices]
    assert len(set(devices)) == len(devices)
    figures = {device for kernel in ladder.with_originals for device, _ in kernel.published}
    libraries = {device for source in ladder.publications for device, _, _ in source.others}
    assert figures | libraries <= set(devices)


def test_every_folder_of_a_ladder_lies_with_the_kernels() -> None:
    folders = {folder.parent if folder.name == "published" else folder for folder in FOLDERS}
    assert all(folder.parent in (KERNELS, KERNELS / "ladders", KERNELS / "product") for folder in folders)
