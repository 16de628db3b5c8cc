"""Errors of float32 products on unkind data: within the bound on every driver, and a record that comes back whole."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.core.problem import Gemm
from tilewright.core.records import save_record
from tilewright.core.types import FLOAT8
from tilewright.errors import InvalidInput, RecordError
from tilewright.measurement.accuracy import DATA, UNIT, data_for, load_accuracy, measure_accuracy, operands
from tilewright.runtime.opencl.device import Device
from tools.pages.refresh import refresh

pytestmark = pytest.mark.device
SIZE = (48, 40, 300)


@pytest.mark.parametrize("dtype", ["float32", *FLOAT8])
def test_every_kind_of_data_is_measured_and_within_the_bound(device: Device, dtype: str, tmp_path: Path) -> None:
    record = measure_accuracy(SIZE, device, dtype=dtype)
    baselines = {row.by for row in record.rows if row.mode == "ieee"} - {"tilewright"}
    assert baselines in ({"NumPy"}, {"cuBLAS"} if dtype == "float32" else set())
    found = {(row.data, row.by) for row in record.rows if row.mode == "ieee"}
    assert found == {(data, by) for data in data_for(dtype) for by in ("tilewright", *baselines)}
    for row in record.rows:
        arrays = operands(row.data, *SIZE, dtype=dtype)
        precision = "" if row.mode == "ieee" else row.mode
        bound = Gemm(*SIZE, dtype, out_dtype="float32", precision=precision).error_bound(arrays, np.zeros(SIZE[:2]))
        size = np.abs(arrays["A"].astype(float)) @ np.abs(arrays["B"].astype(float))
        assert "accumulation" in row.by or row.largest <= np.max(bound / size) / UNIT, row
        assert dtype in FLOAT8 or row.normwise > 0
    path = tmp_path / "errors.json"
    save_record(record, path)
    assert load_accuracy(path) == record
    page = tmp_path / "page.md"
    page.write_text("<!-- record: errors.json accuracy -->\n<!-- end record -->\n")
    assert refresh(page) == 1
    assert f"errors of {dtype} products" in page.read_text()
    assert f"| {data_for(dtype)[-1]} | " in page.read_text()


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


def test_other_types_are_refused(device: Device) -> None:
    with pytest.raises(InvalidInput, match="float64"):
        measure_accuracy(SIZE, device, dtype="float64")


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.json"
    path.write_text('{"size": [1, 2]}')
    with pytest.raises(RecordError, match=r"errors\.json"):
        load_accuracy(path)
    assert UNIT == 2.0**-24
