"""Reads AMD's machine code as clang prints it (`-S`), with the resources at its end.

The meaning of opcodes: LLVM's "User Guide for AMDGPU Backend" and AMD's instruction set manuals.
"""

import re

from . import instruction_kinds as kinds
from .machine_code import Effect, Instruction, Listing

# The first pattern that an opcode begins with decides; "_" is the boundary between words.
_RULES = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"v_(s?mfma|wmma|swmmac|smfmac)", kinds.MATRIX),
        (r"v_(dual_)?(pk_)?(fma|fmac|mac|mad|fmamk|fmaak|madmk|madak|fma_mix\w*)_(f|legacy_f|mix)", kinds.FMA),
        (r"v_dot\d", kinds.FMA),
        (r"(ds_bpermute|ds_permute|ds_swizzle|v_permlane|v_mov_b32_dpp|v_mov_b64_dpp)", kinds.SHUFFLE),
        (r"v_(dual_)?cvt_", kinds.CONVERT),
        (r"(v_(dual_)?mov|v_pk_mov|v_accvgpr|v_readfirstlane|v_readlane|v_writelane|v_swap|s_mov|s_cmov)", kinds.MOVE),
        (r"v_(dual_)?(pk_)?\w*_f(16|32|64)", kinds.FLOAT),
        (r"v_(cmp|cmpx)_\w*_f(16|32|64)", kinds.FLOAT),
        (r"(s_barrier_wait)", kinds.WAIT),
        (r"s_barrier", kinds.BARRIER),
        (r"s_(waitcnt|wait|delay_alu|nop|sleep|clause|inst_prefetch|set_inst_prefetch|code_end)", kinds.WAIT),
        (
            r"s_(branch|cbranch|endpgm|swappc|setpc|getpc|call|setprio|sendmsg|trap|dcache|icache|set_gpr|round|denorm)",
            kinds.CONTROL,
        ),
        (r"s_\w*saveexec", kinds.CONTROL),
        (r"(global|flat|buffer|scratch|ds)_\w*(atomic|cmpst|_rtn)", kinds.ATOMIC),
        (r"ds_(add|sub|inc|dec|min|max|and|or|xor|mskor|wrxchg)_", kinds.ATOMIC),
        (r"(global_load_lds|buffer_load_\w*lds)", kinds.COPY),
        (r"(global|flat)_load", kinds.GLOBAL_LOAD),
        (r"(global|flat)_store", kinds.GLOBAL_STORE),
        (r"(scratch|buffer)_load", kinds.PRIVATE_LOAD),  # OpenCL's global pointers never become buffers
        (r"(scratch|buffer)_store", kinds.PRIVATE_STORE),
        (r"ds_(read|load)", kinds.LOCAL_LOAD),
        (r"ds_(write|store)", kinds.LOCAL_STORE),
        (r"s_(buffer_)?load", kinds.CONSTANT_LOAD),
        (r"(v|s)_", kinds.INTEGER),
    )
)
_WORDS = re.compile(r"dword(?:x(?P<words>\d+))?")
_BITS = re.compile(r"_[bui](?P<bits>\d+)")
_LABEL = re.compile(r"^(?P<label>[.\w$]+):")
_PLACE = re.compile(r"^\s*\.loc\s+\d+ \d+.*?; (?P<trace>.*)$")
_STEP = re.compile(r"(?P<file>[^\s@\[\]:]+):(?P<line>\d+)(?::\d+)?")
_OPCODE = re.compile(r"^\s+(?P<opcode>[a-z][a-z0-9_]*)(?P<operands>[^;]*)")
_SUFFIX = re.compile(r"_(e32|e64|e64_dpp|sdwa)$")


def parse_gcn(text: str, entry: str) -> Listing:
    """The code of the kernel `entry`: from its label to its end, without the second body that newer compilers add."""
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    place: tuple[str, int] = ("", 0)
    inside = False
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label and label["label"] == entry:
            inside = True
        elif inside and (line.lstrip().startswith((".section", ".end_amdhsa_kernel")) or line.startswith(".Lfunc_end")):
            break
        elif inside and label:
            labels[label["label"]] = len(code)
        elif inside and ".loc" in line:
            place = _place(line, place)
        elif inside:
            opcode = _OPCODE.match(line)
            if opcode:
                code.append(_instruction(opcode, place))
    return Listing(tuple(code), labels)


def _place(line: str, before: tuple[str, int]) -> tuple[str, int]:
    """The outermost place in the kernel's file of a `.loc` with inlined calls; the previous place if its line is 0."""
    match = _PLACE.match(line)
    steps = [step for step in _STEP.finditer(match["trace"]) if int(step["line"])] if match else []
    own = [step for step in steps if "/" in step["file"]]
    if not own:
        return before
    # New versions of clang inline the kernel's body into its entry. That last call has the line of the kernel's head.
    step = own[-2] if len(own) > 1 else own[-1]
    return "/".join(step["file"].split("/")[-2:]), int(step["line"])


def _instruction(match: re.Match[str], place: tuple[str, int]) -> Instruction:
    text = f"{match['opcode']} {match['operands'].strip()}".strip()
    halves = [half.split()[0] for half in text.split(" :: ")]  # RDNA 3 issues two operations as one
    opcode = " :: ".join(_SUFFIX.sub("", half) for half in halves)
    flow, target = kinds.NEXT, ""
    operands = match["operands"].strip()
    if opcode in ("s_branch",):
        flow, target = kinds.JUMP, operands
    elif opcode.startswith("s_cbranch"):
        flow, target = kinds.BRANCH, operands
    elif opcode.startswith(("s_endpgm", "s_setpc")):
        flow = kinds.END
    elif opcode.startswith(("s_swappc", "s_call")):
        flow = kinds.CALL
    return Instruction(opcode, text, tuple(_effect(half) for half in halves), flow, target, place)


def _effect(opcode: str) -> Effect:
    kind = next((kind for pattern, kind in _RULES if pattern.match(opcode)), kinds.OTHER)
    if kind == kinds.FMA:
        dot = re.match(r"v_dot(\d)", opcode)
        return Effect(kinds.FMA, scalars=int(dot[1]) if dot else 2 if "_pk_" in opcode else 1)
    return Effect(kind, _width(opcode)) if kind in kinds.MEMORY else Effect(kind)


def _width(opcode: str) -> int:
    """Bits that one work-item moves; what takes two addresses moves two elements."""
    twice = 2 if re.search(r"(read2|write2|2addr)", opcode) else 1
    words, bits = _WORDS.search(opcode), _BITS.search(opcode)
    if words:
        return 32 * int(words["words"] or 1)
    if bits:
        return twice * int(bits["bits"])
    return 8 if "byte" in opcode else 16 if "short" in opcode or "d16" in opcode else 0


_METADATA = re.compile(r"^\s*-?\s*\.(?P<name>[\w]+):\s*(?P<value>.+)$", re.M)
_REPORT = re.compile(r"^; (?P<name>\w+): (?P<value>\d+)", re.M)


def metadata(text: str) -> dict[str, str]:
    """What the compiler wrote about the kernel: `.vgpr_count`, `.sgpr_spill_count`, `.group_segment_fixed_size` ..., and
    its own estimate of the occupancy, in wavefronts of a SIMD, as "Occupancy"."""
    begin = text.find(".amdgpu_metadata")
    values = {match["name"]: match["value"].strip() for match in _METADATA.finditer(text, max(begin, 0))}
    for match in _REPORT.finditer(text):
        values.setdefault(match["name"], match["value"])  # the first function is the kernel
    return values
