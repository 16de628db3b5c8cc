"""Reads PTX, NVIDIA's intermediate language. It is counted if no tool can make machine code of it.

The meaning of opcodes: the PTX ISA manual.
"""

import re

from . import instruction_kinds as kinds
from .machine_code import Effect, Instruction, Listing

_RULES = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(mma|wmma\.mma|wgmma\.mma|tcgen05\.mma)", kinds.MATRIX),
        (r"fma\.", kinds.FMA),
        (r"(cp\.async\.(ca|cg)|cp\.async\.bulk\.tensor|cp\.async\.bulk\.shared)", kinds.COPY),
        (
            r"(cp\.async\.(wait|bulk\.wait)|mbarrier\.(try|test)_wait|wgmma\.(wait|fence)|membar|fence|griddepcontrol)",
            kinds.WAIT,
        ),
        (r"(bar|barrier|mbarrier)\.", kinds.BARRIER),
        (r"shfl\.", kinds.SHUFFLE),
        (r"(ldmatrix)", kinds.LOCAL_LOAD),
        (r"(stmatrix)", kinds.LOCAL_STORE),
        (r"ld\.(global|relaxed|acquire|volatile\.global)", kinds.GLOBAL_LOAD),
        (r"ld\.(shared|volatile\.shared)", kinds.LOCAL_LOAD),
        (r"ld\.local", kinds.PRIVATE_LOAD),
        (r"ld\.(param|const)", kinds.CONSTANT_LOAD),
        (r"ld\.", kinds.GLOBAL_LOAD),
        (r"st\.(shared|volatile\.shared)", kinds.LOCAL_STORE),
        (r"st\.local", kinds.PRIVATE_STORE),
        (r"st\.", kinds.GLOBAL_STORE),
        (r"(atom|red|redux)\.", kinds.ATOMIC),
        (r"cvt(a)?\.", kinds.CONVERT),
        (r"mov\.", kinds.MOVE),
        (
            r"(add|sub|mul|div|min|max|neg|abs|sqrt|rsqrt|rcp|ex2|lg2|sin|cos|tanh|setp|selp|set)\.(\w+\.)*(f|bf)\d",
            kinds.FLOAT,
        ),
        (r"(bra|ret|exit|call|brx|pragma|elect|activemask|vote)", kinds.CONTROL),
        (r"[a-z]", kinds.INTEGER),
    )
)
_INSTRUCTION = re.compile(r"^\s*(?P<guard>@!?%?\w+\s+)?(?P<opcode>[a-z][\w.:]*)\s*(?P<operands>[^;]*);")
_LABEL = re.compile(r"^\s*(?P<label>[$\w]+):\s*(?://.*)?$")
_FILE = re.compile(r'^\s*\.file\s+(?P<number>\d+)\s+"(?P<name>[^"]*)"', re.MULTILINE)
_PLACE = re.compile(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)")
_ENTRY = re.compile(r"\.entry\s+(?P<name>\w+)")
_TYPE = re.compile(r"\.[fbsu](?P<bits>8|16|32|64|128)$")


def parse_ptx(text: str, entry: str) -> Listing:
    """The code of the kernel `entry`. Places are those of the outermost inlined call."""
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    inside = False
    files = {match["number"]: "/".join(match["name"].split("/")[-2:]) for match in _FILE.finditer(text)}
    place: tuple[str, int] = ("", 0)
    for line in text.splitlines():
        named = _ENTRY.search(line)
        if named:
            inside = named["name"] == entry
        elif inside and line.rstrip() == "}":
            inside = False
        label, instruction = _LABEL.match(line), _INSTRUCTION.match(line)
        if not inside:
            continue
        if label:
            labels[label["label"]] = len(code)
        elif line.lstrip().startswith((".loc\t", ".loc ")):
            number, source_line = _PLACE.findall(line)[-1]
            place = (files.get(number, ""), int(source_line))
        elif instruction and not line.lstrip().startswith("."):
            code.append(_instruction(instruction, place))
    return Listing(tuple(code), labels)


def _instruction(match: re.Match[str], place: tuple[str, int]) -> Instruction:
    opcode, operands, guard = match["opcode"], match["operands"].strip(), (match["guard"] or "").strip()
    flow, target = kinds.NEXT, ""
    if opcode.startswith("bra"):
        flow, target = (kinds.BRANCH if guard else kinds.JUMP), operands
    elif opcode in ("ret", "exit") or opcode.startswith("brx"):
        flow = kinds.NEXT if guard else kinds.END
    elif opcode.startswith("call"):
        flow = kinds.CALL
    return Instruction(opcode, f"{guard} {opcode} {operands}".strip(), (_effect(opcode),), flow, target, place)


def _effect(opcode: str) -> Effect:
    kind = next((kind for pattern, kind in _RULES if pattern.match(opcode)), kinds.OTHER)
    if kind == kinds.FMA:
        return Effect(kinds.FMA, scalars=2 if "x2" in opcode else 1)
    widths = _TYPE.search(opcode)
    if (
        kind
        in (
            kinds.GLOBAL_LOAD,
            kinds.GLOBAL_STORE,
            kinds.LOCAL_LOAD,
            kinds.LOCAL_STORE,
            kinds.PRIVATE_LOAD,
            kinds.PRIVATE_STORE,
            kinds.CONSTANT_LOAD,
        )
        and widths
    ):
        elements = 4 if ".v4." in opcode or ".x4." in opcode else 2 if ".v2." in opcode or ".x2." in opcode else 1
        bits = 32 if "matrix" in opcode else int(widths["bits"])
        return Effect(kind, bits * elements)
    return Effect(kind)
