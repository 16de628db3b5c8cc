"""Reads the assembly of Intel's GPUs as the graphics compiler dumps it, with its source lines.

An instruction runs for the lanes in its parentheses: "(16|M0)" is sixteen lanes from lane 0 on. Memory is reached by messages:
`load.slm.d32x4`, or `send.dc1` with its meaning in the comment. The meaning of instructions: Intel's "Programmer's Reference
Manual" of Iris Xe MAX, volume 2a, and the documentation of the IGA assembler in Intel's graphics compiler.
"""

import re

from . import instruction_kinds as kinds
from .machine_code import Effect, Instruction, Listing

FLOATS = ("f", "hf", "df", "bf")
_LINE = re.compile(
    r"^\s*(?P<guard>\([^)|]*\))?\s*(?P<opcode>[a-z]\w*(?:\.(?:\([^)]*\)|\w+))*)\s*"
    r"(?:\((?P<lanes>\d+\|M\d+)\))?\s*(?P<operands>.*)$"
)
_LABEL = re.compile(r"^(?P<label>[\w.$]+):")
_FILE = re.compile(r"^// File: (?P<file>.*\S)")
_PLACE = re.compile(r"^// Line (?P<line>\d+)")
_TYPE = re.compile(r":([a-z]{1,2})\b")
_TARGET = re.compile(r"(?<![\w.])(?!r\d|f\d|null\b)[A-Za-z_][\w$]*")
_DATA = re.compile(r"\.d(?P<bits>\d+)(?:u32)?h?(?:x(?P<count>\d+))?(?P<block>t)?\b")
_CONTROL = frozenset(
    ("goto", "join", "if", "else", "endif", "while", "break", "cont", "jmpi", "brd", "brc", "call", "calla", "ret", "halt", "nop")
)  # fmt: skip
_INTEGER = frozenset(
    (
        "and", "or", "xor", "not", "shl", "shr", "asr", "rol", "ror", "bfe", "bfi1", "bfi2", "bfi", "bfn", "bfrev", "cbit", "fbh",
        "fbl", "lzd", "add3", "addc", "subb", "avg", "mach", "macl", "mulh", "madw",
    )
)  # fmt: skip
_BY_TYPE = frozenset(
    (
        "add", "mul", "mad", "mac", "madm", "cmp", "cmpn", "sel", "csel", "math", "frc", "rndd", "rnde", "rndu", "rndz", "line",
        "lrp", "dp4",
    )
)  # fmt: skip


def parse_xe(text: str, entry: str = "") -> Listing:
    """The code of a kernel, to the last instruction that ends a thread or returns: what follows only fills memory."""
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    file, line = "", 0
    for row in text.splitlines():
        if named := _FILE.match(row):
            file = "/".join(re.split(r"[\\/]", named["file"])[-2:])
        elif placed := _PLACE.match(row):
            line = int(placed["line"])
        elif label := _LABEL.match(row):
            labels[label["label"]] = len(code)
        elif not row.startswith("//") and (found := _LINE.match(row)):
            code.append(_instruction(found, (file, line)))
    ends = [index for index, each in enumerate(code) if each.flow == kinds.END]
    last = ends[-1] + 1 if ends else len(code)
    return Listing(tuple(code[:last]), {label: at for label, at in labels.items() if at < last})


def _instruction(match: re.Match[str], place: tuple[str, int]) -> Instruction:
    opcode, lanes = match["opcode"], match["lanes"] or ""
    operands, _, comment = match["operands"].partition("//")
    words = re.sub(r"\s+", " ", operands).strip()
    meaning = (
        comment.partition("; ")[2].partition(" //")[0].partition("; ")[0].strip() if opcode.startswith("send") else ""
    )
    shown = (match["guard"] or "", opcode, f"({lanes})" if lanes else "", words, f"// {meaning}" if meaning else "")
    flow, target = _flow(opcode.split(".")[0], match["guard"] or "", words)
    return Instruction(
        opcode, " ".join(filter(None, shown)), (_effect(opcode, lanes, words, comment),), flow, target, place
    )


def _flow(base: str, guard: str, words: str) -> tuple[str, str]:
    """Where the lanes of a thread go. `goto` names first where the thread looks for waiting lanes, then where its lanes go on."""
    if "EOT" in words or base == "ret":
        return kinds.END, ""
    targets = _TARGET.findall(words.partition("{")[0]) if base in _CONTROL else []
    if not targets or base in ("join", "endif"):
        return kinds.NEXT, ""
    if base in ("call", "calla"):
        return kinds.CALL, targets[-1]
    if base in ("if", "else"):
        return (kinds.BRANCH if base == "if" else kinds.JUMP), targets[0]
    # A `while` without a condition ends when `break` has taken all its lanes.
    conditional = base in ("while", "break", "cont", "halt") or bool(re.search(r"f\d", guard))
    return (kinds.BRANCH if conditional else kinds.JUMP), targets[-1]


