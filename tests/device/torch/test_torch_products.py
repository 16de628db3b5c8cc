"""`tilewright.torch.matmul` and `linear` of CPU tensors: values and gradients against PyTorch's in float64, and refusals."""

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch_cases import (  # noqa: E402
    FLOATS,
    LAYERS,
    PRODUCTS,
    check_close,
    check_product,
    layer_operands,
    spied,
    tensor,
    torch_linear,
)

from tilewright.errors import InvalidInput, UnknownName, Unsupported, UnsupportedType  # noqa: E402
from tilewright.torch import linear, matmul  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
OPERATORS = torch.ops.tilewright
WRONG: Any = object()
OTHER_FLOAT8 = torch.float8_e4m3fnuz  # of which the library has no kernel
IN_OPCHECK = pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # its own code is warned of
ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products_and_their_gradients(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: Any) -> None:
    result = check_product(matmul, torch.matmul, tensor(shapes[0], dtype), tensor(shapes[1], dtype, seed=1))
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("shape", LAYERS, ids=str)
def test_layers_and_their_gradients(shape: tuple[int, ...], bias: bool, dtype: Any) -> None:
    result = check_product(linear, torch_linear, *layer_operands(shape, bias, dtype))
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
def test_any_strides(dtype: Any) -> None:
    block = tensor((40, 60), dtype)
    check_product(matmul, torch.matmul, block.T, block)
    check_product(matmul, torch.matmul, block[::3, 5:15], block[10:20, 1::2])
    check_product(matmul, torch.matmul, block.reshape(5, 8, 60).transpose(0, 1), block.T)
    check_product(matmul, torch.matmul, block[:1].expand(7, 60), block.T)
    check_product(linear, torch_linear, block.reshape(5, 8, 60)[:, ::2], block[:7], block[:7, 3])
    whole = tensor((33, 17), dtype)
    check_close(matmul(whole.mH, whole), whole.mH.to(torch.complex128) @ whole.to(torch.complex128), 2.0**-7)


def test_lazily_conjugated_and_negated_tensors() -> None:
    a = tensor((5, 6), torch.complex128)
    assert torch.allclose(matmul(a, a.mH), a.resolve_conj() @ a.mH.resolve_conj())
    assert torch.allclose(matmul(a.conj().imag, a.real.T), -a.imag @ a.real.T)


