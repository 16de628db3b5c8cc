"""NumPy's own tests of `matmul`, those of the NumPy that is installed, with ours in its place.

The classes here inherit NumPy's tests and are called as NumPy's are; numpy_differences.py lists the tests that must
fail and why. What a test checks of types that we have is checked too where it goes on to types that we have not:
those classes say what NumPy does for us meanwhile.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy_differences import DIFFERENCES, OURS
from paths import DOCS

import tilewright
from tilewright.runtime.opencl.device import Device

STRIPPED = "this NumPy was installed without its tests"
arrays = pytest.importorskip("numpy._core.tests.test_multiarray", reason=STRIPPED, exc_type=ImportError)
functions = pytest.importorskip("numpy._core.tests.test_ufunc", reason=STRIPPED, exc_type=ImportError)
numeric = pytest.importorskip("numpy._core.tests.test_numeric", reason=STRIPPED, exc_type=ImportError)
algebra = pytest.importorskip("numpy.linalg.tests.test_linalg", reason=STRIPPED, exc_type=ImportError)

PAGE = DOCS / "reference" / "numpy-differences.md"
Product = Callable[..., Any]
Members = dict[str, Any]


class Instead(ModuleType):
    """A module with other members in place of some of its own."""

    def __init__(self, module: ModuleType, members: Members) -> None:
        super().__init__(module.__name__)
        self._module = module
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@pytest.fixture
def product(one_device: Device) -> Product:
    """Our `matmul`, on one device: classes below override it."""
    return partial(tilewright.matmul, queue=one_device.queue)


@pytest.fixture
def members(product: Product, one_device: Device) -> Members:
    """What NumPy's tests find in their `np` in place of NumPy's own: classes below add to it."""
    ours = {"matmul": product, "matrix_transpose": partial(tilewright.matrix_transpose, queue=one_device.queue)}
    return {**ours, "linalg": Instead(np.linalg, ours)}


@pytest.fixture(autouse=True)
def in_numpys_place(
    request: pytest.FixtureRequest, product: Product, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our functions in NumPy's test modules, and the expectation that a listed test fails by its reason."""
    for module in (arrays, functions, numeric, algebra):
        monkeypatch.setattr(module, "np", Instead(np, members))
    monkeypatch.setattr(algebra, "matmul", product)
    if request.instance is not None:
        request.instance.matmul = product
    reason = DIFFERENCES.get(request.node.nodeid.split("::", 1)[1])
    if reason is not None:
        text = f"{reason.kind}; a test that passes is to be taken from the list in numpy_differences.py"
        # For a traceback pytest parses the whole file, which takes it half a second for NumPy's.
        for module in (arrays, algebra):
            monkeypatch.setattr(module, "__tracebackhide__", True, raising=False)
        request.applymarker(pytest.mark.xfail(strict=True, raises=reason.raises, reason=text))


def numpys_for(letters: str, product: Product) -> Product:
    """`product`, but NumPy's own `matmul` if an operand is of one of these types, or becomes one."""

    def either(a: Any, b: Any, *arguments: Any, **options: Any) -> Any:
        met = {np.asarray(each).dtype.char for each in (a, b)}
        return (np.matmul if met & set(letters) else product)(a, b, *arguments, **options)

    return either


class TestMatmul(arrays.TestMatmul):  # type: ignore[misc,name-defined]
    pass


class TestMatmulOperator(arrays.TestMatmulOperator):  # type: ignore[misc,name-defined]
    pass


class TestMatmulOfOurTypes(arrays.MatmulCommon):  # type: ignore[misc,name-defined]
    """What is common to all types, for those that we have; the parts for objects are NumPy's."""

    types = "?hilBHILefdFD"  # and q and Q, which are l and L by another name

    @pytest.fixture
    def product(self, product: Product) -> Product:
        return numpys_for("O", product)


class TestMatmulOfBytes(arrays.MatmulCommon):  # type: ignore[misc,name-defined]
    types = "?b"  # some of NumPy's tests leave the first out

    @pytest.fixture
    def product(self, product: Product) -> Product:
        return numpys_for("O", product)


