"""Element types: each fact agrees with NumPy's, each table that knows types has them all or says which it leaves out, and
integers that are multiplied as floats stay exact."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest
from devices import CPU

import tilewright
from tilewright.core import argument_words, precision
from tilewright.core import types as dtypes
from tilewright.core.plan import violations
from tilewright.core.problem import Gemm
from tilewright.core.types import ELEMENT_TYPES, FLOAT8, ElementType, numpy_dtype, storable
from tilewright.dispatch import numpys_own
from tilewright.kernels import copy as moves
from tilewright.kernels.copy import copy_nd
from tilewright.kernels.ladders import cpu
from tilewright.kernels.product.cpu import elements as cpu_elements
from tilewright.kernels.product.cpu.config import CpuConfig
from tilewright.kernels.product.cpu.kernels import gemv_kernel, product_kernel
from tilewright.kernels.product.cuda_cores_tma import cost as fma_cost
from tilewright.kernels.product.cuda_cores_tma import kernels as fma
from tilewright.kernels.product.mma import config as mma_configs
from tilewright.kernels.product.mma import cost as mma_cost
from tilewright.kernels.product.mma import cost_elements as mma_elements_cost
from tilewright.kernels.product.mma import kernels as mma
from tilewright.kernels.product.mma import search as mma_search
from tilewright.kernels.product.wgmma import config as wgmma_configs
from tilewright.kernels.product.wgmma import kernels as wgmma
from tilewright.library import multiply
from tilewright.measurement import sets
from tilewright.measurement.baselines import blas, clblast, cublas
from tilewright.runtime import tensor_maps as tensormaps
from tilewright.runtime.opencl import information

ROOT = Path(tilewright.__file__).parent
SOURCES = {path.name: path.read_text() for path in (ROOT / "kernels").rglob("*.cl")}
COMPLEX = ("complex64", "complex128")
SHORT = ("float16", "bfloat16")


@dataclass(frozen=True)
class Table:
    """What a module holds for types under a name, and the types that it leaves out: they go another way, or have none.

    A `closed` table has all types that it will ever have, whatever types are added.
    """

    module: ModuleType
    name: str
    left_out: tuple[str, ...] = ()
    closed: bool = False

    @property
    def title(self) -> str:
        return f"{self.module.__name__}.{self.name}"

    @property
    def types(self) -> frozenset[str]:
        """The element types among its keys or elements; of kernels, the types that they multiply."""
        held = getattr(self.module, self.name)
        names = (name for each in getattr(held, "dtypes", held) for name in getattr(each, "dtypes", (each,)))
        return frozenset(names) & frozenset(ELEMENT_TYPES)

    def missing(self, names: Collection[str]) -> list[str]:
        """A sentence for each type that is neither in the table nor left out by name."""
        known = set(names) if self.closed else {*self.types, *self.left_out}
        return [f"{name} is missing in {self.title}" for name in names if name not in known]


BYTES = ("int8", "uint8", "bool")
SHORT_INTEGERS = ("int16", "uint16")
LONG_INTEGERS = ("int64", "uint64")
PORTABLE = (*SHORT_INTEGERS, *LONG_INTEGERS, "bool")  # exact types that no instruction of one vendor multiplies
NOT_FMA = ("float64", "int8", "uint8", *PORTABLE, *SHORT, *FLOAT8, "complex128")
NOT_MMA = ("int32", "uint32", *PORTABLE, *FLOAT8, "complex64")
NOT_WGMMA = ("float64", "int32", "uint32", *PORTABLE, *COMPLEX)
# Every table that knows element types. A new type gets an entry in each, or is named here among those that it leaves out.
TABLES = (
    Table(sets, "STORED", tuple(name for name in ELEMENT_TYPES if name not in ("int8", *FLOAT8))),  # stored as they are
    Table(tensormaps, "TYPES", (*COMPLEX, *PORTABLE)),  # fetched as pairs of numbers, or by no kernel
    Table(cpu_elements, "DTYPES", FLOAT8),  # converted to float16 first
    Table(moves, "COPY"),
    Table(copy_nd, "COPY_ND"),
    Table(copy_nd, "SPELLED", ("bfloat16", *FLOAT8)),  # the host converts them
    Table(fma, "PRODUCT", NOT_FMA),
    Table(fma_cost, "EFFICIENCY", NOT_FMA),
    Table(mma, "KERNELS", NOT_MMA),
    Table(mma_cost, "RATES", NOT_MMA),
    Table(mma_elements_cost, "RATES", closed=True),  # other types share one
    Table(mma_configs, "INSTRUCTIONS", (*NOT_MMA, "float64", "complex128")),  # those have a loop of their own
    Table(wgmma, "KERNELS", NOT_WGMMA),
    Table(wgmma_configs, "MULTIPLY", NOT_WGMMA),
    Table(wgmma_configs, "SUMS", closed=True),  # accumulators
    Table(mma_search, "SPACES", closed=True),  # of others the tiles are FP16_SPACE
    Table(sets, "ELEMENTS", closed=True),  # a type for each size of elements
    Table(multiply, "HOLD_FLOAT8", closed=True),
    Table(numpys_own, "BLAS_TYPES", closed=True),
    Table(numpys_own, "LOOPED", closed=True),  # those of NumPy itself
    Table(blas, "PREFIXES", closed=True),  # the letters S, D, C and Z
    Table(clblast, "PREFIXES", closed=True),
    Table(cublas, "PREFIXES", closed=True),
    Table(information, "WIDTHS", closed=True),  # vectors that OpenCL asks about
    Table(cpu, "DTYPES", closed=True),  # the ladder's
    Table(argument_words, "TYPE_NAMES", closed=True),  # elements of buffers that OpenCL C has
    Table(argument_words, "AMBIGUOUS", closed=True),  # types of NumPy whose names are vectors in OpenCL C
)
# Programs of child processes: they import nothing of the package, and their parents refuse what they cannot do.
CHILDREN = ("numpy_child.py", "cublas_child.py")


def written_tables() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Module, name and element types of every dict or tuple at a module's top level that names two types or more."""
    for path in ROOT.rglob("*.py"):
        if path.name in CHILDREN or path == Path(dtypes.__file__):
            continue
        for node in ast.parse(path.read_text()).body:
            value = node.value if isinstance(node, ast.Assign) else None
            entries = value.keys if isinstance(value, ast.Dict) else value.elts if isinstance(value, ast.Tuple) else ()
            found = {each.value for each in entries if isinstance(each, ast.Constant)} & set(ELEMENT_TYPES)
            if len(found) > 1 and isinstance(node, ast.Assign):
                yield str(path), ast.unparse(node.targets[0]), frozenset(map(str, found))