def test_integers_and_short_floats_have_the_librarys_results() -> None:
    small = torch.full((2, 1000), 100, dtype=torch.int8)
    assert matmul(small, small.T).tolist() == [[10000000] * 2] * 2
    for dtype in (
        torch.uint8,
        torch.int16,
        torch.uint16,
        torch.int32,
        torch.uint32,
        torch.int64,
        torch.uint64,
        torch.bool,
    ):
        few = torch.tensor([[1, 0, 2], [0, 0, 3]]).to(dtype)
        wide = few.long() @ few.long().T
        assert torch.equal(matmul(few, few.T), wide.to(dtype)), dtype
    short = tensor((4, 8)).to(torch.float8_e4m3fn)
    result = matmul(short, short.T)
    assert result.dtype == torch.float32
    check_close(result, short.double() @ short.double().T, 2.0**-17)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    operands = layer_operands((7, 4), True, torch.float32)
    expected = ACTIVATIONS[name]

    def theirs(*given: Any) -> Any:
        return expected(torch_linear(*given))

    check_product(lambda *given: linear(*given, activation=name), theirs, *operands)
    with torch.no_grad():
        fused = linear(*operands, activation=name)
    assert not fused.requires_grad
    check_close(fused, theirs(*(each.double() for each in operands if each is not None)), 2.0**-17)


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_derivatives_of_products_by_differences(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    operands = [tensor(each, torch.float64).requires_grad_() for each in shapes]
    assert torch.autograd.gradcheck(matmul, operands, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(matmul, operands)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("shape", LAYERS[:3], ids=str)
def test_derivatives_of_layers_by_differences(shape: tuple[int, ...], dtype: Any) -> None:
    operands = [each.requires_grad_() for each in layer_operands(shape, True, dtype) if each is not None]
    assert torch.autograd.gradcheck(linear, operands, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(linear, operands)


@IN_OPCHECK
@pytest.mark.parametrize("records", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_the_product_is_an_operator_as_pytorch_wants_it(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], records: bool
) -> None:
    a, b = (tensor(each).requires_grad_(records) for each in shapes)
    torch.library.opcheck(OPERATORS.matmul.default, (a, b, None))


@IN_OPCHECK
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("shape", LAYERS, ids=str)
def test_the_layer_is_an_operator_as_pytorch_wants_it(shape: tuple[int, ...], bias: bool) -> None:
    operands = layer_operands(shape, bias, torch.float32)
    torch.library.opcheck(OPERATORS.linear.default, (*operands, "gelu", None))
    recorded = [each if each is None else each.requires_grad_() for each in operands]
    torch.library.opcheck(OPERATORS.linear.default, (*recorded, None, "ieee"))


def test_the_bare_operator_has_no_gradient_of_a_fused_activation() -> None:
    input, weight, _ = layer_operands((3, 4), False, torch.float32)
    assert input is not None
    result = OPERATORS.linear(input.requires_grad_(), weight, None, "relu", None)
    with pytest.raises(Unsupported, match=r"activation='relu'.*tilewright\.torch\.linear"):
        result.sum().backward()


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_floats_of_8_bits_have_no_gradients(dtype: Any) -> None:
    a, b = tensor((3, 4)).to(dtype).requires_grad_(), tensor((4, 5)).to(dtype)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(a, b),
        lambda: matmul(b.T, a.T),
        lambda: linear(b.T, a),
        lambda: torch.vmap(matmul, (None, 0))(a, b.unsqueeze(0)),
        lambda: torch.func.grad(lambda x: matmul(x, b).sum())(a.detach()),
    )
    for call in calls:
        with pytest.raises(UnsupportedType, match=r"float8.* have no gradients"):
            call()
    with torch.no_grad():
        assert not matmul(a, b).requires_grad
        assert not torch.vmap(matmul, (None, 0))(a, b.unsqueeze(0)).requires_grad
    assert torch.equal(linear(a.detach(), b.T), matmul(a.detach(), b))
    assert torch.vmap(matmul, (0, None))(a.detach(), b).dtype == torch.float32


def test_gradients_are_computed_only_for_who_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch)
    a, b = tensor((3, 4)).requires_grad_(), tensor((4, 5))
    matmul(a, b, precision="tf32").sum().backward()
    assert calls == [("matmul", "tf32")] * 2
    calls.clear()
    linear(a, tensor((5, 4)), precision="fp32_split").sum().backward()
    assert calls == [("gemm", "fp32_split"), ("matmul", "fp32_split")]


def test_what_is_refused() -> None:
    a = tensor((6, 4))
    refusals: tuple[tuple[Callable[[], Any], type[Exception], str], ...] = (
        (lambda: matmul(a, a), InvalidInput, "the k of a is 4"),
        (lambda: matmul(a, tensor((4, 6), torch.float64)), InvalidInput, r"a has torch\.float32, b has torch\.float64"),
        (lambda: matmul(a, torch.tensor(1.0)), InvalidInput, "at least one dimension"),
        (lambda: matmul(a, a.T.to("meta")), InvalidInput, "a has cpu, b has meta"),
        (lambda: matmul(a.half(), a.T.half(), precision="fp32_split"), InvalidInput, "float16 does not support"),
        (lambda: matmul(a, a.T, precision="exact"), UnknownName, "exact"),
        (lambda: matmul(a, a.T, precision=WRONG), UnknownName, "no precision is called <object"),
        (lambda: linear(a, a, precision=WRONG), UnknownName, "no precision is called <object"),
        (lambda: linear(a, a, activation=WRONG), UnknownName, "no activation is called <object"),
        (lambda: matmul(a.to(OTHER_FLOAT8), a.T.to(OTHER_FLOAT8)), UnsupportedType, "float8_e4m3fnuz.*float32"),
        (
            lambda: matmul(a.to_sparse(), a.T),
            UnsupportedType,
            r"a has the layout torch\.sparse_coo: pass a\.to_dense\(\)",
        ),
        (lambda: linear(a, a.to_sparse()), UnsupportedType, "weight has the layout"),
        (lambda: linear(a, tensor((4, 5))), InvalidInput, r"\(6, 4\), \(4, 5\) and None"),
        (lambda: linear(a, a, tensor((6, 1))), InvalidInput, r"\(6, 1\)"),
        (lambda: linear(a, a, activation="tanh"), UnknownName, "tanh"),
    )
    for call, error, words in refusals:
        with pytest.raises(error, match=words):
            call()


def test_tensors_without_elements_in_memory_have_shapes_and_errors() -> None:
    a, b = tensor((2, 3, 4), device="meta"), tensor((4, 5), device="meta")
    assert matmul(a, b).shape == (2, 3, 5)
    assert matmul(a.to(torch.int8), b.to(torch.int8)).dtype == torch.int32
    assert linear(a, b.T).shape == (2, 3, 5)
    with pytest.raises(RuntimeError, match="k differs"):
        matmul(a, a)


def test_checkpoints_compute_again() -> None:
    operands = [each.requires_grad_() for each in layer_operands((3, 4), True, torch.float32) if each is not None]
    expected = torch.autograd.grad(torch.nn.functional.gelu(torch_linear(*operands)).sum(), operands)
    checkpoint = torch.utils.checkpoint.checkpoint
    for reentrant in (True, False):
        result = checkpoint(lambda *given: linear(*given, activation="gelu"), *operands, use_reentrant=reentrant)
        result.sum().backward()
        for one, other in zip(operands, expected, strict=True):
            check_close(one.grad, other.double(), 2.0**-17)
            one.grad = None
