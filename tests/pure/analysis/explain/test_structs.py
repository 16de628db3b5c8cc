"""Structs and unions: how they are laid out, and how they are filled."""

import numpy as np
import pytest

from tilewright.analysis.explain import explain_source


def stored(prelude: str, body: str, lanes: int = 4) -> list[int]:
    """What each of the work-items stores in its element of `o`, which holds 99 before; `g` is the global id."""
    found = explain_source(
        f"{prelude}\n__kernel void k(__global int* o) {{ int g = get_global_id(0);\n{body} }}",
        global_size=(lanes,), local_size=(lanes,), arguments={"o": np.full(lanes, 99, np.int32)},
    )  # fmt: skip
    assert found.faults == ()
    return [int(each) for each in found.outputs["o"]]


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize(
    ("initialiser", "value"), [("{5}", 50), ("{0}", 0), ("{}", 0), ("{5, 2}", 52), ("{.b = 1}", 1)]
)
def test_bit_fields_of_one_byte_are_initialised(initialiser: str, value: int, lanes: int) -> None:
    struct = "struct s { uchar a : 3, b : 2; };"
    assert stored(struct, f"struct s s = {initialiser}; o[g] = 10 * s.a + s.b;", lanes) == [value] * lanes
