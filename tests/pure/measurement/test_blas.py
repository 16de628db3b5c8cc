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
@pytest.mark.parametrize("dtype", sorted(blas.PREFIXES))
def test_a_library_multiplies_in_its_child(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(NUMPYS_OWN[0].parent))
    own = blas.Blas("OpenBLAS", (NUMPYS_OWN[0].name,), "", routine="scipy_cblas_{}gemm64_", long_integers=True)
    for problem in (
        Gemm(37, 29, 41, dtype),
        Gemm(37, 29, 41, dtype, "column", "column"),
        Gemm(1, 5, 3, dtype, "row", "column"),
        Gemm(20, 30, 10, dtype, batch=3),
    ):
        reference = Reference(problem, random_arrays(problem))
        baseline = blas.blas_baseline(own, problem, reference.arrays)
        try:
            assert baseline.run().wall_s > 0
            assert reference.judge(baseline.result()).passed, problem
            assert "openblas" in baseline.lesson
        finally:
            baseline.close()


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
