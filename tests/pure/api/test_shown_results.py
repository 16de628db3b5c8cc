"""The results of the calls that need no device, and arguments as callers write them."""

from pathlib import Path
from typing import Any

import pytest

import tilewright
from tilewright.core.device import DeviceInfo
from tilewright.core.problems import make_problem
from tilewright.core.shown import Shown
from tilewright.errors import InvalidInput, UnknownName

MY_GEMM = Path(__file__).parents[3] / "examples" / "my_gemm.cl"
TILED = tilewright.find_kernel("tiles/2")
OWN = {"global_size": "N,M/ROWS", "local_size": (32, 4), "settings": {"ROWS": 8}}


def results() -> dict[str, Shown]:
    info = DeviceInfo("Device", "Platform")
    return {
        "explain": tilewright.explain("tiles/2", 32),
        "what_if": tilewright.what_if("transpose/5", 32, sweep={"PAD": (0, 1)}),
        "plan": tilewright.plan_kernel(TILED, make_problem(TILED, 32), info),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name: str) -> None:
    result = RESULTS[name]
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300
    assert result._repr_html_().startswith("<pre")
    assert len(result.to_csv().splitlines()) == 1 + len(result.to_rows()) > 1


def test_explain_takes_a_file_by_its_name() -> None:
    for name in (MY_GEMM, str(MY_GEMM)):
        assert not tilewright.explain(name, 64, **OWN).faults  # type: ignore[arg-type]


def test_sizes_that_were_not_given_are_guessed(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(MY_GEMM.read_text(encoding="utf-8").replace("tilewright:", ""), encoding="utf-8")
    found = tilewright.explain(str(path), 64, settings={"ROWS": 1})
    assert "--global M,N --local 16,16" in found.assumed[0]
    assert not found.faults


@pytest.mark.parametrize("kernel", ["nosuch.cl", 5])
def test_what_is_no_kernel_is_said(kernel: Any) -> None:
    with pytest.raises(InvalidInput, match=str(kernel)):
        tilewright.explain(kernel, 64)


def test_a_rung_has_a_geometry_already() -> None:
    with pytest.raises(InvalidInput, match=r"tiles/02_tiled(?=.*global_size)"):
        tilewright.explain("tiles/2", 64, global_size="M,N", local_size="16,16")


def test_a_size_may_be_a_text() -> None:
    assert (
        tilewright.explain("tiles/2", "64x32x16").global_size == tilewright.explain("tiles/2", (64, 32, 16)).global_size
    )


def test_ladders_are_listed_and_shown() -> None:
    assert str(tilewright.list("tiles")).startswith("tiles ")
    assert list(tilewright.list()) == list(tilewright.LADDERS)
    assert "tiles (11 rungs)" in repr(tilewright.LADDERS)
    assert "print" in (type(tilewright.LADDERS).__doc__ or "")
    assert tilewright.show("tiles/2") == tilewright.find_kernel("tiles/2").text
    assert tilewright.show("tiles/2", diff=True).startswith("--- 01_naive.cl")
    with pytest.raises(UnknownName, match="tile"):
        tilewright.list("tilez")
    with pytest.raises(InvalidInput, match="tiles/01_naive"):
        tilewright.show("tiles/1", diff=True)
