"""Random OpenCL C programs whose values are defined: nothing overflows, races or is read before it is set.

A program is made of its seed alone. Every work-item computes with all that the language has, in scalars, vectors, private
and local arrays, structures, helper functions and macros, and stores what came of it.
"""

import re
from random import Random

from program_corners import CORNER_TYPES, CornerWriter
from program_expressions import INTEGERS, ITEMS, LETTERS, UNSIGNED, VECTORS, element, width

PRELUDE = """#pragma OPENCL FP_CONTRACT OFF
#define TWICE(x) ((x) + (x))
#define PASTE(a, b) a##b
#define NAMED(name, number) PASTE(name, number)
#define PICK(first, ...) (first)
#define SECOND(first, second, ...) (second)
#define LENGTH 8
#if LENGTH * 2 == 16 && defined(PICK) && !defined(NOTHING)
#define WRAP(index) ((index) & (LENGTH - 1))
#else
#error the preprocessor is wrong
#endif
typedef struct { uint first; float second; ushort third[3]; uint4 fourth; } Mixed;
// Which NaN, and which zero fmin and fmax give, is left open.
uint bits_of(float x) { return x != x ? 0u : as_uint(x + 0.0f); }
uint turn(uint x, uint n);
uint turn(uint x, uint n) { return (x << (n & 31)) | (x >> ((32 - n) & 31)); }
inline uint early(uint x)
{
    if (x % 3 == 0)
        return x / 3;
    for (uint i = 0; i < 4; i++)
        if (((x >> i) & 1) == 0)
            return i;
    return x ^ 0x55;
}
uint bumped(uint* place) { return *place += 7; }
void change(uint* place, const uint by) { *place = *place * 5 + by; }
uint sum_of(const uint* values, int count)
{
    uint sum = 0;
    while (count-- > 0)
        sum = sum * 3 + *values++;
    return sum;
}
float4 mixed_up(float4 v, float s) { v.xz = v.zx * s; return v.wzyx + (float4)(s, v.lo, 1); }
Mixed made(uint a, float b) { Mixed m = {a, b, {1, 2, 3}, (uint4)(a)}; m.third[a % 3] = a; return m; }
"""


