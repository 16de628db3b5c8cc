"""Ready calls on PyTorch's tensors, on a pretended GPU: what later calls must notice. The tensors lie in the host's memory."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from pretended_cuda import PretendedDevice

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from tilewright import gemm, matmul, prepare, transpose  # noqa: E402
from tilewright.errors import InvalidInput  # noqa: E402
from tilewright.library import lookup, prepared, products  # noqa: E402
from tilewright.library.cuda_arrays import frameworks, of_torch, torch_alike  # noqa: E402
from tilewright.library.cuda_arrays.of_torch import TorchArrays  # noqa: E402
from tilewright.library.memory import choice  # noqa: E402
from tilewright.library.memory import cuda as cuda_memory  # noqa: E402
from tilewright.runtime.opencl.device import Device  # noqa: E402

Product = Callable[..., Any]


class HostTensors(TorchArrays):
    """Tensors of the CPU that say they lie on a GPU."""

    def __init__(self, device: PretendedDevice) -> None:
        self._device = device

    @staticmethod
    def ordinal(value: Any) -> int:
        return 0

    @staticmethod
    def stream_of(ordinal: int) -> int:
        return 1

    def holds(self, value: Any) -> bool:
        return True

    def maker(self, shape: Any, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        def make() -> Any:
            made = torch.full(shape, 77, dtype=of_torch.torch_type(dtype))
            self._device.known.append(made.numpy())
            return made

        return make


class Calls:
    """`matmul` and prepared products of tensors that the device knows."""

    def __init__(self, device: PretendedDevice) -> None:
        self.device = device
        self.general = 0  # calls that went the general way

    def tensor(self, *shape: int, seed: int = 0, dtype: Any = None) -> Any:
        generator = torch.Generator().manual_seed(seed)
        made = torch.randn(shape, generator=generator, dtype=dtype or torch.float32)
        return self.known(made)

    def known(self, tensor: Any) -> Any:
        flat = torch.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
        self.device.known.append(flat.numpy())
        return tensor

    def is_ready(self, call: Callable[[], Any]) -> bool:
        before = self.general
        call()
        return self.general == before


@pytest.fixture(params=["guards", "attributes"])
def calls(sharing_device: Device, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Calls:
    device = PretendedDevice(sharing_device)
    framework, made = HostTensors(device), Calls(device)
    monkeypatch.setattr(torch_alike, "_compare", getattr(torch_alike, f"by_{request.param}"))
    monkeypatch.setattr(cuda_memory, "library_device", lambda ordinal: device)
    for kind in (torch.Tensor, torch.nn.Parameter):
        monkeypatch.setitem(frameworks._found, kind, framework)
    monkeypatch.setattr(choice, "MEMORIES", choice.MEMORIES.copy())
    for module in (lookup, prepared, products):
        monkeypatch.setattr(module, "MEMORIES", choice.MEMORIES)
    whole = cuda_memory.CudaMemory.run

    def run(self: Any, *arguments: Any) -> None:
        made.general += 1
        whole(self, *arguments)

    monkeypatch.setattr(cuda_memory.CudaMemory, "run", run)
    return made


def product_by_gemm(a: Any, b: Any, out: Any = None, bias: Any = None) -> Any:
    return gemm(a, b, out=out, bias=bias)


@pytest.fixture(params=["matmul", "prepared", "gemm", "biased"])
def product(request: pytest.FixtureRequest, calls: Calls) -> Product:
    """A product of 6 x 6 matrices that has ready calls with and without `out`."""
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    if request.param == "matmul":
        called: Product = matmul
    elif request.param == "prepared":
        called = prepare(a, b, out)
    else:
        zero = calls.known(torch.zeros(6)) if request.param == "biased" else None  # with which less is written out
        called = partial(product_by_gemm, bias=zero)
    for _ in range(2):
        called(a, b)
        called(a, b, out)
    return called


def test_later_calls_are_ready(product: Product, calls: Calls) -> None:
    for seed in range(3):
        a, b, out = (calls.tensor(6, 6, seed=10 * seed + place) for place in range(3))
        assert calls.is_ready(partial(product, a, b))
        assert calls.is_ready(partial(product, a, b, out))
        assert torch.allclose(out, a @ b, atol=1e-4)
        assert torch.equal(product(a, b), out)


def test_one_tensor_twice(product: Product, calls: Calls) -> None:
    """PyTorch's guards refuse one object twice."""
    a, out = calls.tensor(6, 6, seed=5), calls.tensor(6, 6)
    for _ in range(3):
        assert torch.allclose(product(a, a), a @ a, atol=1e-4)
        product(a, a, out)
        assert torch.allclose(out, a @ a, atol=1e-4)
    assert calls.is_ready(lambda: product(a, a, out))
    wanted = a @ a
    assert product(a, a, a) is a
    assert torch.allclose(a, wanted, atol=1e-4)


def test_gradients_are_not_lost(product: Product, calls: Calls) -> None:
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    for given in ((a.clone().requires_grad_(), b), (b, a.clone().requires_grad_())):
        for _ in range(2):
            with torch.no_grad():
                calls.known(given[0]), calls.known(given[1])
                assert torch.allclose(product(*given), given[0] @ given[1], atol=1e-4)
                product(*given, out)
        for target in ((), (out,)):
            with pytest.raises(InvalidInput, match="requires grad"):
                product(*given, *target)
    with torch.no_grad(), pytest.raises(InvalidInput, match="out requires grad"):
        product(a, b, out.clone().requires_grad_())


