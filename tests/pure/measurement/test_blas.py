"""Other BLAS libraries as baselines: found or missed with a sentence, and called right in their child processes."""

from pathlib import Path

import numpy as np
import pytest

from tilewright.core.problem import Copy, Gemm, random_arrays
from tilewright.errors import Unsupported
from tilewright.measurement.baselines import blas
from tilewright.runtime.verify import Reference

NUMPYS_OWN = sorted((Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*.so"))
NOWHERE = blas.Blas("Nothing", ("libnothing.so.0",), "pip install nothing")


@pytest.mark.skipif(not NUMPYS_OWN, reason="this NumPy brings no OpenBLAS of its own to call")
@pytest.mark.parametrize(
    "problem",
    [
        Gemm(37, 29, 41, "float32"),
        Gemm(37, 29, 41, "float64", "column", "column"),
        Gemm(1, 5, 3, "complex64", "row", "column"),
        Gemm(20, 30, 10, "complex128", "column", batch=3),
    ],
    ids=str,
)
def test_a_library_multiplies_in_its_child(problem: Gemm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each type, order and batch once: a child for each takes a while to start."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(NUMPYS_OWN[0].parent))
    own = blas.Blas("OpenBLAS", (NUMPYS_OWN[0].name,), "", routine="scipy_cblas_{}gemm64_", long_integers=True)
    reference = Reference(problem, random_arrays(problem))
    baseline = blas.blas_baseline(own, problem, reference.arrays)
    try:
        assert baseline.run().wall_s > 0
        assert reference.judge(baseline.result()).passed
        assert "openblas" in baseline.lesson
    finally:
        baseline.close()


def test_each_type_of_a_blas_is_multiplied_above() -> None:
    assert sorted(blas.PREFIXES) == ["complex128", "complex64", "float32", "float64"]


def test_what_is_not_installed_is_named_with_the_command_that_adds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "LIBRARIES", (NOWHERE,))
    assert not blas.place_of(NOWHERE)
    assert blas.absent() == ("Nothing is not installed (pip install nothing)",)
    with pytest.raises(Unsupported, match="Nothing"):
        blas.blas_baseline(NOWHERE, Gemm(2, 2, 2), {})


def test_a_blas_multiplies_four_types_and_stores_them_as_they_are() -> None:
    assert blas.multiplies(Gemm(2, 2, 2, "complex64"))
    assert not blas.multiplies(Gemm(2, 2, 2, "int8", out_dtype="int32"))
    assert not blas.multiplies(Gemm(2, 2, 2, "float32", out_dtype="float16"))
    assert not blas.multiplies(Copy(2, 2))
