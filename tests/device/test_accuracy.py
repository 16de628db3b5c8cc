"""Errors of float32 products on unkind data: within the bound on every driver, and a record that comes back whole."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.accuracy import DATA, UNIT, load_accuracy, measure_accuracy, operands
from tilewright.backend.opencl import Device
from tilewright.errors import RecordError
from tilewright.problem import Gemm
from tilewright.records import save_record
from tilewright.report.pages import refresh

pytestmark = pytest.mark.device
SIZE = (48, 40, 300)


def test_every_kind_of_data_is_measured_and_within_the_bound(device: Device, tmp_path: Path) -> None:
    record = measure_accuracy(SIZE, device)
    rivals = {row.by for row in record.rows} - {"tilewright"}
    assert rivals in ({"NumPy"}, {"cuBLAS"})
    found = {(row.data, row.by) for row in record.rows if row.mode == "ieee"}
    assert found == {(data, by) for data in DATA for by in ("tilewright", *rivals)}
    for row in record.rows:
        arrays = operands(row.data, *SIZE)
        precision = "" if row.mode == "ieee" else row.mode
        bound = Gemm(*SIZE, precision=precision).error_bound(arrays, np.zeros(SIZE[:2]))
        size = np.abs(arrays["A"]).astype(float) @ np.abs(arrays["B"]).astype(float)
        assert row.largest <= np.max(bound / size) / UNIT, row
        assert row.normwise > 0
    path = tmp_path / "errors.json"
    save_record(record, path)
    assert load_accuracy(path) == record
    page = tmp_path / "page.md"
    page.write_text("<!-- record: errors.json accuracy -->\n<!-- end record -->\n")
    assert refresh(page) == 1
    assert "| ill conditioned | " in page.read_text()


@pytest.mark.parametrize("data", DATA)
def test_operands_are_what_they_are_called(data: str) -> None:
    a, b = operands(data, *SIZE).values()
    assert a.dtype == b.dtype == np.float32
    assert np.isfinite(a).all()
    assert np.isfinite(b).all()
    if data == "cancelling":
        assert np.abs(a.astype(float) @ b).max() < 2.0**-16 * (np.abs(a) @ np.abs(b)).max()
    if data == "subnormal":
        assert 0 < np.abs(a[a != 0]).max() < np.finfo(np.float32).tiny
    if data == "wide":
        assert np.log2(np.abs(a).max() / np.abs(a[a != 0]).min()) > 60


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.json"
    path.write_text('{"size": [1, 2]}')
    with pytest.raises(RecordError, match="no record of accuracy"):
        load_accuracy(path)
    assert UNIT == 2.0**-24
