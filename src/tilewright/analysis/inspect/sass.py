"""Reads NVIDIA's machine code as nvdisasm and cuobjdump print it (SASS).

The meaning of opcodes: CUDA Binary Utilities, "Instruction Set Reference".
"""

import re

from . import instruction_kinds as kinds
from .machine_code import Effect, Instruction, Listing

KINDS = {
    kinds.MATRIX: "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA",
    kinds.FLOAT: "FADD FADD2 FADD32I FMUL FMUL2 FMUL32I FSETP FSET FSEL FMNMX FMNMX3 MUFU FCHK FSWZADD DADD DMUL DSETP DMNMX "
    "HADD2 HMUL2 HMNMX2 HSET2 HSETP2",
    kinds.INTEGER: "IADD IADD3 IADD32I IMAD LEA LOP LOP3 LOP32I SHF SHL SHR ISETP ISET IMNMX VIMNMX VIMNMX3 VIADD VIADDMNMX IABS "
    "POPC FLO BMSK BREV SEL PRMT SGXT IDP IDP4A ISCADD PLOP3 PSETP R2P P2R UIADD3 UIMAD ULEA ULOP3 ULOP USHF UISETP USEL "
    "UPRMT UPLOP3 UPSETP UFLO UBMSK USGXT UPOPC UBREV UP2UR UR2UP UIABS UIMNMX UVIADD UVIMNMX UVIMNMX3",
    kinds.MOVE: "MOV MOV32I UMOV R2UR CS2R CS2UR S2R S2UR",
    kinds.CONVERT: "F2F F2I F2FP F2IP I2F I2FP I2I I2IP FRND UF2F UI2F UF2I UF2FP",
    kinds.SHUFFLE: "SHFL",
    kinds.BARRIER: "BAR",
    kinds.WAIT: "DEPBAR LDGDEPBAR MEMBAR ERRBAR FENCE CCTL CCTLL NANOSLEEP UTMACMDFLUSH UTMACCTL",
    kinds.CONTROL: "BRA BRX JMP JMX EXIT BSSY BSYNC BREAK BMOV NOP CALL RET WARPSYNC WARPGROUP YIELD KILL BPT ELECT "
    "ACQBULK PREEXIT USETMAXREG VOTE VOTEU RPCMOV UCGABAR_ARV UCGABAR_WAIT",
    kinds.ATOMIC: "ATOM ATOMG ATOMS RED REDG REDUX CREDUX",
    kinds.GLOBAL_LOAD: "LDG LD",
    kinds.GLOBAL_STORE: "STG ST UTMASTG",
    kinds.LOCAL_LOAD: "LDS LDSM",
    kinds.LOCAL_STORE: "STS STSM",
    kinds.PRIVATE_LOAD: "LDL",
    kinds.PRIVATE_STORE: "STL",
    kinds.CONSTANT_LOAD: "LDC LDCU ULDC",
    kinds.COPY: "LDGSTS UBLKCP UTMALDG",
}  # fmt: skip
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}
MULTIPLY_ADDS = {"FFMA": 1, "FFMA32I": 1, "FFMA2": 2, "DFMA": 1, "HFMA2": 2, "HFMA": 1}
WHOLE_TILES = ("UTMALDG", "UTMASTG", "UBLKCP")  # copies whose size the code does not show
WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "96": 96, "128": 128, "256": 256}

_INSTRUCTION = re.compile(
    r"^\s*/\*[0-9a-f]{4,}\*/\s+(?P<guard>@!?U?P[T\d]+\s+)?(?P<opcode>[A-Z][\w.]*)(?P<operands>[^;]*?)\s*;"
)
_LABEL = re.compile(r"^\s*(?P<label>(?:\.L|\$)[\w.$]*):")  # "$" begins the functions that ptxas adds, such as division
_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_TARGET = re.compile(r"`\((?P<label>[\w.$]+)\)")
_ADDRESS = re.compile(r"^\s*/\*(?P<address>[0-9a-f]{4,})\*/")
_GOES_TO = re.compile(r"\b0x(?P<address>[0-9a-f]+)\s*$")
_FUNCTION = re.compile(r"^(?:\.text\.(?P<name>\w+):|\s*Function\s*:\s*(?P<dumped>\w+))")


