"""Retargeting of PTX text, and what tensor maps refuse."""

import pytest

from tilewright.core.tensor_map import TensorMap, tensor_map_violation
from tilewright.errors import InvalidInput, Unsupported
from tilewright.runtime.opencl.retarget import retarget

PTX = """
.version 9.0
.target sm_90, texmode_independent
.entry k(.param .u64 .ptr .global k_param_0)
.reqntid 384, 1, 1
{
    // begin inline asm
    //@setmaxnreg.dec.sync.aligned.u32 40;
    // end inline asm
    ret;
}
"""


def test_marks_are_removed_and_the_target_is_changed() -> None:
    text = retarget(PTX, "sm_90a")
    assert ".target sm_90a, texmode_independent" in text
    assert "\n    setmaxnreg.dec.sync.aligned.u32 40;" in text
    assert "//@" not in text


def test_a_kernel_with_setmaxnreg_gets_the_registers_that_all_its_items_can_have() -> None:
    assert ".reqntid 384, 1, 1\n.maxnreg 168\n" in retarget(PTX, "sm_90a")
    assert ".reqntid 128\n.maxnreg 255\n" in retarget(PTX.replace("384, 1, 1", "128"), "sm_90a")


def test_without_setmaxnreg_the_compiler_chooses() -> None:
    assert ".maxnreg" not in retarget(PTX.replace("setmaxnreg", "wgmma.fence"), "sm_90a")


@pytest.mark.parametrize("found", [".target sm_100, texmode_independent", ".target sm_80", "no PTX at all"])
def test_another_family_is_refused(found: str) -> None:
    with pytest.raises(Unsupported, match="sm_90"):
        retarget(PTX.replace(".target sm_90, texmode_independent", found), "sm_90a")


def test_a_tensor_map_has_a_stride_less_than_sizes() -> None:
    with pytest.raises(InvalidInput, match=r"\(8, 8\).*\(\)"):
        TensorMap("float32", (8, 8), (), (8, 8))


@pytest.mark.parametrize(
    ("map_", "words"),
    [
        (TensorMap("float32", (9, 8), (36,), (8, 8)), "multiples of 16 bytes, not 36"),
        (TensorMap("float32", (0, 8), (32,), (8, 8)), "from 1 to 2"),
        (TensorMap("float32", (512, 8), (2048,), (512, 8)), "1 to 256 elements a side, not 512"),
        (TensorMap("float32", (8, 8), (32,), (2, 8)), "multiples of 16 bytes, not 8"),
        (TensorMap("float32", (64, 8), (256,), (64, 8), 128), "swizzle of 128 bytes, not 256"),
    ],
)
def test_what_the_copy_engine_cannot_read_is_said_in_a_sentence(map_: TensorMap, words: str) -> None:
    assert words in tensor_map_violation("A", map_, 4)


def test_what_it_can_read_has_no_sentence() -> None:
    assert tensor_map_violation("A", TensorMap("float32", (33, 8, 3), (144, 1152), (32, 8, 1), 128), 4) == ""
