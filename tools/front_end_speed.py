"""Measures how long `explain` reads a large set of headers, as password crackers have them.

`python -m tools.front_end_speed` writes headers of about 1.2 million tokens into a temporary folder (hundreds of macros, tables
of 40 kB, thousands of inline functions, branches for other vendors), reads a kernel that includes them, and prints the user
CPU seconds of the fastest of `--repeat` runs, each in a process of its own.
"""

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tilewright.errors import ProcessFailed
from tilewright.runtime.children import run_child

FILES, FUNCTIONS, MACROS, TABLES = 13, 90, 25, 3  # files, and what each has
CHILD = """
import resource, sys
from tilewright.analysis.explain.clc import parse_program
folder = sys.argv[1]
begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
program = parse_program(open(folder + "/main.cl").read(), folder + "/main.cl", {"VENDOR_ID": 8}, [folder])
assert program.functions["attack"].body.statements
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin)
"""


def macros(chance: random.Random, file: int) -> Iterator[str]:
    """Rounds of a hash: macros that use macros."""
    yield f"#define ROTL{file}(x, n) (((x) << (n)) | ((x) >> (32 - (n))))"
    for number in range(MACROS):
        shift = chance.randint(1, 31)
        yield (
            f"#define STEP_{file}_{number}(f, a, b, c, d, x, K) \\\n{{ \\\n  a += K; \\\n  a += x + f (b, c, d); \\\n"
            f"  a  = ROTL{file} (a, {shift}u); \\\n  a += b; \\\n}}"
        )


def function(chance: random.Random, file: int, number: int) -> str:
    """An inline function with a branch for each of two vendors, of which one is live."""
    step = f"STEP_{file}_{chance.randrange(MACROS)}"
    body = "\n".join(
        f"  {step} (PICK{file}, w[{i % 4}], w[{(i + 1) % 4}], w[{(i + 2) % 4}], w[{(i + 3) % 4}], x[{i % 16}], "
        f"0x{chance.getrandbits(32):08x}u);"
        for i in range(chance.randint(6, 12))
    )
    assembly = "\n".join(
        f'  asm volatile ("lop3.b32 %0, %1, %2, %3, {i};" : "=r"(w[0]) : "r"(w[1]), "r"(w[2]));' for i in range(12)
    )
    head = f"DECLSPEC u32 f_{file}_{number} (PRIVATE_AS u32 *w, const u32 *x)"
    return (
        f"// step {number} of file {file}\n#if VENDOR_ID == (1 << 5)\n{head}\n{{\n{assembly}\n{body}\n  return w[0];\n}}\n"
        f"#else\n{head}\n{{\n{body}\n  return w[0] ^ hc_bytealign (w[1], w[2], {number % 4});\n}}\n#endif\n"
    )


def header(chance: random.Random, file: int) -> str:
    """One header with its include guard."""
    parts = [
        f'#ifndef INC_{file}_H\n#define INC_{file}_H\n#include "types.h"',
        f"#define PICK{file}(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))",
        *macros(chance, file),
    ]
    for table in range(TABLES):
        numbers = ", ".join(f"0x{chance.getrandbits(32):08x}" for _ in range(400))
        parts.append(f"CONSTANT_VK u32a table_{file}_{table}[400] =\n{{\n{numbers}\n}};")
    parts += [function(chance, file, number) for number in range(FUNCTIONS)]
    return "\n".join([*parts, "#endif\n"])


def write_headers(folder: Path) -> int:
    """Writes all files; the number of tokens in them, about."""
    chance = random.Random(7)
    types = (
        "#ifndef TYPES_H\n#define TYPES_H\ntypedef uint u32;\ntypedef uint u32a;\n#define DECLSPEC static inline\n"
        "#define PRIVATE_AS __private\n#define CONSTANT_VK __constant\n"
        "DECLSPEC u32 hc_bytealign (const u32 a, const u32 b, const int c) { return (a << c) | (b >> 3); }\n#endif\n"
    )
    texts = {"types.h": types, **{f"inc_{file}.h": header(chance, file) for file in range(FILES)}}
    includes = "\n".join(f'#include "inc_{file}.h"' for file in range(FILES))
    texts["main.cl"] = (
        f'#include "types.h"\n{includes}\n__kernel void attack (__global u32 *o)\n{{\n  u32 w[4] = {{1, 2, 3, 4}};\n'
        "  u32 x[16] = {0};\n  o[get_global_id (0)] = f_3_7 (w, x) + table_2_1[w[0] & 255];\n}\n"
    )
    for name, text in texts.items():
        (folder / name).write_text(text)
    return sum(len(re.findall(r'\w+|"[^"\n]*"|[^\s\w]', text)) for text in texts.values())


def child_seconds(folder: str) -> float:
    """The user CPU seconds of one run. ProcessFailed with the child's words if it fails."""
    child = run_child([sys.executable, "-c", CHILD, folder], 300.0)
    if child.ending:
        raise ProcessFailed(f"reading the headers: {child.ending}: {child.stderr}")
    return float(child.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        tokens = write_headers(Path(folder))
        seconds = [child_seconds(folder) for _ in range(repeat)]
    runs = ", ".join(f"{each:.2f}" for each in seconds)
    print(f"{tokens:,} tokens in {min(seconds):.2f} s of user CPU time (all runs: {runs})")


if __name__ == "__main__":
    main()