def parse_sass(text: str, entry: str = "") -> Listing:
    """The code of the function `entry`, or of the only function. Places are those of the outermost inlined call."""
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    place: tuple[str, int] = ("", 0)
    inside = not entry or not any(_names(line) == entry for line in text.splitlines())
    for line in text.splitlines():
        name = _names(line)
        if name:
            inside = not entry or name == entry
        label, instruction = _LABEL.match(line), _INSTRUCTION.match(line)
        if not inside:
            continue
        if label:
            labels[label["label"]] = len(code)
        elif "//## File" in line:
            place = _place(line)
        elif instruction:
            address = _ADDRESS.match(line)
            assert address is not None
            labels[f"0x{int(address['address'], 16):x}"] = len(code)
            code.append(_instruction(instruction, place))
    return Listing(tuple(code), labels)


def _names(line: str) -> str:
    match = _FUNCTION.match(line)
    return (match["name"] or match["dumped"]) if match else ""


def _place(line: str) -> tuple[str, int]:
    """The last place that the line names. For inlined code this is the call in the kernel."""
    found = _PLACE.findall(line)
    file, number = found[-1]
    return "/".join(file.split("/")[-2:]), int(number)


def _instruction(match: re.Match[str], place: tuple[str, int]) -> Instruction:
    opcode, operands = match["opcode"], match["operands"].strip()
    guard = (match["guard"] or "").strip()
    text = f"{guard} {opcode} {operands}".strip()
    flow, target = _flow(opcode, operands, guard)
    return Instruction(opcode, text, (_effect(opcode, operands),), flow, target, place)


def _flow(opcode: str, operands: str, guard: str) -> tuple[str, str]:
    base = opcode.split(".")[0]
    conditional = bool(guard) or bool(re.search(r"\bU?P\d", operands))
    label, address = _TARGET.search(operands), _GOES_TO.search(operands)
    target = label["label"] if label else f"0x{int(address['address'], 16):x}" if address else ""
    if base in ("BRA", "JMP"):
        return (kinds.BRANCH if conditional else kinds.JUMP), target
    if base in ("EXIT", "RET", "BRX", "JMX", "KILL"):
        return (kinds.NEXT if guard else kinds.END), ""
    if base == "CALL":
        return kinds.CALL, target
    return kinds.NEXT, ""


def _effect(opcode: str, operands: str) -> Effect:
    base, *modifiers = opcode.split(".")
    if base in MULTIPLY_ADDS:
        if operands.count("RZ") >= 2:  # 0 * 0 + constant: a move in the floating-point pipe
            return Effect(kinds.MOVE)
        return Effect(kinds.FMA, scalars=MULTIPLY_ADDS[base])
    if base == "IMAD" and ("MOV" in modifiers or operands.count("RZ") >= 2):
        return Effect(kinds.MOVE)
    if base == "SYNCS":  # barriers in local memory
        return Effect(kinds.WAIT if "PHASECHK" in modifiers else kinds.BARRIER)
    kind = KIND_OF.get(base, kinds.OTHER)
    if kind in kinds.MEMORY:
        return Effect(kind, 0 if base in WHOLE_TILES else _width(base, modifiers))
    return Effect(kind)


def _width(base: str, modifiers: list[str]) -> int:
    """Bits of one work-item. A matrix load (LDSM .M88.4) gives each work-item 32 bits of each of its 8x8 blocks."""
    if base in ("LDSM", "STSM"):
        return 32 * next((int(each) for each in modifiers if each in ("2", "4")), 1)
    return next((WIDTHS[each] for each in modifiers if each in WIDTHS), 32)


def counters(opcodes: dict[str, int]) -> dict[str, int]:
    """The counters of the myGEMM tutorial's `inspect`: multiply-adds, reads and writes of local memory, shuffles, reads
    and writes of global memory, moves. IMAD.MOV, a move written as a multiplication, is a move."""

    def count(*names: str) -> int:
        return sum(number for opcode, number in opcodes.items() if opcode.split(".")[0] in names)

    moves = count("MOV") + sum(number for opcode, number in opcodes.items() if opcode.startswith("IMAD.MOV"))
    return {
        "FFMA": count("FFMA", "FFMA2"),
        "LDS": count("LDS", "LDSM"),
        "STS": count("STS", "STSM"),
        "SHFL": count("SHFL"),
        "LD": count("LD", "LDG"),
        "ST": count("ST", "STG"),
        "MOV": moves,
    }