def test_an_overwritten_tensor_has_another_version(product: Product, calls: Calls) -> None:
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    before = out._version
    assert calls.is_ready(lambda: product(a, b, out))
    assert out._version > before
    versions = a._version, b._version
    product(a, b, out)
    assert (a._version, b._version) == versions


def test_work_not_yet_done_is_done_first(calls: Calls) -> None:
    a, b = (calls.tensor(6, 6, seed=seed, dtype=torch.complex64) for seed in range(2))
    for _ in range(2):
        matmul(a, b)
    part, other = a.imag, calls.tensor(6, 6)
    for _ in range(2):
        assert torch.allclose(matmul(part, other), part @ other, atol=1e-4)
    negated = a.conj().imag
    assert negated.is_neg()
    taken: list[Any] = []
    whole = torch.Tensor.resolve_neg

    def resolved(tensor: Any) -> Any:
        taken.append(calls.known(whole(tensor)))
        return taken[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "resolve_neg", resolved)
        assert torch.allclose(matmul(negated, other), negated @ other, atol=1e-4)
        assert torch.allclose(matmul(a.conj(), b), a.conj() @ b, atol=1e-4)
    assert len(taken) == 2


def test_another_layout_or_memory_is_noticed(product: Product, calls: Calls) -> None:
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    if product is matmul:
        for left, right in (
            (a.t(), b),
            (a, b.t()),
            (a.double(), b.double()),
            (a[:4], b),
            (a.reshape(4, 9), b.reshape(9, 4)),
        ):
            calls.known(left), calls.known(right)
            for _ in range(2):
                assert torch.allclose(product(left, right), left @ right, atol=1e-4)
    wide = calls.known(torch.zeros(6, 12))
    for _ in range(2):
        product(a, b, wide[:, ::2])
        assert torch.allclose(wide[:, ::2], a @ b, atol=1e-4)
        assert not wide[:, 1::2].any()
    long = calls.known(torch.zeros(100))
    for begin in (0, 4, 5, 6, 7):
        shifted = long[begin : begin + 36].view(6, 6)
        shifted.copy_(a)
        for _ in range(2):
            for left, right in ((shifted, b), (b, shifted)):
                product(left, right, out)
                assert torch.allclose(out, left @ right, atol=1e-4)
                assert torch.equal(product(left, right), out)
            product(a, b, shifted)
            assert torch.allclose(shifted, a @ b, atol=1e-4)
            shifted.copy_(a)
            product(shifted, shifted, out)
            assert torch.allclose(out, a @ a, atol=1e-4)


def test_shared_memory_is_noticed(product: Product, calls: Calls) -> None:
    b, memory = calls.tensor(6, 6, seed=1), calls.known(torch.zeros(200))
    for begin in (0, 4, 32, 36, 40):
        a, out = memory[32:68].view(6, 6), memory[begin : begin + 36].view(6, 6)
        for pair in ((a, b), (b, a)):
            a.copy_(calls.tensor(6, 6, seed=begin))
            wanted = pair[0] @ pair[1]
            shared = abs(begin - 32) < 36
            assert calls.is_ready(partial(product, *pair, out)) is not shared  # a small kernel may be right by luck
            assert torch.allclose(out, wanted, atol=1e-4)


def test_one_address_among_those_that_passed_is_noticed(product: Product, calls: Calls) -> None:
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    for place in range(2):
        operands = [a, b]
        assert calls.is_ready(partial(product, *operands, out))
        operands[place] = out.detach()  # at the address of `out`
        wanted = operands[0] @ operands[1]
        assert not calls.is_ready(partial(product, *operands, out))
        assert torch.allclose(out, wanted, atol=1e-4)


def test_a_tensor_without_memory_reaches_no_kernel(product: Product, calls: Calls) -> None:
    """As sharded parameters are between their uses."""
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    empty = torch.randn(6, 6)
    empty.untyped_storage().resize_(0)
    assert empty.shape == a.shape
    assert not empty.data_ptr()
    for arrays in ((empty, b), (a, empty), (a, b, empty), (empty, b, out)):
        before = calls.general
        with pytest.raises(AssertionError, match="in no known array"):  # the pretended GPU's answer to the general way
            product(*arrays)
        assert calls.general > before


def test_modes_of_pytorch_do_not_mix(product: Product, calls: Calls) -> None:
    a, b, out = (calls.tensor(6, 6, seed=seed) for seed in range(3))
    for mode in (torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", dtype=torch.bfloat16)):
        for _ in range(2):
            with mode():
                found = product(a, b)
                assert found.dtype == torch.float32
                product(a, b, out)
            assert np.allclose(found.numpy(), a.numpy() @ b.numpy(), atol=1e-4)
            assert torch.equal(out, product(a, b))


def test_copies_of_tensors_are_ready(calls: Calls) -> None:
    a = calls.tensor(5, 7)
    for _ in range(3):
        assert torch.equal(transpose(a), a.t())
    assert calls.is_ready(lambda: transpose(a))


def test_scales_may_be_numbers(calls: Calls) -> None:
    """Of any value: no call that is ready for one takes another."""
    a, b = (torch.randn(shape).to(torch.float8_e4m3fn) for shape in ((8, 16), (16, 8)))
    for each in (a, b):
        calls.device.known.append(each.view(torch.uint8).numpy())
    rows = calls.tensor(8)
    exact = a.double() @ b.double()
    product = prepare(a, b, scale_a=2.0, scale_b=rows)
    for number in (2.0, 0.5, 3, 3):
        found = product(a, b, scale_a=number, scale_b=rows)
        assert torch.allclose(found.double(), number * exact * rows.double(), atol=1e-3)
        assert torch.allclose(gemm(a, b, scale_a=number).double(), number * exact, atol=1e-3)
