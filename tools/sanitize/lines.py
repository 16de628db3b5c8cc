"""The lines of problems along which plans are scanned: sizes, batches, leading dimensions, layouts and epilogues."""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.operands import Layout
from tilewright.core.problem import Copy, Gemm, Problem, StridedGemm, Transpose
from tilewright.kernels.copy import StridedCopy
from tilewright.kernels.copy.transpose_in_place import StridedInPlaceTranspose
from tilewright.measurement.sets import STORED

from .shapes import Line

PRODUCTS = (
    "float32", "float64", "int32", "int8", "float16", "bfloat16", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
MOVED = ("int8", "float16", "float32", "float64", "complex128")  # elements of 1, 2, 4, 8 and 16 bytes
SQUARE = 3000


def product_lines(dtype: str) -> Iterator[Line]:
    """Along m, n, k and the batch, of matrices and vectors, in rows and columns, and of views and epilogues."""
    base = Gemm(13, 33, 40, dtype, out_dtype=STORED.get(dtype))
    turned = replace(base, a_order="column", b_order="column")

    def along(name: str, gemm: Gemm, last: int = 4096, first: int = 1) -> Line:
        return Line(f"{name} of {gemm.title}", lambda size: resized(gemm, name, size), first, last)

    yield from (along(name, each) for each in (base, turned) for name in ("m", "n", "k"))
    yield along("batch", replace(base, m=7, n=9, k=5), 200)
    yield along("m", replace(base, n=17, k=2))  # C is cut where there is little else to do
    yield along("n", replace(base, m=3, k=2))
    yield along("k", replace(base, m=2, n=17))
    yield along("k", replace(base, m=3, n=3))
    for order in ("row", "column"):
        yield along("m", replace(base, n=1, k=33, a_order=order))
        yield along("k", replace(base, m=1, n=33, b_order=order))
    yield Line(f"squares of {dtype}", lambda size: replace(base, m=size, n=size, k=size, b_order="column"), 64, SQUARE)
    yield Line(f"squares of {dtype}, turned", lambda size: replace(turned, m=size, n=size + 1, k=size + 1), 64, SQUARE)
    yield from view_lines(dtype)
    if dtype in ("float16", "bfloat16"):
        yield along("k", replace(base, out_dtype="float32"))


def few_product_lines(dtype: str) -> Iterator[Line]:
    """As `product_lines`, where planning takes long: few lines, and short ones."""
    base = Gemm(13, 33, 40, dtype, out_dtype=STORED.get(dtype))
    for name, last in (("n", 600), ("k", 3000)):
        yield Line(f"{name} of {base.title}", lambda size, name=name: resized(base, name, size), 1, last)  # type: ignore[misc]
    single = replace(base, m=1, k=33)
    yield Line(f"n of {single.title}", lambda size: replace(single, n=size), 1, 600)
    yield Line(f"squares of {dtype}", lambda size: replace(base, m=size, n=size, k=size, b_order="column"), 64, SQUARE)
    viewed = StridedGemm(14, 32, 24, dtype, out_dtype=STORED.get(dtype))
    yield Line(f"pitch of {viewed.title}", lambda pitch: view(viewed, pitch, pitch % 3), 0, 17)
    yield Line(f"n of {viewed.title} apart", lambda n: apart(replace(viewed, n=n)), 1, 40)


def resized(gemm: Gemm, name: str, size: int) -> Gemm:
    """The problem with its "m", "n", "k" or "batch" of another size."""
    m, n, k, batch = (size if name == each else getattr(gemm, each) for each in ("m", "n", "k", "batch"))
    return replace(gemm, m=m, n=n, k=k, batch=batch)


def view(gemm: StridedGemm, pitch: int, offset: int) -> StridedGemm:
    """The operands in rows that are `pitch` elements longer than they need, from `offset` on."""
    views = (Layout(offset, gemm.k + pitch, 1), Layout(offset, gemm.n + pitch, 1), Layout(offset, gemm.n + pitch, 1))
    return replace(gemm, views=views)


def view_lines(dtype: str) -> Iterator[Line]:
    """Along the pitch of rows, with every epilogue; elements apart; and all that is turned round."""
    plain = StridedGemm(14, 32, 24, dtype, out_dtype=STORED.get(dtype))
    yield Line(f"pitch of {plain.title}", lambda pitch: view(plain, pitch, 0), 0, 1100)
    yield Line(f"pitch of {plain.title}, later", lambda pitch: view(plain, pitch, 1), 0, 40)
    adding = plain if dtype == "int8" or dtype.startswith("float8") else replace(plain, alpha=2.0, beta=1.0)
    for bias in ("row", "column"):
        yield Line(f"n of {plain.title} with a bias", lambda n, b=bias: view(replace(adding, n=n, bias=b), 1, 2), 1, 40)  # type: ignore[misc]
    if dtype in ("float32", "float16"):
        yield Line(
            f"n of {plain.title} with silu", lambda n: view(replace(adding, n=n, activation="silu"), 0, 0), 1, 40
        )
    yield Line(f"n of {plain.title} apart", lambda n: apart(replace(plain, n=n)), 1, 40)
    yield Line(f"n of {plain.title} backwards", lambda n: backwards(replace(plain, n=n)), 1, 40)


def apart(gemm: StridedGemm) -> StridedGemm:
    """Every second element of every operand."""
    sides = ((gemm.k, gemm.m), (gemm.n, gemm.k), (gemm.n, gemm.m))
    a, b, c = (Layout(1, 2 * columns, 2) for columns, _ in sides)
    return replace(gemm, views=(a, b, c))


def backwards(gemm: StridedGemm) -> StridedGemm:
    """The last row first."""
    a = Layout((gemm.m - 1) * gemm.k, -gemm.k, 1)
    b = Layout((gemm.k - 1) * gemm.n, -gemm.n, 1)
    c = Layout((gemm.m - 1) * gemm.n, -gemm.n, 1)
    return replace(gemm, views=(a, b, c))


def move_lines(dtype: str) -> Iterator[Line]:
    """Copies and transposes along rows, columns, batches and pitches; squares in place."""
    for kind in (Transpose, Copy):
        yield Line(f"rows of {kind.verb} {dtype}", lambda size, k=kind: k(size, 37, dtype))  # type: ignore[misc]
        yield Line(f"columns of {kind.verb} {dtype}", lambda size, k=kind: k(21, size, dtype))  # type: ignore[misc]
        yield Line(f"squares of {kind.verb} {dtype}", lambda size, k=kind: k(size, size, dtype), 1, 600)  # type: ignore[misc]
        yield Line(f"offset of {kind.verb} {dtype}", lambda size, k=kind: k(21, 64, dtype, size), 0, 20)  # type: ignore[misc]
    for turned in (False, True):
        for batch in (1, 3):
            yield Line(f"pitch of moves {dtype}", lambda size, t=turned, b=batch: move(dtype, size, t, b), 0, 70)  # type: ignore[misc]
    yield Line(f"rows in place {dtype}", lambda size: InPlaceTranspose(size, dtype), 1, 300)
    yield Line(
        f"pitch in place {dtype}", lambda size: StridedInPlaceTranspose(37, dtype, Layout(1, 37 + size, 1)), 0, 40
    )
    yield Line(f"squares in place {dtype}", lambda size: InPlaceTranspose(16, dtype, batch=size), 1, 40)


def move(dtype: str, pitch: int, turned: bool, batch: int) -> Problem:
    """A copy or a transpose of 33 x 50 elements between rows that are `pitch` elements longer, from different places on."""
    source = Layout(pitch % 3, 50 + pitch, 1, 33 * (50 + pitch) if batch > 1 else 0)
    line = (33 if turned else 50) + pitch
    matrix = (50 if turned else 33) * line if batch > 1 else 0
    target = Layout(0, 1, line, matrix) if turned else Layout(0, line, 1, matrix)
    return StridedCopy(33, 50, dtype, source, target, batch)
