"""Products of short floats write C and nothing behind it, also where K is cut into blocks and sums wait between them."""

import numpy as np
import pytest

from tilewright import matmul
from tilewright.runtime.opencl.device import Device

FENCE = 7.0


@pytest.mark.parametrize("shape", [(403, 440, 513), (400, 400, 400)], ids=lambda shape: "x".join(map(str, shape)))
def test_nothing_behind_a_result_of_halves_is_written(shape: tuple[int, int, int], device: Device) -> None:
    """The room behind C would hold its sums as floats, and more, so that no fault can reach beyond it."""
    m, k, n = shape
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-1, 2, each).astype(np.float16) for each in ((m, k), (k, n)))
    whole = np.full(4 * m * n, FENCE, np.float16)
    result = matmul(a, b, whole[: m * n].reshape(m, n), queue=device.queue)
    assert np.shares_memory(result, whole)
    assert np.count_nonzero(whole[m * n :] != FENCE) == 0
    assert np.array_equal(result, a.astype(np.int64) @ b.astype(np.int64))  # sums of up to 440 ones: halves hold them
