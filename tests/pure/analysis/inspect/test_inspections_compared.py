"""Two inspections side by side, where the tool for one of them is not here."""

from tilewright.analysis.inspect import Inspection
from tilewright.analysis.inspect.compare import compare


def inspection(arch: str, origin: str, form: str, *missing: str) -> Inspection:
    return Inspection("tiles/06", "BM=128", "float32", arch, arch, 256, origin, form, missing=missing)


def test_what_no_tool_has_made_has_no_maker_and_no_instruction_set() -> None:
    lines = compare(inspection("sm_90", "NVRTC 13.5", "PTX"), inspection("gfx1100", "", "", "clang would compile it"))
    assert "     A by NVRTC 13.5" in lines
    assert not any(line.startswith("     B by") for line in lines)
    assert lines[-1] == "missing for B: clang would compile it"


def test_other_instruction_sets_are_noted() -> None:
    lines = compare(inspection("sm_90", "NVRTC 13.5", "PTX"), inspection("gfx1100", "clang 19", "ISA"))
    assert "     B by clang 19" in lines
    assert lines[-1].startswith("note: the instruction sets differ")
