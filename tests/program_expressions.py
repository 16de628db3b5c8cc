"""Random expressions of OpenCL C whose values are defined, for `programs`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

ITEMS = 16  # of a work-group
INTEGERS = ("uint", "int", "ulong", "ushort", "uchar", "short", "char", "long")
UNSIGNED = ("uint", "ulong", "ushort", "uchar")
VECTORS = ("uint2", "uint4", "int4", "uint8", "ushort4", "float2", "float4", "uchar16", "uint3")
LETTERS = "xyzw"
OF_TWO = ("min", "max", "abs_diff", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate")


def element(kind: str) -> str:
    return kind.rstrip("0123456789")


def width(kind: str) -> int:
    return int(kind[len(element(kind)) :] or 1)


@dataclass
class ExpressionWriter:
    """Writes expressions. `names` are the variables in scope with their types; those in `fixed` are not assigned."""

    random: Random
    names: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    counter: int = 0
    loops: int = 0
    tick: str = ""

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str = "v") -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def choose(self, kind: str) -> str | None:
        found = [name for name, own in self.names.items() if own == kind]
        return self.random.choice(found) if found else None

    # Expressions of a given type

    def value(self, kind: str, depth: int = 3) -> str:
        if width(kind) > 1:
            return self.vector(kind, depth)
        if kind == "float":
            return self.floating(depth)
        return self.integer(kind, depth)

    def leaf(self, kind: str) -> str:
        name = self.choose(kind)
        if name is not None and self.random.random() < 0.8:
            return name
        if kind == "float":
            return self.random.choice(("0.5f", "(-1.25f)", "3.0f", "0x1.8p1f", "1e2f", "(float)l"))
        number = self.random.choice((0, 1, 2, 3, 7, 31, 100, 127))
        text = self.random.choice((f"{number}", f"0x{number:x}", f"'\\x{number:02x}'" if number else "'\\0'"))
        return f"({kind})({text})"

    def integer(self, kind: str, depth: int) -> str:
        if depth <= 0:
            return self.leaf(kind)
        if kind not in UNSIGNED:
            return self.signed(kind, depth)
        a, b = self.value(kind, depth - 1), self.value(kind, depth - 1)
        bits = {"uchar": 8, "ushort": 16, "uint": 32, "ulong": 64}[kind]
        forms: list[Callable[[], str]] = [
            lambda: f"({kind})({a} + {b})",
            lambda: f"({kind})({a} - {b})",
            lambda: f"({kind})({a} {self.random.choice('&|^')} {b})",
            lambda: f"({kind})(~{a})",
            lambda: f"({kind})({a} {self.random.choice('/%')} ({b} | 1))",
            lambda: f"({kind})({a} {self.random.choice(('<<', '>>'))} {self.random.randrange(bits)})",
            lambda: f"({kind})({self.condition(depth - 1)} ? {a} : {b})",
            lambda: f"{self.random.choice(OF_TWO)}({a}, {b})",
            lambda: f"{self.random.choice(('popcount', 'clz'))}({a})",
            lambda: f"clamp({a}, ({kind})3, ({kind})90)",
            lambda: f"({kind}){self.value(self.random.choice(INTEGERS), depth - 1)}",
            lambda: f"convert_{kind}_sat({self.value(self.random.choice(INTEGERS), depth - 1)})",
            lambda: f"({kind})TWICE({a})",
            lambda: self.random.choice((f"PICK({a}, {b})", f"SECOND({b}, {a}, 3)")),
            lambda: self.component(kind, depth),
        ]
        if kind == "uint":
            forms += [
                lambda: f"turn({a}, {b})",
                lambda: f"early({a})",
                lambda: f"(uint)mul24({self.value('uchar', depth - 1)}, {self.value('uchar', depth - 1)})",
                lambda: f"({a} * {b})",
                lambda: f"bits_of({self.value('float', depth - 1)})",
                lambda: f"(uint)({self.condition(depth - 1)})",
                lambda: f"(uint)sizeof({self.random.choice((*INTEGERS, *VECTORS, 'Mixed'))})",
                lambda: f"upsample({self.value('ushort', depth - 1)}, {self.value('ushort', depth - 1)})",
            ]
        return self.random.choice(forms)()

    def signed(self, kind: str, depth: int) -> str:
        """Operands are cut down, so that nothing overflows."""
        a, b = self.value(kind, depth - 1), self.value(kind, depth - 1)
        forms: list[Callable[[], str]] = [
            lambda: f"({kind})(({a} & 31) {self.random.choice('+-*')} ({b} & 31))",
            lambda: f"({kind})({a} {self.random.choice('&|^')} {b})",
            lambda: f"({kind})({a} >> {self.random.randrange(8)})",
            lambda: f"({kind})(({a} & 127) {self.random.choice('/%')} -(({b} & 7) + 1))",
            lambda: f"({kind})({self.condition(depth - 1)} ? {a} : {b})",
            lambda: f"{self.random.choice(('min', 'max', 'add_sat', 'sub_sat', 'hadd'))}({a}, {b})",
            lambda: f"({kind})(-({a} & 63))",
            lambda: f"convert_{kind}_sat({self.value(self.random.choice(INTEGERS), depth - 1)})",
            lambda: f"as_{kind}({self.value('u' + kind, depth - 1)})" if "u" + kind in UNSIGNED else a,
            lambda: f"convert_{kind}_sat_rtz({self.value('float', depth - 1)})" if kind == "int" else b,
            lambda: self.component(kind, depth),
        ]
        return self.random.choice(forms)()

    def component(self, kind: str, depth: int) -> str:
        """A component of a vector variable, or of a vector expression."""
        fitting = [(name, own) for name, own in self.names.items() if element(own) == kind and width(own) > 1]
        if not fitting:
            return self.leaf(kind)
        name, own = self.random.choice(fitting)
        count = width(own)
        if count <= 4 and self.random.random() < 0.6:
            return f"{name}.{LETTERS[self.random.randrange(count)]}"
        return f"{name}.s{self.random.randrange(count):x}"

    def floating(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf("float")
        a, b = self.floating(depth - 1), self.floating(depth - 1)
        return self.random.choice(
            (
                f"({a} {self.random.choice('+-*')} {b})",
                f"({a} / ({b} + 1000.0f))",
                f"(float)({self.integer('uint', depth - 1)} & 1023)",
                f"({self.condition(depth - 1)} ? {a} : {b})",
                f"({self.random.choice(('fmin', 'fmax'))}({a}, {b}) + 0.0f)",
                f"copysign({a}, (float)({self.integer('short', depth - 1)} & 7) - 3.5f)",
                f"{self.random.choice(('fabs', 'floor', 'ceil', 'trunc', 'rint'))}({a})",
                f"fma({a}, {b}, 0.75f)",
                f"(-{a})",
                self.component("float", depth),
            )
        )

    def vector(self, kind: str, depth: int) -> str:
        name = self.choose(kind)
        if depth <= 0:
            return name if name is not None else f"({kind})({self.leaf(element(kind))})"
        own, count = element(kind), width(kind)
        a, b = self.vector(kind, depth - 1), self.vector(kind, depth - 1)
        forms = [
            lambda: f"({kind})({', '.join(self.value(own, depth - 1) for _ in range(count))})",
            lambda: f"({kind})({self.value(own, depth - 1)})",
            lambda: self.swizzled(name, kind) if name is not None else a,
            lambda: f"(({kind})({a}) * {b})" if own in ("uint", "float") else a,
        ]
        if own == "float":
            forms += [
                lambda: f"({a} {self.random.choice('+-')} {b})",
                lambda: f"(fmax({a}, {self.floating(depth - 1)}) + 0.0f)",
            ]
            if count == 4:
                forms.append(lambda: f"mixed_up({a}, {self.floating(depth - 1)})")
        elif own in UNSIGNED:
            forms += [
                lambda: f"({a} {self.random.choice('+-&|^')} {b})",
                lambda: f"({a} >> ({kind})({self.random.randrange(8)}))",
                lambda: f"({a} {self.random.choice(('<<', '>>'))} ({self.value('uint', 1)} & 7))",
                lambda: f"(~{a})",
                lambda: f"({a} + {self.value(own, 1)})",
                lambda: f"{self.random.choice(('min', 'max', 'rotate', 'add_sat'))}({a}, {b})",
            ]
        else:
            forms += [
                lambda: f"({a} {self.random.choice('&|^')} {b})",
                lambda: f"({a} {self.random.choice(('<', '==', '!='))} {b})",
            ]
        if kind in ("uint4", "int4"):
            other = "int4" if kind == "uint4" else "uint4"
            forms += [
                lambda: f"as_{kind}({self.vector(other, depth - 1)})",
                lambda: f"convert_{kind}_sat({self.vector(other, depth - 1)})",
                lambda: f"convert_{kind}({self.vector('ushort4', depth - 1)})",
                lambda: f"select({a}, {b}, {self.vector('int4', depth - 1)})",
            ]
        if kind == "uint4":
            forms += [
                lambda: f"({kind})({self.vector('uint2', depth - 1)}, {self.vector('uint2', depth - 1)}.yx)",
                lambda: f"{self.vector('uint8', 0)}.{self.random.choice(('lo', 'hi', 'even', 'odd', 's7310'))}",
            ]
        return self.random.choice(forms)()

    def swizzled(self, name: str, kind: str) -> str:
        count = width(kind)
        digits = [self.random.randrange(count) for _ in range(count)]
        if count <= 4 and self.random.random() < 0.5:
            return f"{name}.{''.join(LETTERS[digit] for digit in digits)}"
        return f"{name}.s{''.join(f'{digit:x}' for digit in digits)}"

    def condition(self, depth: int) -> str:
        kind = self.random.choice(("uint", "int", "float", "uchar", "long"))
        a, b = self.value(kind, depth - 1), self.value(kind, depth - 1)
        compared = f"{a} {self.random.choice(('<', '>', '<=', '>=', '==', '!='))} {b}"
        other = f"{self.value('uint', depth - 1)} {self.random.choice(('&', '%'))} 3u"
        return self.random.choice(
            (
                compared,
                f"({compared}) {self.random.choice(('&&', '||'))} ({other})",
                f"!({other})",
                f"(l & {self.random.choice((1, 2, 4))}) == 0",
                f"any({self.vector('int4', depth - 1)} < (int4)(1))",
                f"all({self.vector('int4', depth - 1)} != (int4)(0, 1, 2, 3))",
            )
        )
