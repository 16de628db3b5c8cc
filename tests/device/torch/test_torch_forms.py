"""`products` where PyTorch's functions have rules of their own: sums of 16-bit floats, shapes, and forms of arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.nn import functional  # noqa: E402
from torch_cases import check_close, spied, tensor  # noqa: E402

from tilewright.torch import products  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
Call = Callable[[], Any]
A, B, ROW, STACK = tensor((6, 8)), tensor((8, 5)), tensor((5,)), tensor((3, 6, 8))
SHORT = [torch.float16, torch.bfloat16]
# Rank, shape of the input, alpha, beta, and whether it is routed in 16 bits.
SUMS = {
    "row": (2, (5,), 1, 1, True),
    "product": (2, (5,), 1, 0, True),
    "products": (3, (5,), 1, 0, True),
    "matrix": (2, (6, 5), 1, 1, False),
    "scaled row": (2, (5,), 0.125, 1, False),
    "scaled product": (2, (1,), 0.125, 0, False),
    "part of a row": (2, (5,), 1, 0.3, False),
    "stacks": (3, (6, 5), 1, 1, False),
    "scaled stacks": (3, (3, 6, 5), 0.3, -2.0, False),
}


def added(rank: int, given: Sequence[Any], alpha: Any, beta: Any) -> Any:
    """`addmm` or `baddbmm` of input and factors."""
    function = torch.addmm if rank == 2 else torch.baddbmm
    return function(*given, alpha=alpha, beta=beta)


@pytest.mark.parametrize("compiled", [False, True], ids=["called", "compiled"])
def test_sums_of_16_bits_are_finite_where_the_product_alone_is_not(compiled: bool) -> None:
    half = torch.float16
    q, k, x = (
        torch.full(shape, value, dtype=half) for shape, value in (((2, 3, 64), 50), ((2, 64, 3), 50), ((4, 1200), 8))
    )
    cases: tuple[tuple[Call, float], ...] = (
        (lambda: torch.baddbmm(torch.zeros(2, 3, 3, dtype=half), q, k, beta=0, alpha=64**-0.5), 20000),
        (lambda: torch.addmm(torch.zeros(3, dtype=half), q[0], k[0], alpha=0.125), 20000),
        (lambda: torch.addmm(torch.full((4, 4), -60000.0, dtype=half), x, x.T), 16800),
        (lambda: torch.addmm(torch.full((4,), -60000.0, dtype=half), x, x.T), 16800),
        (lambda: functional.linear(x, x, torch.full((4,), -60000.0, dtype=half)), 16800),
    )
    torch._dynamo.reset()
    for call, value in cases:
        with products():
            found = (torch.compile(call, fullgraph=True, backend="aot_eager") if compiled else call)()
        assert found.unique().tolist() == [value]


@pytest.mark.parametrize("precision", [None, "reproducible"])
@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_16_bits_lose_no_more_than_pytorchs(
    name: str, dtype: Any, precision: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank, shape, alpha, beta, routed = SUMS[name]
    stack = () if rank == 2 else (3,)
    given = [300 * tensor(shape, dtype), tensor((*stack, 6, 64), dtype), 8 * tensor((*stack, 64, 5), dtype)]
    if beta:
        given = [each.requires_grad_() for each in given]
    else:
        given[1:] = [each.requires_grad_() for each in given[1:]]
    wide = [each.detach().double().requires_grad_(each.requires_grad) for each in given]
    theirs, expected = added(rank, given, alpha, beta), added(rank, wide, alpha, beta)
    calls = spied(monkeypatch)
    with products(precision=precision):
        found = added(rank, given, alpha, beta)
    assert bool(calls) is (routed or precision is not None)
    rounding = torch.finfo(dtype).eps * float(expected.detach().abs().max())
    errors = [float((each.double() - expected).detach().abs().max()) for each in (found, theirs)]
    assert errors[0] <= errors[1] + rounding
    recorded = [number for number, each in enumerate(given) if each.requires_grad]
    ours = torch.autograd.grad(found.sum(), [given[number] for number in recorded])
    exact = torch.autograd.grad(expected.sum(), [wide[number] for number in recorded])
    for one, other in zip(ours, exact, strict=True):
        check_close(one, other, 4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [*SHORT, torch.float32], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_reproducible_sums_have_the_bits_of_their_rows(name: str, dtype: Any) -> None:
    """Whatever other rows there are. Sums of 16 bits are those of float32, rounded once."""
    rank, shape, alpha, beta, _ = SUMS[name]
    stack = () if rank == 2 else (3,)
    input, a, b = (tensor(each, dtype) for each in (shape, (*stack, 6, 700), (*stack, 700, 5)))
    part = input[..., 2:4, :] if input.dim() > 1 else input
    with products(precision="reproducible"):
        whole = added(rank, (input, a, b), alpha, beta)
        some = added(rank, (part, a[..., 2:4, :], b), alpha, beta)
        sums = a.float() @ b.float()
    assert torch.equal(whole[..., 2:4, :], some)
    if name != "row":  # which is one operation of the kernel
        wide = alpha * sums + (beta * input.float() if beta else 0)
        assert torch.equal(whole, wide.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_and_their_gradients_in_wider_types(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rank, shape, alpha, beta, _ = SUMS[name]
    stack = () if rank == 2 else (3,)
    shapes = (shape, (*stack, 6, 8), (*stack, 8, 5))
    given = [tensor(each, dtype).requires_grad_(bool(beta) or number > 0) for number, each in enumerate(shapes)]
    recorded = given if beta else given[1:]
    expected = added(rank, given, alpha, beta)
    of_expected = torch.autograd.grad(expected.real.sum(), recorded)
    calls = spied(monkeypatch)
    with products():
        found = added(rank, given, alpha, beta)
    assert len(calls) == 1
    for one, other in zip(
        (found, *torch.autograd.grad(found.real.sum(), recorded)), (expected, *of_expected), strict=True
    ):
        assert one.shape == other.shape
        assert torch.allclose(one, other, atol=1e-4, rtol=1e-4)


def test_an_input_that_is_not_read_has_gradients_of_zero() -> None:
    for rank, a in ((2, A), (3, STACK)):
        input = torch.full((6, 5), torch.nan, requires_grad=True)
        for alpha in (1, 2):
            with products():
                found = added(rank, (input, a, B if rank == 2 else B.expand(3, 8, 5)), alpha, 0)
            input.grad = None
            found.sum().backward()
            assert torch.equal(input.grad, torch.zeros(6, 5))
            check_close(found, alpha * (a @ B).double(), 2.0**-17)


FORMS: dict[str, Call] = {
    "alpha=True": lambda: torch.addmm(ROW, A, B, alpha=True),
    "alpha=True of stacks": lambda: torch.baddbmm(ROW, STACK, B.expand(3, 8, 5), alpha=True, beta=2),
    "beta=False": lambda: torch.addmm(ROW, A, B, beta=False),
    "alpha as a tensor": lambda: torch.addmm(ROW, A, B, alpha=torch.tensor(2.0)),
    "complex alpha": lambda: torch.addmm(ROW.cfloat(), A.cfloat(), B.cfloat(), alpha=2j),
    "factors by names": lambda: torch.addmm(ROW, mat1=A, mat2=B),
    "method": lambda: ROW.addmm(A, B, beta=2),
    "a bias for all": lambda: functional.linear(A, B.T, ROW[:1]),
    "a bias without dimensions": lambda: functional.linear(A, B.T, ROW[0]),
    "a bias of rows": lambda: functional.linear(A, B.T, A[:, :5]),
    "stacks that broadcast": lambda: STACK.unsqueeze(1) @ B.expand(2, 8, 5),
}
WRONG: dict[str, Call] = {
    "@": lambda: A @ A,
    "matmul": lambda: torch.matmul(A, A),
    "mm": lambda: torch.mm(A, A),
    "mv": lambda: torch.mv(A, ROW),
    "bmm": lambda: torch.bmm(STACK, STACK),
    "bmm of a matrix": lambda: torch.bmm(A, STACK),
    "stacks": lambda: STACK @ B.expand(2, 8, 5),
    "addmm": lambda: torch.addmm(ROW, A, A),
    "baddbmm": lambda: torch.baddbmm(ROW, STACK, STACK),
    "linear": lambda: functional.linear(A, B),
    "bias": lambda: functional.linear(A, B.T, ROW[:2]),
    "input": lambda: torch.addmm(torch.ones(9, 9), A, B),
    "input that is not read": lambda: torch.addmm(torch.ones(9, 9), A, B, beta=0),
    "input of too many dimensions": lambda: torch.addmm(torch.ones(1, 6, 5), A, B, beta=0),
    "complex alpha of real tensors": lambda: torch.addmm(ROW, A, B, alpha=2j),
    "one operand": lambda: torch.mm(A),
    "three operands": lambda: torch.matmul(A, B, B),
    "no factors": lambda: torch.addmm(ROW),
    "names of tilewright's": lambda: torch.addmm(ROW, a=A, b=B),
    "a weight that is missing": lambda: functional.linear(A),
}


@pytest.mark.parametrize("name", FORMS)
def test_whatever_pytorch_takes_has_its_values(name: str) -> None:
    expected = FORMS[name]()
    with products():
        found = FORMS[name]()
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("name", WRONG)
def test_whatever_pytorch_refuses_has_its_errors(name: str) -> None:
    with pytest.raises((RuntimeError, TypeError)) as expected:
        WRONG[name]()
    with products(), pytest.raises(type(expected.value)) as found:
        WRONG[name]()
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("form", ["position", "name"])
def test_products_with_a_type_of_their_own_stay_pytorchs(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch has them on GPUs alone, and in some versions."""
    calls = spied(monkeypatch)
    more: Any = ((torch.float32,), {}) if form == "position" else ((), {"out_dtype": torch.float32})
    with products(), pytest.raises((RuntimeError, TypeError), match="mm"):
        torch.mm(A, B, *more[0], **more[1])
    assert calls == []