class Writer(CornerWriter):
    """Writes one kernel, statement by statement."""

    def block(self, count: int, depth: int) -> None:
        names = dict(self.names)
        self.indent += 1
        for _ in range(count):
            self.statement(depth)
        self.indent -= 1
        self.names = names

    def statement(self, depth: int) -> None:
        simple = [self.declare, self.assign, self.assign, self.step, self.partial, self.private_array, self.call]
        simple += [self.mixed, self.initialised, self.pointers]
        deep = [self.branch, self.counted_loop, self.while_loop, self.switch, self.entered]
        if self.loops:
            simple.append(self.leave)
        self.random.choice(simple + deep if depth > 0 else simple)(depth)

    def declare(self, depth: int) -> None:
        kind = self.random.choice((*INTEGERS, *VECTORS, "float", "uint"))
        name = self.fresh()
        self.line(f"{self.random.choice(('', '', 'const '))}{kind} {name} = {self.value(kind)};")
        if "const" in self.lines[-1].split("=")[0]:
            self.fixed.add(name)
        self.names[name] = kind

    def target(self, *kinds: str) -> tuple[str, str] | None:
        found = [
            (name, kind) for name, kind in self.names.items() if name not in self.fixed and (not kinds or kind in kinds)
        ]
        return self.random.choice(found) if found else None

    def assign(self, depth: int) -> None:
        found = self.target()
        if found is None:
            return self.declare(depth)
        name, kind = found
        unsigned = element(kind) in UNSIGNED
        operators = (
            ("=", "+=", "-=", "^=", "|=", "&=")
            if unsigned
            else ("=", "+=", "-=")
            if element(kind) == "float"
            else ("=", "^=", "|=")
        )
        self.line(f"{name} {self.random.choice(operators)} {self.value(kind)};")
        return None

    def step(self, depth: int) -> None:
        found = self.target(*UNSIGNED)
        if found is None:
            return self.declare(depth)
        name = found[0]
        other = self.target(*UNSIGNED)
        if other is not None and other[0] != name:
            self.line(f"{other[0]} = {self.random.choice((f'{name}++', f'--{name}', f'++{name}', f'{name}--'))};")
        else:
            self.line(f"({name}++, {name} ^= 5);")
        return None

    def partial(self, depth: int) -> None:
        """Assigns some components of a vector."""
        found = self.target("uint4", "float4", "int4", "uint2")
        if found is None:
            return self.declare(depth)
        name, kind = found
        own, count = element(kind), width(kind)
        chosen = self.random.sample(range(count), self.random.choice((1, 2)))
        letters = "".join(LETTERS[place] for place in chosen)
        self.line(
            f"{name}.{letters} = {self.value(own if len(chosen) == 1 else f'{own}2' if own != 'int' else 'int', 2)};"
        )
        return None

    def private_array(self, depth: int) -> None:
        kind = self.random.choice(("uint", "float", "uint4", "ushort"))
        name, at = self.fresh("a"), self.fresh("i")
        if self.random.random() < 0.4:
            self.line(f"{kind} {name}[2][LENGTH];")
            self.line(
                f"for (int {at} = 0; {at} < 2 * LENGTH; {at}++) {name}[{at} / LENGTH][{at} % LENGTH] = {self.value(kind, 2)};"
            )
            read = f"{name}[{self.value('uint', 2)} & 1][WRAP({self.value('uint', 2)})]"
        else:
            self.line(
                f"{kind} {name}[LENGTH] = {{{', '.join(self.value(kind, 1) for _ in range(self.random.randrange(1, 9)))}}};"
            )
            self.line(f"{name}[WRAP({self.value('uint', 2)})] = {self.value(kind, 2)};")
            if kind == "uint" and self.random.random() < 0.7:
                self.line(f"change(&{name}[WRAP({self.value('uint', 1)})], {self.value('uint', 1)});")
                self.line(f"uint {name}s = sum_of({name} + 1, LENGTH - 1);")
                self.names[f"{name}s"] = "uint"
                self.line(f"vstore4({self.value('uint4', 1)}, 1, {name});")
            read = f"{name}[WRAP({self.value('uint', 2)})]"
        got = self.fresh()
        self.line(f"{kind} {got} = {read};")
        self.names[got] = kind

    def call(self, depth: int) -> None:
        found = self.target("uint")
        if found is None or self.random.random() < 0.5:
            name = self.fresh("m")
            self.line(f"Mixed {name} = made({self.value('uint', 2)}, {self.value('float', 2)});")
            self.line(f"{name}.fourth.y = {name}.third[{self.value('uint', 1)} % 3];")
            got = self.fresh()
            self.line(f"uint {got} = {name}.first + {name}.third[1] + {name}.fourth.y;")
            self.names[got] = "uint"
        else:
            copied = self.fresh("c")
            self.line(f"uint {copied} = {found[0]};")
            self.line(f"change(&{copied}, {self.value('uint', 2)});")
            self.line(f"{found[0]} {self.random.choice(('', '+', '^', '-'))}= {copied};")
            self.line(f"{copied} {self.random.choice('+^-')}= bumped(&{copied}) + true;")
            self.line(f"{found[0]} ^= {copied};")

    def branch(self, depth: int) -> None:
        self.line(f"if ({self.condition(2)}) {{")
        self.block(self.random.randrange(1, 4), depth - 1)
        if self.random.random() < 0.6:
            self.line("} else {")
            self.block(self.random.randrange(1, 3), depth - 1)
        self.line("}")

    def counted_loop(self, depth: int) -> None:
        name = self.fresh("i")
        bound = self.random.choice(("2", "3", "5", "(l & 3)", "(g % 5)", "LENGTH"))
        kind = self.random.choice(("int", "uint", "size_t"))
        self.line(f"for ({kind} {name} = 0; {name} < {bound}; {name}{self.random.choice(('++', ' += 2'))}) {{")
        held = dict(self.names)
        if kind != "size_t":
            self.names[name] = kind
        self.fixed.add(name)
        self.loops += 1
        self.block(self.random.randrange(1, 4), depth - 1)
        self.loops -= 1
        self.names = held
        self.line("}")

    def while_loop(self, depth: int) -> None:
        name = self.fresh("w")
        self.line(f"int {name} = {self.random.choice(('3', '(l & 3)', '(int)(g % 4) + 1'))};")
        do = self.random.random() < 0.4
        self.line("do {" if do else f"while ({name} > 0) {{")
        self.indent += 1
        self.line(f"{name}--;")
        self.indent -= 1
        self.loops += 1
        self.block(self.random.randrange(1, 3), depth - 1)
        self.loops -= 1
        self.line(f"}} while ({name} > 0);" if do else "}")

    def leave(self, depth: int) -> None:
        self.line(f"if ({self.condition(2)}) {self.random.choice(('break', 'continue'))};")

    def switch(self, depth: int) -> None:
        loops, self.loops = self.loops, 0
        self.line(f"switch ({self.value('uint', 2)} % 5) {{")
        labels = self.random.sample(("case 0:", "case 1:", "case 2: case 3:", "default:"), self.random.randrange(2, 5))
        for label in labels:
            self.line(label + " {")
            self.block(self.random.randrange(1, 3), depth - 1)
            self.line("}" if self.random.random() < 0.4 else "} break;")
        self.line("}")
        self.loops = loops

    def exchange(self) -> None:
        """Through local memory: each item stores at a place of its own, all wait, each reads somebody else's."""
        kind = self.random.choice(("uint", "float", "uint4", "uint2"))
        name, got = self.fresh("t"), self.fresh()
        self.line(f"__local {kind} {name}[{ITEMS}];")
        self.line(f"{name}[{self.random.choice(('l', f'{ITEMS - 1} - l', 'l ^ 5'))}] = {self.value(kind)};")
        self.line("barrier(CLK_LOCAL_MEM_FENCE);")
        self.line(f"{kind} {got} = {name}[{self.value('uint', 2)} % {ITEMS}];")
        self.line("barrier(CLK_LOCAL_MEM_FENCE);")
        self.names[got] = kind


