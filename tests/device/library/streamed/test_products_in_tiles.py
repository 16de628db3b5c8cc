"""Products and transposes in tiles of arrays in memory: layouts, types, epilogues and sizes, on both kinds of devices."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from separate import close
from tiled_calls import KINDS, RNG, pretend, random

from tilewright import gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, Unsupported, UnsupportedType
from tilewright.library.streamed import budget, limits, planning, running
from tilewright.library.streamed.planning import Chosen, choose
from tilewright.library.streamed.rates import Sizes
from tilewright.library.streamed.tiles import TilePlan
from tilewright.runtime.opencl.device import Device

LIMIT = 300_000  # bytes: a product of 200 x 300 x 250 takes several tiles


@pytest.fixture(params=KINDS, autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    pretend(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[Chosen]:
    """The plans of the test's calls."""
    found: list[Chosen] = []

    def noted(*given: Any) -> Chosen:
        found.append(choose(*given))
        return found[-1]

    monkeypatch.setattr(running, "choose", noted)
    return found


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C order": lambda values: values,
    "Fortran order": np.asfortranarray,
    "every other column": lambda values: np.repeat(values, 2, axis=-1)[..., ::2],
    "a transposed view with gaps": lambda values: np.repeat(values.mT.copy(), 2, axis=-1)[..., ::2].mT,
    "backwards": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "byte-swapped": lambda values: values.astype(values.dtype.newbyteorder()),
    "float64": lambda values: values.astype(np.float64),
    "one row repeated": lambda values: np.broadcast_to(values[:1], values.shape),
}


