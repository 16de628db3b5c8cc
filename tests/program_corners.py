"""Statements of the rarer parts of OpenCL C for `programs`: initialisers, pointers, unions, switches entered in their middle."""

from program_expressions import ExpressionWriter

CORNER_TYPES = """typedef union { uchar low; ushort parts[2]; uint whole; } Pieces;
typedef struct { uchar tag; Pieces pieces; short pair[2]; struct { uint deep; uchar end; } inner; } Record;
enum small : uchar { FEW = 3, SOME = 200 };
uint sum_of_record(const Record* r)
{
    uint inner = 11 * r->inner.deep + 13 * r->inner.end;
    return inner + r->tag + 3 * r->pieces.whole + 5 * (ushort)r->pair[0] + 7 * (ushort)r->pair[1];
}
"""
NARROW = ("uchar", "ushort", "char", "short", "int", "uint", "ulong", "long", "bool")


class CornerWriter(ExpressionWriter):
    """Adds statements whose operands differ in type, and what initialisers, pointers and switches can be."""

    def block(self, count: int, depth: int) -> None:
        raise NotImplementedError

    def cut(self, depth: int = 1) -> str:
        """An operand of any type, small enough that nothing overflows."""
        kind = self.random.choice(("uint", "int", "ushort", "uchar", "short", "char", "ulong", "long"))
        return f"({self.value(kind, depth)} & {self.random.choice((1, 7, 15, 63))})"

    def mixed(self, depth: int) -> None:
        """Usual arithmetic conversions, with no casts that hide them."""
        kind, name = self.random.choice(NARROW), self.fresh()
        a, b, c = self.cut(2), self.cut(2), self.cut(1)
        number = self.random.choice(("5u", "7ul", "FEW", "SOME", *(("2ull", "3ll") if kind != "bool" else ())))
        form = self.random.choice(
            (
                f"{a} {self.random.choice('+-*')} {b}",
                f"{a} {self.random.choice('/%')} ({b} + 1)",
                f"{a} {self.random.choice(('<', '>=', '==', '!=', '<='))} {b}",
                f"{a} - {b} < {c} ? {a} : {b} - {c}",
                f"{a} << ({b} & 7)",
                f"({a} - {b}) >> ({c} & 7)",
                f"({a}, {b}) - {c}",
                f"{a} ?: {b}",
                f"-{a} * {b} + {c} * {number}",
                f"!{a} + ~{b}",
                f"sizeof({a} + {b}) + {c}",
                f"({a} && {b}) + ({b} || {c}) + ({a} > {c})",
            )
        )
        self.line(f"{kind} {name} = {form};")
        if self.random.random() < 0.5 and kind != "bool":
            operator = self.random.choice(("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
            amount = f"({self.cut()} + 1)" if operator in ("/=", "%=") else f"({self.cut()} & 3)"
            bound = {"<<=": 15, "*=": 31}.get(operator, 63)
            self.line(f"{name} &= {bound}; {name} {operator} {amount};")
        self.line(f"uint {name}u = {name};")
        self.names[f"{name}u"] = "uint"

    def initialised(self, depth: int) -> None:
        """A record filled by designators, values without braces, and fillings that replace others."""
        name = self.fresh("k")
        items = self.random.sample(self.record_items(), self.random.randrange(1, 5))
        if self.random.random() < 0.5:
            items = [f"{self.cut()}, {self.cut()}", *items]
        if self.random.random() < 0.5:
            self.line(f"Record {name} = {{{', '.join(items)}}};")
            self.line(f"uint {name}s = sum_of_record(&{name});")
        else:
            whole = self.fresh("k")
            self.line(f"Record {whole} = {{{', '.join(items)}}};")
            place = self.random.choice(("[1]", "[0 ... 1]", "[0]"))
            part = self.random.choice((".tag", ".pieces.low", ".pieces.parts[1]", ".pair[1]", ".inner.end"))
            self.line(f"Record {name}[2] = {{{place} = {whole}, [1]{part} = {self.cut()}}};")
            self.line(f"uint {name}s = sum_of_record({name}) + 3 * sum_of_record(&{name}[1]);")
        self.names[f"{name}s"] = "uint"

    def record_items(self) -> list[str]:
        a, b, c = self.cut(), self.cut(), self.cut()
        return [
            f".tag = {a}", f".pieces.low = {a}", f".pieces.parts[1] = {b}", f".pieces = {{.whole = {a}}}", f".pieces = {{{b}}}",
            f".pieces = {c}, {a}", f".pieces.parts = {{{a}, {b}}}", f".pair = {{{a}}}", f".pair[1] = {b}, {c}, {a}",
            f".pair[0] = {b}", f".inner = {{{a}, {b}}}", f".inner.end = {c}", f".inner.deep = {a}, {b}", f".pair = {a}, {b}, {c}",
        ]  # fmt: skip

    def pointers(self, depth: int) -> None:
        """A walk over rows through pointers to rows, elements and pointers."""
        kind = self.random.choice(("uint", "ushort", "uchar"))
        rows, row, at, got = self.fresh("p"), self.fresh("p"), self.fresh("p"), self.fresh()
        self.line(
            f"{kind} {rows}[3][4] = {{{{{self.cut()}, {self.cut()}}}, [2] = {{[1] = {self.cut()}, {self.cut()}}}}};"
        )
        self.line(f"{kind} (*{row})[4] = {rows} + ({self.cut()} & 1); {kind}* {at} = {row}[1] + ({self.cut()} & 1);")
        step = self.random.choice(
            ("*{at}++ += 3", "*++{at} = 5", "(*{at})++", "{at}[1] -= 1", "*({at} - 1) ^= 9", "--*{at}")
        )
        self.line(f"{step.format(at=at)}; {kind}** {at}h = &{at}; **{at}h += {self.cut()};")
        self.line(
            f"uint {got} = *{at} + 3 * ({at} - {rows}[0]) + 17 * (*{at}h)[-1] + ({at} > {row}[0] ? {rows}[1][1] : 7);"
        )
        self.line(f"for (int i{got} = 0; i{got} < 12; i{got}++) {got} = {got} * 5 + {rows}[i{got} / 4][i{got} & 3];")
        self.names[got] = "uint"

    def entered(self, depth: int) -> None:
        """A switch with cases in a loop, a branch and braces."""
        count, total = self.fresh("n"), self.fresh()
        self.line(
            f"uint {total} = {self.value('uint', 1)}; int {count} = {self.random.choice(('l & 7', 'g % 5', '3'))};"
        )
        self.names[total] = "uint"
        loops, self.loops = self.loops, 0
        self.line(f"switch ({self.value('uint', 2)} % 7) {{")
        self.labelled(total, depth, "case 0:")
        loop = self.random.choice(("do {{", "while ({0} > 0) {{", "for (; {0} > 1;) {{")).format(count)
        self.line(loop)
        self.line(f"{count}--;")
        for label in self.random.sample(("case 1:", "case 2: case 3:"), self.random.randrange(1, 3)):
            self.labelled(total, depth, label)
        if self.random.random() < 0.5:
            self.line(f"if ({self.condition(1)}) {self.random.choice(('break', 'continue'))};")
        self.line(f"}} while ({count} > 0);" if loop.startswith("do") else "}")
        if self.random.random() < 0.7:
            self.line(f"if ({self.condition(1)}) {{")
            self.labelled(total, depth, "case 4:")
            self.line("} else {")
            self.labelled(total, depth, self.random.choice(("default:", "case 5:")))
            self.line("}")
        self.labelled(total, depth, "case 6:")
        self.line("}")
        self.loops = loops

    def labelled(self, total: str, depth: int, label: str) -> None:
        """A label and what it marks. It declares nothing that a jump could pass."""
        self.line(f"{label} {total} = {total} * 3 + {self.cut()};")
        if self.random.random() < 0.3:
            self.line("{")
            self.block(1, depth - 1)
            self.line("}")
        if self.random.random() < 0.2:
            self.line(f"if ({self.condition(1)}) break;")