def program(seed: int) -> str:
    """The kernel `values(a, x, out)`: ITEMS work-items to a group, LENGTH results of 32 bits from each."""
    writer = Writer(Random(seed))
    writer.line("const uint l = get_local_id(0), g = get_global_id(0);")
    writer.names |= {"l": "uint", "g": "uint", "p": "uint", "q": "float"}
    writer.fixed |= {"l", "g"}
    writer.line("uint p = a[g];")
    writer.line("float q = x[g];")
    writer.line("uint4 NAMED(r, 1) = vload4(l, a);")
    writer.names["r1"] = "uint4"
    for _ in range(writer.random.randrange(1, 4)):
        for _ in range(writer.random.randrange(2, 5)):
            writer.statement(2)
        writer.exchange()
    for _ in range(writer.random.randrange(1, 4)):
        writer.statement(2)
    for place, (name, kind) in enumerate(list(writer.names.items())[-7:]):
        own = f"{name}.s{writer.random.randrange(width(kind)):x}" if width(kind) > 1 else name
        writer.line(f"out[LENGTH * g + {place}] = {'bits_of' if element(kind) == 'float' else '(uint)'}({own});")
    writer.line(f"if ({writer.condition(2)}) return;")
    writer.line(f"out[LENGTH * g + 7] = {writer.value('uint')};")
    head = "__kernel void values(__global const uint* a, __global const float* x, __global uint* out)\n{\n"
    return f"{PRELUDE}{CORNER_TYPES}{head}{chr(10).join(writer.lines)}\n}}\n"


_TOKEN = re.compile(
    r"'[^']*'|0x[\da-fA-F.]+(?:p\d+)?[fuUL]*|\d[\w.]*|\w+|<<=?|>>=?|[-+*/%&|^!=<>]=|&&|\|\||\+\+|--|\s+|.", re.S
)
_WORDS = (
    "uint", "float4", "int", "const", "return", "l", "p", "q", "r1", "0", "1.5f", "(", ")", ";", ",", "[", "]", "{", "}", "*",
    "&", "x", "lo", "Mixed", "unknown", "break", "=", "+", "%", "!", "TWICE", "early", "vload4", "__local", "if", "else",
)  # fmt: skip


def mutated(seed: int) -> str:
    """A program with one token of its kernel left out, doubled, or replaced by another or by a word."""
    random = Random(seed)
    text = program(random.randrange(10**6))
    start = text.index("{", text.index("__kernel"))
    tokens = _TOKEN.findall(text[start:])
    places = [place for place, token in enumerate(tokens) if not token.isspace()]
    here = random.choice(places)
    kind = random.randrange(8)
    if kind == 0:
        tokens[here] = ""
    elif kind == 1:
        tokens[here] = f"{tokens[here]} {tokens[here]}"
    elif kind == 2:
        tokens[here] = random.choice(_WORDS)
    else:  # another word of the program for a word, another operator for an operator
        words = [token for token in tokens if not token.isspace() and token[0].isalnum() == tokens[here][0].isalnum()]
        tokens[here] = random.choice(words)
    return text[:start] + "".join(tokens)