def test_the_list_of_tables_is_complete() -> None:
    listed = {(str(Path(str(table.module.__file__))), table.name): table.types for table in TABLES}
    written = {(path, name): types for path, name, types in written_tables()}
    assert len(written) >= 10
    assert {key: types for key, types in written.items() if listed.get(key) != types} == {}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.title)
def test_a_table_has_every_type_or_leaves_it_out_by_name(table: Table) -> None:
    assert table.missing(ELEMENT_TYPES) == []
    assert table.types.isdisjoint(table.left_out)
    assert set(table.left_out) <= set(ELEMENT_TYPES)


def test_a_type_that_is_in_no_table_is_named_with_each_of_them() -> None:
    found = [sentence for table in TABLES for sentence in table.missing((*ELEMENT_TYPES, "int4"))]
    assert found == [f"int4 is missing in {table.title}" for table in TABLES if not table.closed]
    assert len(found) >= 10


def test_tables_of_accumulators_and_of_sizes_have_them_all() -> None:
    accumulators = {ELEMENT_TYPES[name].accumulator for name in wgmma_configs.MULTIPLY}
    assert set(wgmma_configs.SUMS) == accumulators
    sizes = {ELEMENT_TYPES[name].itemsize for name in sets.ELEMENTS}
    assert sizes == {kind.itemsize for kind in ELEMENT_TYPES.values()}