class InPlace(np.ndarray):
    """An array whose `@=` is ours, with the axes that NumPy's has."""

    product: ClassVar[Product]

    def __imatmul__(self, other: np.ndarray) -> "InPlace":  # type: ignore[override,misc]
        own = (-1,) if self.ndim == 1 else (-2, -1)
        result: InPlace = InPlace.product(self, other, out=(self,), axes=[own, (-2, -1), own])
        return result


class TestMatmulInplace(arrays.TestMatmulInplace):  # type: ignore[misc,name-defined]
    @pytest.fixture
    def members(self, members: Members, product: Product, monkeypatch: pytest.MonkeyPatch) -> Members:
        monkeypatch.setattr(InPlace, "product", staticmethod(product), raising=False)
        return {**members, "arange": lambda *sides: np.arange(*sides).view(InPlace)}


class TestMethods:
    """The tests of `matmul` among those of arrays' methods."""

    matmul: Product
    numpys = arrays.TestMethods()

    def test_arr_mult(self) -> None:
        self.numpys.test_arr_mult(self.matmul)

    @pytest.mark.parametrize("dtype", list("ifdFD"))
    def test_no_dgemv(self, dtype: str) -> None:
        self.numpys.test_no_dgemv(self.matmul, dtype)

    def test_dot_matmul_out(self) -> None:
        self.numpys.test_dot_matmul_out()

    def test_dot_matmul_inner_array_casting_fails(self) -> None:
        self.numpys.test_dot_matmul_inner_array_casting_fails()

    def test_matmul_out(self) -> None:
        self.numpys.test_matmul_out()


def test_matmul_axes() -> None:
    arrays.test_matmul_axes()


class TestUfunc:
    """The test of complex products among those of generalised functions; its parts for objects are NumPy's."""

    matmul: Product

    @pytest.fixture
    def product(self, product: Product) -> Product:
        return numpys_for("O", product)

    def test_vecdot_matvec_vecmat_complex(self) -> None:
        test = getattr(functions.TestUfunc, "test_vecdot_matvec_vecmat_complex", None)
        if test is None:
            pytest.skip("this NumPy has no such test")
        test(functions.TestUfunc(), self.matmul, (1, 3), (3, 1), False)


class TestNonarrayArgs:
    def test_transpose(self) -> None:
        numeric.TestNonarrayArgs().test_transpose()


def test_matmul() -> None:
    algebra.test_matmul()


def test_matrix_transpose() -> None:
    algebra.test_matrix_transpose()


# NumPy has each case in some thirty layouts; test_matmul.py goes through those.
CASES = [case for case in algebra.LinalgTestCase.TEST_CASES if "strided" not in case.tags]


class TestSolve(algebra.TestSolve):  # type: ignore[misc,name-defined]
    TEST_CASES = CASES


class TestInv(algebra.TestInv):  # type: ignore[misc,name-defined]
    TEST_CASES = CASES


class TestPinv(algebra.TestPinv):  # type: ignore[misc,name-defined]
    TEST_CASES = CASES


class TestQR(algebra.TestQR):  # type: ignore[misc,name-defined]
    pass


class TestCholesky(algebra.TestCholesky):  # type: ignore[misc,name-defined]
    pass


class TestMatrixPower:
    numpys = algebra.TestMatrixPower()

    @pytest.mark.parametrize("letter", OURS)
    @pytest.mark.parametrize("name", ["test_power_is_two", "test_power_is_minus_one"])
    def test_power(self, name: str, letter: str) -> None:
        getattr(self.numpys, name)(np.dtype(letter))


def test_every_listed_test_is_one_of_these() -> None:
    """Without the parameters, of which other versions of NumPy have others."""
    for test in DIFFERENCES:
        owner, _, name = test.partition("[")[0].rpartition("::")
        assert callable(getattr(globals()[owner], name) if owner else globals()[name]), test


@pytest.mark.parametrize("kind", sorted({reason.kind for reason in DIFFERENCES.values()}))
def test_every_reason_has_its_place_on_the_page(kind: str) -> None:
    assert f"\n## {kind}\n" in PAGE.read_text(encoding="utf-8")
