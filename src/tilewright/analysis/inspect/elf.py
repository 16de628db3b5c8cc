"""Reads 64-bit little-endian ELF files: sections by name, and functions with their code."""

import struct
from dataclasses import dataclass

from ...errors import InvalidInput

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
FUNCTION = 2


@dataclass(frozen=True)
class Section:
    name: str
    data: bytes
    address: int


@dataclass(frozen=True)
class Function:
    """A function's name, its code, and the code's address."""

    name: str
    code: bytes
    address: int


def read_sections(data: bytes) -> tuple[Section, ...]:
    """All sections in the order of the file; InvalidInput if the data is not a 64-bit ELF file."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < _HEADER.size:
        raise InvalidInput(f"not a 64-bit little-endian ELF file: it begins with {data[:6]!r}")
    header = _HEADER.unpack_from(data)
    offset, size, count, names_at = header[6], header[11], header[12], header[13]
    rows = [_SECTION.unpack_from(data, offset + number * size) for number in range(count)]
    # Linkers of OpenCL drivers sometimes omit the index of the section of names: then it is the last section.
    names = _content(data, rows[names_at if names_at < count and rows[names_at][1] == 3 else count - 1])
    return tuple(
        Section(names[row[0] : names.find(b"\0", row[0])].decode(), _content(data, row), row[3]) for row in rows
    )


def _content(data: bytes, row: tuple[int, ...]) -> bytes:
    no_bits = 8
    return b"" if row[1] == no_bits else data[row[4] : row[4] + row[5]]


def read_functions(data: bytes) -> tuple[Function, ...]:
    """The functions with code in an object file or shared library, largest first."""
    sections = read_sections(data)
    found: dict[str, Function] = {}
    for table, names in ((".symtab", ".strtab"), (".dynsym", ".dynstr")):
        symbols = next((each.data for each in sections if each.name == table), b"")
        strings = next((each.data for each in sections if each.name == names), b"")
        for at in range(0, len(symbols) - _SYMBOL.size + 1, _SYMBOL.size):
            name_at, info, _, section, value, size = _SYMBOL.unpack_from(symbols, at)
            if info & 15 == FUNCTION and 0 < section < len(sections) and size:
                name = strings[name_at : strings.find(b"\0", name_at)].decode()
                start = value - sections[section].address
                found.setdefault(name, Function(name, sections[section].data[start : start + size], value))
    return tuple(sorted(found.values(), key=lambda each: -len(each.code)))