def _effect(opcode: str, lanes: str, words: str, comment: str) -> Effect:
    base = opcode.split(".")[0]
    if base in ("send", "sendc", "sends", "sendsc", "sendg"):
        return _message(opcode, words, comment.lower())
    if base.startswith(("load", "store", "atomic")):
        return _access(opcode, words, comment)
    if base in _CONTROL:
        return Effect(kinds.CONTROL)
    if base == "sync":
        return Effect(kinds.WAIT)
    if base.startswith(("dpas", "bdpas")):
        return Effect(kinds.MATRIX)
    types = _TYPE.findall(words)
    if base in ("mov", "movi"):
        return Effect(_move(types, words))
    if base == "dp4a":
        return Effect(kinds.FMA, scalars=4 * _first_lanes(lanes))
    if base in ("mad", "mac") and types and types[0] in FLOATS:
        return Effect(kinds.FMA, scalars=_first_lanes(lanes))
    if base in _INTEGER:
        return Effect(kinds.INTEGER)
    if base in _BY_TYPE:
        return Effect(kinds.FLOAT if types and types[0] in FLOATS else kinds.INTEGER)
    return Effect(kinds.OTHER)


def _first_lanes(lanes: str) -> int:
    """1 for an instruction of lane 0, 0 for one of the other lanes of the same work-items' sub-group: a SIMD32 kernel needs two
    instructions of 16 lanes for one multiply-add of every work-item."""
    return 0 if lanes and not lanes.endswith("|M0") else 1


def _move(types: list[str], words: str) -> str:
    if "r[a" in words:  # a register that is chosen as the code runs
        return kinds.SHUFFLE
    if len(types) > 1 and types[0] != types[1] and (types[0] in FLOATS or types[1] in FLOATS):
        return kinds.CONVERT
    return kinds.MOVE


def _access(opcode: str, words: str, comment: str) -> Effect:
    """A message of the load/store cache, such as `load.ugm.d32x4.a64`. `ss[...]` is the thread's own scratch memory. With a
    "t" one lane moves a block for the whole sub-group: the width is the block's."""
    base, unit = opcode.split(".")[0], opcode.split(".")[1]
    if base.startswith("atomic"):
        return Effect(kinds.ATOMIC)
    if base.startswith("load") and words.startswith("null"):  # a prefetch
        return Effect(kinds.OTHER)
    loads = base.startswith("load")
    data = _DATA.search(opcode)
    block = bool(data and data["block"]) or "block2d" in base
    bits = int(data["bits"]) * int(data["count"] or 1) if data and "block2d" not in base else 0
    if re.search(r"(?<!b)ss\[", words) or "address space: private" in comment or "scratch" in comment:
        return Effect(kinds.PRIVATE_LOAD if loads else kinds.PRIVATE_STORE, 0 if block else bits)
    if unit == "slm":
        return Effect(kinds.LOCAL_LOAD if loads else kinds.LOCAL_STORE, bits)
    if loads:
        return Effect(kinds.CONSTANT_LOAD if block and "block2d" not in base else kinds.GLOBAL_LOAD, bits)
    return Effect(kinds.GLOBAL_STORE, bits)


def _message(opcode: str, words: str, comment: str) -> Effect:
    """A message whose meaning stands in the comment: "wr:2+0, rd:8; untyped surface read with xyzw"."""
    meaning = comment.partition("; ")[2]
    if "eot" in words.lower():
        return Effect(kinds.CONTROL)
    if "fence" in meaning:
        return Effect(kinds.WAIT)
    if "signal barrier" in meaning:
        return Effect(kinds.BARRIER)
    if "atomic" in meaning:
        return Effect(kinds.ATOMIC)
    loads = bool(re.search(r"\b(read|gather\w*|load|sample|ld)\b", meaning))
    if not loads and not re.search(r"\b(write|scatter\w*|store)\b", meaning):
        return Effect(kinds.GLOBAL_LOAD if opcode.endswith(".smpl") else kinds.OTHER)
    bits, block = _message_bits(meaning)
    if "scratch" in meaning:
        return Effect(kinds.PRIVATE_LOAD if loads else kinds.PRIVATE_STORE)
    if _surface(words) == LOCAL_SURFACE and "a64" not in meaning:
        return Effect(kinds.LOCAL_LOAD if loads else kinds.LOCAL_STORE, bits)
    if loads:
        return Effect(kinds.CONSTANT_LOAD if block else kinds.GLOBAL_LOAD, bits)
    return Effect(kinds.GLOBAL_STORE, bits)


LOCAL_SURFACE = 0xFE  # the number by which messages before the load/store cache name local memory


def _surface(words: str) -> int:
    """The surface in the lowest byte of the message's descriptor, the last number of its operands; -1 if a register has it."""
    numbers = re.findall(r"\b0x[0-9A-Fa-f]+\b|\ba0\.\d+", words.partition("{")[0])
    return int(numbers[-1], 16) & 0xFF if numbers and numbers[-1].startswith("0x") else -1


def _message_bits(meaning: str) -> tuple[int, bool]:
    """Bits that a work-item moves, or those of a block for the whole sub-group, and whether it is such a block."""
    if channels := re.search(r"surface (?:read|write) with ([xyzw]+)", meaning):
        return 32 * len(channels[1]), False
    if counted := re.search(r"\b(oword|hword)\b.*?\bx(\d+)", meaning):
        return {"oword": 128, "hword": 256}[counted[1]] * int(counted[2]), True
    if narrow := re.search(r"\bbyte (?:gather|scatter)\w* (?:read|write) (\d+)b", meaning):
        return int(narrow[1]), False
    if word := re.search(r"\b(dword|qword) (?:gather|scatter)\w* (?:read|write)(?: x(\d+))?", meaning):
        return {"dword": 32, "qword": 64}[word[1]] * int(word[2] or 1), False
    return 0, "block" in meaning
