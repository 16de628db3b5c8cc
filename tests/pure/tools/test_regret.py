"""Random shapes and the tables of regret."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from example_records import RECORD

from tilewright.core.problem import compulsory_bytes
from tilewright.errors import RecordError
from tilewright.reports.plot import load_drawable
from tools.regret.__main__ import main
from tools.regret.measured import Regret, load_regret, save_regret
from tools.regret.plans import Other, Shape
from tools.regret.shapes import DRAWS, MOST_BYTES, MOST_FLOPS, drawn
from tools.regret.table import markdown, regret_table, rows_of, text, worst_of

SHAPES = (
    Shape("thin", "one", "NN", "kernel", 1e-3, 20, (Other("other", 0.5),), (Other("NumPy", 2.0),)),
    Shape("thin", "two", "NT", "numpy.matmul", 1e-6, 20, (), (Other("NumPy", 0.99),)),
    Shape(
        "stacks", "three", "TN", "kernel", 1e-3, 20, (Other("other", 1.5),), (Other("NumPy", 0.25), Other("MKL", 0.8))
    ),
    Shape("stacks", "four", "TT", reason="wrong: an element"),
)
REGRET = Regret("float32", RECORD.environment, 1000, 1, 0.5, SHAPES)


@pytest.mark.parametrize("where", ["cpu", "gpu"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_shapes_are_the_same_within_limits_and_of_all_kinds(where: str, dtype: str) -> None:
    found = list(islice(drawn(dtype, where, 1), 40))
    assert found[:7] == list(islice(drawn(dtype, where, 1), 7))
    assert found != list(islice(drawn(dtype, where, 2), 40))
    assert {kind for kind, _ in found} == set(DRAWS)
    assert len({(each.m, each.n, each.k, each.batch) for _, each in found}) > 30
    assert {(each.a_order, each.b_order) for _, each in found} == {
        (a, b) for a in ("row", "column") for b in ("row", "column")
    }
    for kind, each in found:
        assert 0 < each.flops <= MOST_FLOPS[where]
        assert compulsory_bytes(each) <= MOST_BYTES
        assert (each.batch > 1) == (kind == "stacks")
        if kind == "thin":
            assert min(each.m, each.n, each.k) <= 32


def test_regret_is_by_the_best() -> None:
    assert [each.regret_of_plans for each in SHAPES[:3]] == [2.0, 1.0, pytest.approx(2 / 3)]
    assert [each.regret for each in SHAPES[:3]] == [2.0, pytest.approx(1 / 0.99), 4.0]


def test_the_table_has_shares_means_and_the_worst() -> None:
    rows = rows_of(REGRET)
    assert rows[0] == ["all", "3", "33.3%", "66.7%", "33.3%", "0.50", "4.00 x"]
    assert [row[0] for row in rows] == ["all", "thin", "stacks"]
    assert [each.partition(" ")[0] for each in worst_of(REGRET)] == ["three", "one"]
    for shown in (text(REGRET), markdown(REGRET)):
        assert "4 of 1000 shapes, 1 of them not measured" in shown
        assert "beside MKL, NumPy" in shown
        assert "4.00 x the time of NumPy" in shown


def test_a_record_of_shapes_that_all_failed_has_a_table() -> None:
    assert rows_of(replace(REGRET, shapes=SHAPES[3:])) == []
    assert "1 of 1000 shapes, 1 of them not measured" in text(replace(REGRET, shapes=SHAPES[3:]))


def test_records_come_back_and_are_no_pictures(tmp_path: Path) -> None:
    path = tmp_path / "regret-here.json"
    save_regret(REGRET, path)
    assert load_regret(path) == REGRET
    assert regret_table(["regret-here.json"], tmp_path) == markdown(REGRET)
    with pytest.raises(RecordError, match="record of regret"):
        load_drawable(path)
    path.write_text("{}")
    with pytest.raises(RecordError):
        load_regret(path)


def test_settings_of_a_blas_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """They would be obeyed by the product that is NumPy's own, and by no baseline."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    with pytest.raises(SystemExit):
        main(["--shapes", "1"])
    told = capsys.readouterr().err
    assert "unset" in told
    assert "OPENBLAS_CORETYPE" in told
