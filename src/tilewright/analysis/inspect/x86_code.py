"""Reads x86-64 machine code, disassembled by capstone, an optional package of 1.5 MB.

The meaning of mnemonics: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
"""

import re

from ...core.install import install_extra
from ...errors import Unsupported
from . import instruction_kinds as kinds
from .elf import Function
from .machine_code import Effect, Instruction, Listing

CAPSTONE = f"the code of a CPU kernel is read by the package capstone: {install_extra('inspect')}"
WIDTHS = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "tbyte": 80, "xmmword": 128, "ymmword": 256, "zmmword": 512}
_MEMORY = re.compile(r"(?:(?P<width>\w+) ptr )?(?:\w\w:)?\[(?P<address>[^\]]+)\]")
_LINE = re.compile(
    r"^(?P<address>0x[0-9a-f]+):\s+(?P<mnemonic>(?:(?:rep|repe|repne|lock|bnd|notrack) )*[a-z]\w*)\s*(?P<operands>.*)$"
)
_FMA = re.compile(r"v?fn?m(add|sub|addsub|subadd)(\d{3})?(?P<type>p[sdh]|s[sdh])")
_RULES = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(tdp|tcmm)", kinds.MATRIX),
        (r"(tile|ldtilecfg|sttilecfg)", kinds.OTHER),
        (r"(j\w+|call|ret|nop|endbr\w*|vzero\w*|leave|ud2|int3)$", kinds.CONTROL),
        (r"(prefetch|clflush|[lsm]fence|pause)", kinds.OTHER),
        (r"v?cvt|v?pmov[sz]x|v?pmov[sdqw]+b|cbw|cwde|cdqe?|cqo|movs[xb]|movz", kinds.CONVERT),
        (r"v?(add|sub|mul|div|min|max|sqrt|rcp|rsqrt|cmp\w*|ucomi|comi|round|rndscale|hadd|addsub|range|fixup|reduce|scalef|"
         r"getexp|getmant|dp)\w*(ps|pd|ss|sd|ph|sh)$", kinds.FLOAT),
        (r"v?(perm|pperm|pshuf|shuf|unpck|punpck|palign|valign|pack|insert|extract|blend|pblend|compress|expand|movddup|"
         r"movs[hl]dup|movlh|movhl|pinsr|pextr|broadcast|pbroadcast)|valign", kinds.SHUFFLE),
        (r"v?(mov|pmov|kmov|maskmov|pmaskmov|lddqu)|xchg|cmov", kinds.MOVE),
        (r"set|kortest|ktest|k[a-z]+[bwdq]$", kinds.INTEGER),
        (r"(add|sub|adc|sbb|imul|mul|mulx|idiv|div|inc|dec|neg|not|and|andn|or|xor|cmp|test|lea|sh[lr]\w*|sa[lr]x?|ro[lr]x?|"
         r"bt\w?|bls\w+|bextr|bzhi|popcnt|lzcnt|tzcnt|bs[fr]|bswap|p(dep|ext))$", kinds.INTEGER),
        (r"v?(p|and|or|xor|andn|ternlog|testp)", kinds.INTEGER),
    )
)  # fmt: skip


def disassembly(*functions: Function) -> str:
    """The code of functions as text: "gemm:", then "0x40:  vfmadd231ps zmm0, zmm1, zmm2" and so on, in Intel's order of
    operands. If capstone is missing, Unsupported says what to install."""
    try:
        import capstone
    except ImportError as missing:
        raise Unsupported(CAPSTONE) from missing
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    lines = []
    for function in functions:
        lines.append(f"{function.name}:")
        for address, _, mnemonic, operands in engine.disasm_lite(function.code, function.address):
            lines.append(f"{address:#x}:  {mnemonic} {operands}".rstrip())
    return "\n".join(lines) + "\n"


def parse_x86(text: str) -> Listing:
    """The listing that `disassembly` writes."""
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    functions: list[int] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            functions.append(len(code))
            continue
        mnemonic, operands = match["mnemonic"], match["operands"]
        labels[match["address"]] = len(code)
        flow, target = _flow(mnemonic, operands)
        text = f"{mnemonic} {operands}".strip()
        code.append(Instruction(mnemonic, text, effects(mnemonic, operands), flow, target))
    return Listing(tuple(code), labels, tuple(functions[1:]))


def vector_registers(text: str) -> int:
    """How many of the 16 or 32 vector registers the code uses."""
    return len({match[1] for match in re.finditer(r"\b[xyz]mm(\d+)\b", text)})


def frame_bytes(text: str) -> int:
    """Bytes of stack that a function allocates, without the registers that it saves."""
    match = re.search(r"\bsub rsp, (0x[0-9a-f]+|\d+)\b", text)
    return int(match[1], 0) if match else 0


def _flow(mnemonic: str, operands: str) -> tuple[str, str]:
    if mnemonic == "jmp":
        return (kinds.JUMP, operands) if operands.startswith("0x") else (kinds.END, "")
    if mnemonic.startswith("j"):
        return kinds.BRANCH, operands
    if mnemonic.startswith("ret") or mnemonic == "ud2":
        return kinds.END, ""
    return (kinds.CALL, operands) if mnemonic == "call" else (kinds.NEXT, "")


def effects(mnemonic: str, operands: str) -> tuple[Effect, ...]:
    """What an instruction does. An instruction with an operand in memory also counts as a load."""
    memory = _MEMORY.search(operands)
    fused = _FMA.match(mnemonic)
    if fused:
        computed = Effect(kinds.FMA, scalars=_lanes(fused["type"], operands))
        return (computed, *_accesses(mnemonic, memory))
    if mnemonic in ("push", "pop"):
        return (Effect(kinds.PRIVATE_STORE if mnemonic == "push" else kinds.PRIVATE_LOAD, 64),)
    if "gather" in mnemonic or "scatter" in mnemonic:
        return (Effect(kinds.GATHERED if "gather" in mnemonic else kinds.SCATTERED),)
    kind = next((kind for pattern, kind in _RULES if pattern.match(mnemonic)), kinds.OTHER)
    if mnemonic == "lea" or memory is None or kind in (kinds.CONTROL, kinds.OTHER):
        return (Effect(kind),)
    accesses = _accesses(mnemonic, memory)
    return accesses if kind == kinds.MOVE or "broadcast" in mnemonic else (Effect(kind), *accesses)


def _accesses(mnemonic: str, memory: re.Match[str] | None) -> tuple[Effect, ...]:
    if memory is None:
        return ()
    private = bool(re.search(r"\b[re][sb]p\b", memory["address"]))
    width = WIDTHS.get(memory["width"] or "", 0)
    writes = memory.start() == 0 and not re.match(r"(cmp|test|bt$|ucomi|comi|v?ucomi|v?comi|push|prefetch)", mnemonic)
    reads = not writes or not re.match(r"(v?mov|v?pextr|vextract|set|kmov|v?pmov|vcompress|vcvtps2ph)", mnemonic)
    store, load = (kinds.PRIVATE_STORE, kinds.PRIVATE_LOAD) if private else (kinds.STORE, kinds.LOAD)
    return (*((Effect(load, width),) if reads else ()), *((Effect(store, width),) if writes else ()))


def _lanes(kind: str, operands: str) -> int:
    if kind[0] == "s":
        return 1
    bits = 512 if "zmm" in operands else 256 if "ymm" in operands else 128
    return bits // {"s": 32, "d": 64, "h": 16}[kind[1]]