@pytest.mark.parametrize("kind", ELEMENT_TYPES.values(), ids=lambda kind: kind.name)
def test_the_facts_agree_with_numpy(kind: ElementType) -> None:
    own = numpy_dtype(kind.name)
    assert own.itemsize == kind.itemsize
    assert set(kind.results) <= storable(kind.name)
    assert ELEMENT_TYPES[kind.accumulator].accumulator == kind.accumulator
    if kind.exact:
        limits = (False, True) if own.kind == "b" else (np.iinfo(own).min, np.iinfo(own).max)
        assert (kind.limits, kind.fraction, kind.epsilon) == (limits, 0, 0.0)
        return
    facts = ml_dtypes.finfo(own)
    assert (facts.nmant, float(facts.smallest_subnormal)) == (kind.fraction, kind.least)
    assert kind.epsilon == float(np.finfo(numpy_dtype(kind.accumulator)).eps)


@pytest.mark.parametrize("kind", ELEMENT_TYPES.values(), ids=lambda kind: kind.name)
def test_kernels_have_what_a_types_decode_form_needs(kind: ElementType) -> None:
    assert f"#define decode_{kind.decode}(" in SOURCES["elements.cl"]
    for result in storable(kind.name):
        assert f"#define encode_{ELEMENT_TYPES[result].decode}(" in SOURCES["elements.cl"]
    if kind.name in cpu_elements.DTYPES:
        assert f"#define LOAD_{cpu_elements.form(kind.name).format}(" in SOURCES["vectors.cl"]
        for result in kind.results:
            assert f"#define STORE_{cpu_elements.form(result).format}(" in SOURCES["vectors.cl"]


@pytest.mark.parametrize("short", FLOAT8)
@pytest.mark.parametrize("wide", multiply.HOLD_FLOAT8)
def test_what_8_bit_floats_are_converted_to_holds_each_of_their_values(short: str, wide: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(short))
    np.testing.assert_array_equal(values.astype(numpy_dtype(wide)).astype(np.float64), values.astype(np.float64))


def test_every_precision_is_for_types_that_there_are() -> None:
    floats = {"float16", "bfloat16", "float32", "float64"}
    assert {name for names in precision.PRECISIONS.values() for name in names} == {*floats, *FLOAT8}


@pytest.mark.parametrize(("name", "steps"), [("int8", 1024), ("uint8", 258), ("int16", 0), ("bool", 2**24)])
def test_float32_sums_are_exact_up_to_the_limit_of_a_type_and_no_further(name: str, steps: int) -> None:
    kind = ELEMENT_TYPES[name]
    assert kind.float32_steps == steps
    product = kind.magnitude**2
    assert steps * product <= 2**24 < (steps + 1) * product


def cpu_config(dtype: str) -> CpuConfig:
    config = product_kernel(dtype, CPU, 64).config
    assert isinstance(config, CpuConfig)
    return config


def depth_reasons(dtype: str, depth: int) -> list[str]:
    problem = Gemm(64, 64, 4096, dtype, out_dtype="int32")
    kernel = product_kernel(dtype, CPU, 64)
    assert isinstance(kernel.config, CpuConfig)
    return list(violations(kernel, replace(kernel.config, KC=depth), problem, CPU))


def test_a_block_deeper_than_int8_allows_is_refused_with_both_numbers() -> None:
    assert depth_reasons("int8", 1024) == []
    (reason,) = depth_reasons("int8", 1040)
    assert all(word in reason for word in ("1040", "1024", "int8", "float32"))
    assert depth_reasons("int32", 1040) == []  # multiplied as integers


def test_a_wider_type_gets_blocks_that_are_exact_and_deeper_ones_are_refused() -> None:
    assert (cpu_config("int8").KC, cpu_config("uint8").KC) == (512, 256)
    assert depth_reasons("uint8", 256) == []
    (reason,) = depth_reasons("uint8", 512)
    assert all(word in reason for word in ("512", "258", "uint8"))


def test_products_of_vectors_are_left_to_others_where_sums_as_float_have_a_limit() -> None:
    assert set(gemv_kernel("float32", CPU, 64).dtypes) == set(cpu_elements.DTYPES) - set(BYTES)