@pytest.mark.parametrize("view", VIEWS)
def test_operands_of_any_layout(view: str, device: Device, chosen: list[Chosen]) -> None:
    a, b = VIEWS[view](random(203, 251)), VIEWS[view](random(251, 307))
    found = matmul(a, b, dtype="float32", device=device.info.label, max_device_bytes=LIMIT)
    assert chosen[0].tiles.tiles > 2
    assert found.dtype == np.float32
    assert close(found, a, b)
    assert np.array_equal(transpose(a, device=device.info.label, max_device_bytes=LIMIT // 2), a.T)
    assert chosen[1].tiles.tiles > 2


@pytest.mark.parametrize("view", [each for each in VIEWS if each not in ("one row repeated", "byte-swapped")])
def test_out_of_any_layout(view: str, device: Device) -> None:
    a, b, c = random(203, 251), random(251, 307), random(203, 307)
    out = VIEWS[view](c.copy())
    assert matmul(a, b, out, device=device.info.label, max_device_bytes=LIMIT) is out
    assert close(out.astype(np.float32), a, b)
    out[...] = c
    gemm(a, b, out, alpha=2, beta=-1, out=out, device=device.info.label, max_device_bytes=LIMIT)
    assert np.allclose(out, 2 * (a.astype(float) @ b) - c, atol=1e-3)
    out[...] = 7
    gemm(a, b, c, alpha=2, beta=-1, out=out, device=device.info.label, max_device_bytes=LIMIT)
    assert np.allclose(out, 2 * (a.astype(float) @ b) - c, atol=1e-3)


def test_what_lies_between_the_rows_of_out_stays(device: Device) -> None:
    a, b = random(160, 140), random(140, 250)
    whole = random(320, 500)
    before = whole.copy()
    matmul(a, b, whole[::2, 25:275], device=device.info.label, max_device_bytes=LIMIT)
    assert close(whole[::2, 25:275], a, b)
    before[::2, 25:275] = whole[::2, 25:275]
    assert np.array_equal(whole, before)


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float64", "complex64", "complex128", "int8", "uint8", "int32", "int64", "uint64", "bool", "bfloat16"],
)
@pytest.mark.parametrize("limit", [LIMIT, LIMIT // 2])
def test_types(dtype: str, limit: int, device: Device) -> None:
    kind: Any = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    a, b = (
        random(*shape).astype(kind) if dtype == "bfloat16" else random(*shape, dtype=dtype)
        for shape in ((150, 90), (90, 170))
    )
    found = matmul(a, b, device=device.info.label, max_device_bytes=limit * max(1, a.itemsize // 4))
    whole = matmul(a, b, device=device.info.label)
    assert found.dtype == whole.dtype
    if np.dtype(kind).kind in "iub":
        assert np.array_equal(found, whole)
    else:
        assert np.allclose(
            found.astype(np.complex128),
            whole.astype(np.complex128),
            rtol=2e-2 if found.itemsize == 2 else 1e-4,
            atol=1e-2,
        )


def test_sums_of_halves_are_kept_in_float32_between_panels(device: Device, chosen: list[Chosen]) -> None:
    """2049 ones are 2049 in float32; halves know only even numbers there, so that sums of panels would stay at 2048."""
    a, b = np.ones((64, 6000), np.float16), np.full((6000, 64), 0.5, np.float16)
    found = gemm(a, b, alpha=0.5, device=device.info.label, max_device_bytes=150_000)
    assert chosen[0].tiles.panels > 1
    assert np.array_equal(found, np.full((64, 64), 1500, np.float16))


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu"])
@pytest.mark.parametrize("limit", [LIMIT, 150_000])
def test_the_epilogue_is_applied_once(activation: str | None, limit: int, device: Device) -> None:
    a, b, c = random(150, 400) / 20, random(400, 170), random(150, 170)
    for bias in (random(170), random(150, 1)):
        given: dict[str, Any] = {
            "alpha": 0.5,
            "beta": 2.0,
            "bias": bias,
            "activation": activation,
            "device": device.info.label,
        }
        found, whole = gemm(a, b, c, **given, max_device_bytes=limit), gemm(a, b, c, **given)
        assert np.allclose(found, whole, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_bias_of_halves_is_added_to_sums_in_float32(dtype: str, device: Device, chosen: list[Chosen]) -> None:
    kind = np.dtype(np.float16 if dtype == "float16" else ml_dtypes.bfloat16)
    a, b = random(64, 3000).astype(kind), random(3000, 64).astype(kind)
    product = a.astype(np.float64) @ b.astype(np.float64)
    for bias in (100 * random(64), 100 * random(64, 1)):
        bias = bias.astype(kind)
        found = gemm(a, b, bias=bias, device=device.info.label, max_device_bytes=600_000)
        assert np.allclose(found.astype(np.float64), product + bias.astype(np.float64), rtol=2**-6, atol=0.2)
    assert all(each.tiles.panels > 1 for each in chosen)


def test_scales_of_8_bit_floats(device: Device) -> None:
    a, b = (random(*shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((150, 400), (400, 170)))
    for scales in ((random(150), random(170)), (np.float32(2), random(170)), (np.float32(2), np.float32(3))):
        given: dict[str, Any] = {"scale_a": scales[0], "scale_b": scales[1], "device": device.info.label}
        found, whole = gemm(a, b, **given, max_device_bytes=2 * LIMIT), gemm(a, b, **given)
        assert np.allclose(found, whole, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("transposed", ["NT", "TN", "TT", "CN", "NC"])
def test_transposed_operands(transposed: str, device: Device) -> None:
    a, b = random(150, 90, dtype="complex64"), random(90, 170, dtype="complex64")
    left = a if transposed[0] == "N" else a.T.conj() if transposed[0] == "C" else a.T
    right = b if transposed[1] == "N" else b.T.conj() if transposed[1] == "C" else b.T
    given: dict[str, Any] = {"trans_a": transposed[0], "trans_b": transposed[1], "device": device.info.label}
    found = gemm(left.copy(), right.copy(), **given, max_device_bytes=LIMIT)
    assert close(found, a, b)


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 1), (1, 500, 300), (500, 1, 300), (64, 64, 1), (65, 129, 193), (7, 9, 2000), (300, 200, 64)],
)
def test_ragged_and_tiny_products(m: int, n: int, k: int, device: Device) -> None:
    a, b = random(m, k), random(k, n)
    for limit in (150_000, "10MB"):
        assert close(matmul(a, b, device=device.info.label, max_device_bytes=limit), a, b)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 9, 300), (300, 0, 9), (90, 80, 0), (0, 0, 0)])
def test_empty_products(m: int, n: int, k: int, device: Device) -> None:
    found = matmul(random(m, k), random(k, n), device=device.info.label, max_device_bytes=LIMIT)
    assert np.array_equal(found, np.zeros((m, n), np.float32))


def test_stacks_and_vectors(device: Device) -> None:
    a, b = random(3, 1, 80, 70), random(2, 70, 90)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 200_000}
    assert np.allclose(matmul(a, b, **where), a @ b, atol=1e-3)
    assert np.allclose(matmul(a[0, 0], b, **where), a[0, 0] @ b, atol=1e-3)
    assert np.array_equal(matrix_transpose(a, **where), a.mT)
    row, column = random(70), random(70)
    assert np.allclose(matmul(row, b, **where), row @ b, atol=1e-3)
    assert np.allclose(matmul(a, column, **where), a @ column, atol=1e-3)
    number = matmul(row, column, **where)
    assert number.shape == ()
    assert np.isclose(number, row @ column, atol=1e-3)


def test_nans_and_infinities_go_where_they_belong(device: Device) -> None:
    a, b = random(203, 251), random(251, 307)
    a[5, 7], a[190, 3], b[250, 300] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        wanted = a.astype(np.float64) @ b
    found = matmul(a, b, device=device.info.label, max_device_bytes=LIMIT)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(np.isinf(found), np.isinf(wanted))
    blank = np.full((203, 307), np.nan, np.float32)
    assert not np.isnan(
        gemm(np.ones((203, 9), np.float32), np.ones((9, 307), np.float32), blank, beta=0, max_device_bytes=LIMIT)
    ).any()
    assert not np.isnan(gemm(a, b, alpha=0, device=device.info.label, max_device_bytes=LIMIT)).any()


def test_whole_sums_have_the_bits_of_the_product_in_one_piece(device: Device, chosen: list[Chosen]) -> None:
    compared = 0
    for _ in range(8):
        m, n, k = (int(each) for each in RNG.integers(300, 900, 3))
        a, b = random(m, k), random(k, n)
        found = matmul(a, b, device=device.info.label, max_device_bytes="3MB")
        if chosen[-1].shown.same_bits:
            compared += 1
            assert np.array_equal(found, matmul(a, b, device=device.info.label))
    assert compared


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_reproducible_products_have_their_bits_in_tiles_and_no_panels(
    dtype: str, device: Device, chosen: list[Chosen]
) -> None:
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    a, b, c = (random(*shape).astype(kind) for shape in ((200, 1500), (1500, 300), (200, 300)))
    given: dict[str, Any] = {"alpha": 0.5, "beta": -2, "precision": "reproducible", "device": device.info.label}
    whole = gemm(a, b, c, **given)
    for limit in (500_000 * kind.itemsize, 1_200_000 * kind.itemsize):
        found = gemm(a, b, c, max_device_bytes=limit, **given)
        assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(whole).tobytes()
    assert all(each.tiles.panels == 1 and each.shown.same_bits for each in chosen)
    assert chosen[0].tiles.tiles > 1
    with pytest.raises(InvalidInput, match=r"over 1500 of k, need .*reproducible sums are not divided"):
        gemm(a, b, c, max_device_bytes=100_000, **given)


def test_a_matrix_times_its_own_transpose(device: Device, chosen: list[Chosen]) -> None:
    a = random(400, 300)
    found = matmul(a, a.T, device=device.info.label, max_device_bytes="1MB")
    assert close(found, a, a.T)
    assert not chosen[0].shown.same_bits
    whole = random(300, 300, dtype="int16")
    assert np.array_equal(matmul(whole, whole.T, device=device.info.label, max_device_bytes=LIMIT), whole @ whole.T)


@pytest.mark.parametrize("stays", ["A", "B"])
@pytest.mark.parametrize(("held", "kept"), [(1, 2), (2, 2), (3, 4)])
@pytest.mark.parametrize("depth", [96, 250])
def test_every_order_of_tiles(
    stays: str, held: int, kept: int, depth: int, device: Device, chosen: list[Chosen], monkeypatch: pytest.MonkeyPatch
) -> None:
    def only(sizes: Sizes, *others: Any) -> list[tuple[float, TilePlan]]:
        return [(1.0, TilePlan(sizes, 64, 96, min(depth, sizes.k), stays, held, kept, 2 + (held > 2)))]

    monkeypatch.setattr(planning, "tile_plans", only)
    a, b, c = random(300, 250), random(250, 310), random(300, 310)
    found = gemm(a, b, c, beta=-1, bias=c[0], activation="relu", device=device.info.label, max_device_bytes="5MB")
    assert np.allclose(found, np.maximum(a @ b - c + c[0], 0), atol=1e-3)
    assert chosen[0].tiles.held == held
    assert chosen[0].tiles.panels == (3 if depth == 96 else 1)


def test_integers_have_the_same_bits_also_in_panels(device: Device, chosen: list[Chosen]) -> None:
    a, b = random(64, 9000, dtype="int16"), random(9000, 64, dtype="int16")
    found = matmul(a, b, device=device.info.label, max_device_bytes=150_000)
    assert chosen[0].tiles.panels > 1
    assert chosen[0].shown.same_bits
    assert np.array_equal(found, a @ b)


def test_operands_that_do_not_fit_are_multiplied_in_tiles(
    device: Device, chosen: list[Chosen], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the device had little memory: nobody asks for tiles."""
    a, b, c = random(203, 251), random(251, 307), random(203, 307)
    memory = device.info.global_bytes
    monkeypatch.setattr(limits, "FITS_SHARE", 500_000 / memory)
    monkeypatch.setattr(budget, "USUAL_HOST_SHARE", LIMIT / memory)
    monkeypatch.setattr(budget, "USUAL_DEVICE_SHARE", LIMIT / memory)
    monkeypatch.setattr(budget, "host_bytes", lambda: int(50_000_000 * memory / LIMIT))
    where: dict[str, Any] = {"device": device.info.label}
    assert close(matmul(a, b, **where), a, b)
    assert np.allclose(gemm(a, b.T.copy(), c, trans_b="T", beta=1, **where), a @ b + c, atol=1e-3)
    assert len(chosen) == 2
    assert all(each.tiles.tiles > 2 for each in chosen)
    assert close(matmul(a[:50], b, **where), a[:50], b)
    assert np.array_equal(transpose(c[:100], **where), c[:100].T)
    assert len(chosen) == 2
    big = random(300, 310)
    assert np.array_equal(transpose(big, **where), big.T)
    assert len(chosen) == 3
    stack = big.reshape(3, 100, 310)
    assert np.array_equal(matrix_transpose(stack, **where), stack.swapaxes(1, 2))
    assert len(chosen) == 4
    assert np.array_equal(transpose(stack, **where), stack.T)  # which tiles do not do
    wide, high = random(40, 1, 30, 20), random(30, 20, 10)
    assert np.allclose(matmul(wide, high, **where), wide @ high, atol=1e-3)
    assert len(chosen) == 5
    bytes_a, bytes_b = random(400, 100, dtype="int8"), random(100, 300, dtype="int8")
    assert np.array_equal(matmul(bytes_a, bytes_b, **where), bytes_a.astype(np.int32) @ bytes_b)
    assert len(chosen) == 6


@pytest.mark.parametrize("wrong", ["8XB", "", "GB", "-3GB", 0, -5, "0GB", 1.5, True])
def test_wrong_limits_are_refused(wrong: Any, device: Device) -> None:
    a = random(10, 10)
    for name in ("max_device_bytes", "max_host_bytes"):
        with pytest.raises(InvalidInput, match=name):
            matmul(a, a, **{name: wrong})
        with pytest.raises(InvalidInput, match=name):  # also where there is nothing to compute
            matmul(a[:0], a, **{name: wrong})
        with pytest.raises(InvalidInput, match=name):
            transpose(a[:0], **{name: wrong})


def test_limits_too_small_for_a_tile_are_refused_with_the_numbers(device: Device) -> None:
    a = random(500, 500)
    with pytest.raises(
        InvalidInput, match=r"30,000 bytes on a device is too small.*64x64 over 64 of k, need \d\d,\d\d\d bytes"
    ):
        matmul(a, a, device=device.info.label, max_device_bytes=30_000)
    with pytest.raises(InvalidInput, match="max_host_bytes"):
        matmul(a, a, device=device.info.label, max_host_bytes=30_000)
    with pytest.raises(InvalidInput, match=r"1,000,000 bytes, and max_host_bytes=500,000: pass out="):
        matmul(a, a, device=device.info.label, max_host_bytes=500_000)


def test_rules_apply_before_anything_is_written(device: Device) -> None:
    a, b, out = random(100, 100), random(100, 100), np.full((100, 100), 7, np.float32)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    refused: list[Callable[[], Any]] = [
        lambda: matmul(a, b[:50], out, **where),
        lambda: matmul(a, b, out[:50], **where),
        lambda: matmul(a, b.astype(complex), out, **where),
        lambda: matmul(a, b, out.astype(int), **where),
        lambda: matmul(a, b, a, **where),
        lambda: matmul(a, b, b[::-1], **where),
        lambda: gemm(a, b, out[::-1], beta=1, out=out, **where),
        lambda: gemm(a, b, beta=1, out=out, **where),
        lambda: gemm(a, b, activation="selu", out=out, **where),
        lambda: transpose(a, a, **where),
        lambda: matmul(a, b, out, axes=[(0, 1)] * 3, **where),
        lambda: matmul(a, b, out, queue=device.queue, max_device_bytes=LIMIT),
    ]
    for call in refused:
        with pytest.raises((InvalidInput, LookupError)):
            call()
    for values in (np.array([["a"]]), np.array([[None]])):
        with pytest.raises(UnsupportedType):
            matmul(values, values, **where)
    with pytest.raises(UnsupportedType, match="use NumPy's copy"):
        transpose(np.array([[None]]), **where)
    with pytest.raises(Unsupported, match="pass it by matrices"):
        transpose(random(3, 4, 5), **where)
    read_only = np.zeros((100, 100), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(InvalidInput, match="read-only"):
        matmul(a, b, read_only, **where)
    assert (out == 7).all()
