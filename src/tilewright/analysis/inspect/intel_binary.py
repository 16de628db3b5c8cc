"""Reads the binaries of Intel's offline compiler: the code of each kernel, and the resources that the compiler states.

New versions write an ELF file with a section of YAML, `.ze_info`. Versions before 2023 write "patch tokens", whose layout is
published in the headers patch_list.h and patch_shared.h of Intel's graphics compiler.
"""

import re
import struct
from dataclasses import dataclass, field

from ...errors import InvalidInput
from .elf import read_sections

TOKENS_SECTION = "Intel(R) OpenCL Device Binary"
_PROGRAM = struct.Struct("<7I")
_KERNEL = struct.Struct("<IQ7I")
_TOKEN = struct.Struct("<II")
MAGIC = 0x494E5443
LOCAL_SURFACE, EXECUTION, PRIVATE = 15, 23, 38  # tokens, and below places of numbers in them
_LARGEST_SIMD, _REGISTERS = 3, 20


@dataclass(frozen=True)
class IntelKernel:
    """A kernel in a binary: how many work-items a hardware thread runs (`simd`), registers of a thread, bytes of local memory
    of a work-group and of private arrays of a work-item. `spill_bytes` of a thread is -1 where the binary does not say."""

    code: bytes = field(repr=False)
    simd: int
    registers: int
    local_bytes: int
    private_bytes: int
    spill_bytes: int


def read_kernel(binary: bytes, entry: str) -> IntelKernel:
    """The kernel `entry`; InvalidInput if the binary has no such kernel, or is of neither form."""
    sections = {each.name: each.data for each in read_sections(binary)}
    if ".ze_info" in sections:
        return _from_info(sections[".ze_info"].decode(errors="replace"), sections.get(f".text.{entry}", b""), entry)
    if TOKENS_SECTION in sections:
        return _from_tokens(sections[TOKENS_SECTION], entry)
    raise InvalidInput(f"a binary of Intel's compiler has .ze_info or patch tokens; this one has {', '.join(sections)}")


def _from_info(info: str, code: bytes, entry: str) -> IntelKernel:
    """From YAML, of which only whole numbers in the kernel's block are read."""
    kernels = info.partition("\nkernels_misc_info:")[0]
    found = re.search(rf"^  - name: +'?{re.escape(entry)}'?$(.*?)(?=^  - name:|\Z)", kernels, re.M | re.S)
    if found is None or not code:
        raise InvalidInput(f"the binary has no kernel {entry!r}")
    numbers = {name: int(value) for name, value in re.findall(r"^      (\w+): +(\d+)$", found[1], re.M)}
    unsaid = [name for name in ("simd_size", "grf_count") if not numbers.get(name)]
    if unsaid:
        raise InvalidInput(f"the binary says nothing of {' and '.join(unsaid)} of the kernel {entry!r}")
    simd = numbers["simd_size"]
    private = -(-numbers.get("private_size", 0) // simd)
    return IntelKernel(
        code, simd, numbers["grf_count"], numbers.get("slm_size", 0), private, numbers.get("spill_size", 0)
    )


def _from_tokens(data: bytes, entry: str) -> IntelKernel:
    magic, *_, kernels, _, patches = _PROGRAM.unpack_from(data)
    if magic != MAGIC:
        raise InvalidInput(f"a binary with patch tokens begins with {MAGIC:#x}, this one with {magic:#x}")
    at = _PROGRAM.size + patches
    for _ in range(kernels):
        _, _, name_bytes, patch_bytes, *heaps, unpadded = _KERNEL.unpack_from(data, at)
        at += _KERNEL.size
        name = data[at : at + name_bytes].rstrip(b"\0").decode(errors="replace")
        code_at = at + name_bytes
        tokens_at = code_at + sum(heaps)
        at = tokens_at + patch_bytes
        if name == entry:
            return _from_kernel(data[code_at : code_at + unpadded], _tokens(data[tokens_at:at]))
    raise InvalidInput(f"the binary has no kernel {entry!r}")


def _tokens(data: bytes) -> dict[int, tuple[int, ...]]:
    """The numbers of each kind of token; of the first, if there are several."""
    found: dict[int, tuple[int, ...]] = {}
    at = 0
    while at + _TOKEN.size <= len(data):
        token, size = _TOKEN.unpack_from(data, at)
        if size < _TOKEN.size:
            raise InvalidInput(f"patch token {token} has {size} bytes, and its head alone has {_TOKEN.size}")
        count = (min(size, len(data) - at) - _TOKEN.size) // 4
        found.setdefault(token, struct.unpack_from(f"<{count}I", data, at + _TOKEN.size))
        at += size
    return found


def _from_kernel(code: bytes, tokens: dict[int, tuple[int, ...]]) -> IntelKernel:
    execution = tokens.get(EXECUTION, ())
    if len(execution) <= _REGISTERS:
        raise InvalidInput(
            f"patch token {EXECUTION} has {len(execution)} numbers: that of the registers has place {_REGISTERS}"
        )
    simd, registers = execution[_LARGEST_SIMD], execution[_REGISTERS]
    local = tokens.get(LOCAL_SURFACE, (0, 0))[1]
    private = tokens.get(PRIVATE, (0, 0, 0, 0))[3]
    return IntelKernel(code, simd, registers, local, private, -1)
