"""The tests' own product with a fault in it."""

from collections.abc import Callable

from tilewright.core.kernel import Kernel

STORE = "C[row * N + column] = sum;"  # the line of `shapes.NAIVE` that most faults take the place of
MakeKernel = Callable[[str, str], Kernel]
