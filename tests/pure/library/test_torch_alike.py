"""Comparisons of tensors: what they tell apart, and that a faulty one is found out before it is used."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from tilewright.library.cuda_arrays.torch_alike import alike, by_attributes, by_guards, discerns  # noqa: E402

BOTH = pytest.mark.parametrize("compare", [by_attributes, by_guards])


class Special(torch.Tensor):  # type: ignore[misc]
    """A subclass, which may do anything else."""


@BOTH
def test_both_comparisons_tell_tensors_apart(compare: Any) -> None:
    assert discerns(compare)
    a, b = torch.zeros(2, 3), torch.zeros(4)
    assert compare(a, b)(torch.ones(2, 3), torch.ones(4))
    assert not compare(a, b)(torch.ones(4), torch.ones(2, 3))
    assert not compare(a)(torch.zeros(2, 3).as_subclass(Special))


@BOTH
def test_no_tensor_is_kept(compare: Any) -> None:
    a = torch.zeros(2, 3)
    compared, gone = compare(a), weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None
    assert compared(torch.ones(2, 3))


# What tells tensors apart.
PARTS: dict[str, Callable[[Any], Any]] = {
    "type": type, "device": lambda t: t.device, "layout": lambda t: t.layout, "dtype": lambda t: t.dtype,
    "shape": lambda t: t.shape, "strides": lambda t: t.stride() if t.layout is torch.strided else (3, 1),
    "requires_grad": lambda t: t.requires_grad, "neg": lambda t: t.is_neg(), "conj": lambda t: t.is_conj(),
    "zero": lambda t: t._is_zerotensor(),
}  # fmt: skip


@pytest.mark.parametrize("left_out", [*PARTS, "nothing"])
def test_a_comparison_that_leaves_something_out_is_not_used(left_out: str) -> None:
    parts = [part for name, part in PARTS.items() if name != left_out]

    def read(tensor: Any) -> Any:
        return [part(tensor) for part in parts] if isinstance(tensor, torch.Tensor) else None

    def compare(*tensors: Any) -> Any:
        wanted = [read(each) for each in tensors]
        return lambda *others: [read(each) for each in others] == wanted

    assert discerns(compare) is (left_out == "nothing")


def test_guards_that_ignore_requires_grad_without_a_record_are_not_used() -> None:
    def compare(*tensors: Any) -> Any:
        def read(tensor: Any) -> Any:
            records = tensor.requires_grad and torch.is_grad_enabled()
            return [part(tensor) for name, part in PARTS.items() if name != "requires_grad"] + [records]

        wanted = [read(each) for each in tensors]
        return lambda *others: (
            all(isinstance(each, torch.Tensor) for each in others) and list(map(read, others)) == wanted
        )

    assert not discerns(compare)


@pytest.mark.parametrize("error", [AttributeError, TypeError, RuntimeError])
def test_a_pytorch_without_such_guards_has_the_other_way(error: type[Exception]) -> None:
    def compare(*tensors: Any) -> Any:
        raise error("changed")

    assert not discerns(compare)


def test_parameters_are_taken_where_no_gradient_is_recorded() -> None:
    weight, plain = torch.nn.Parameter(torch.zeros(2, 3)), torch.zeros(4)
    taken = alike(weight, plain)
    assert not taken(weight, plain)
    with torch.no_grad():
        assert taken(weight, plain)
        assert not taken(torch.nn.Parameter(torch.zeros(2, 4)), plain)
