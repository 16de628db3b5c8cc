"""The counterparts of the special kernels compile with NVRTC, and keep arrays in registers or not, as explain says."""

import re

import pytest

from tilewright.runtime.cuda.nvrtc import Nvrtc, find_nvrtc
from tools.counters.special import explained
from tools.counters.special_patterns import CONSTANT, PRIVATE, SPECIALS, Special


@pytest.fixture(scope="module")
def nvrtc() -> Nvrtc:
    found = find_nvrtc("sm_90")
    if found is None:
        pytest.skip("no NVRTC for sm_90: pip install nvidia-cuda-nvrtc-cu12")
    return found


@pytest.mark.parametrize("special", SPECIALS, ids=lambda each: each.name)
def test_it_compiles_and_uses_the_memory_that_it_is_meant_to(nvrtc: Nvrtc, special: Special) -> None:
    ptx = nvrtc.compile(special.cuda, special.name, "sm_90").ptx
    assert ("ld.const" in ptx) == (special.rule == CONSTANT)
    if special.rule == PRIVATE:
        off_chip = bool(explained(special).private_accesses)
        assert bool(re.search(r"\b(ld|st)\.local", ptx)) == off_chip


SUBSCRIPTS = {
    "a loop that is unrolled": ("int a[8]; for (int j = 0; j < 8; j++) a[j] = index[g + j]; "
    "for (int j = 0; j < 8; j++) o[g] += a[7 - j] * a[j];", False),
    "nested loops": ("int a[4][4]; for (int j = 0; j < 4; j++) for (int m = j; m < 4; m++) a[j][m] = index[g + j * m];\n"
    "for (int j = 0; j < 4; j++) for (int m = j; m < 4; m++) o[g + m] += a[j][m];", False),
    "halving": ("int a[32]; for (int j = 16; j > 0; j >>= 1) a[j] = index[g + j]; "
    "for (int j = 16; j > 0; j >>= 1) o[g + j] = a[j] + l;", False),
    "one of two bounds": ("int a[8]; for (int j = 0; j < 8; j++) a[j] = index[g + j]; "
    "for (int j = 0; j < n && j < 8; j++) o[g + j] = a[j];", False),
    "data": ("int a[8]; for (int j = 0; j < 8; j++) a[j] = index[g + j]; o[g] = a[at & 7];", True),
    "a count that is not known": ("int a[8]; for (int j = 0; j < n; j++) a[j] = index[g + j]; "
    "for (int j = n - 1; j > 0; j--) o[g + j] = a[j];", True),
}  # fmt: skip


@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_the_compiler_keeps_arrays_where_explain_says(nvrtc: Nvrtc, name: str) -> None:
    body, off_chip = SUBSCRIPTS[name]
    special = Special(name, PRIVATE, "own", body)
    assert bool(explained(special).private_accesses) == off_chip
    ptx = nvrtc.compile(special.cuda, name, "sm_90").ptx
    assert bool(re.search(r"\b(ld|st)\.local", ptx)) == off_chip
