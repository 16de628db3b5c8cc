"""How to compute: Kernel, Config, Step and NDRange as plain data, and `render`, which makes the source text.

One kernel type serves all: a tutorial's rung is a kernel with one configuration, a production kernel has many.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from .device import DeviceInfo
from .dtypes import DOUBLES, element_type
from .errors import InvalidInput
from .problem import Problem
from .tensormap import TensorMap

KERNELS = Path(__file__).parent / "kernels"
PRELUDE = KERNELS / "prelude"


def round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


@dataclass(frozen=True)
class NDRange:
    """The launch geometry: work-items in all, and per work-group, in each dimension."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]

    @property
    def empty(self) -> bool:
        return 0 in self.global_size

    @property
    def group_items(self) -> int:
        items = 1
        for size in self.local_size:
            items *= size
        return items

    def __str__(self) -> str:
        return "x".join(map(str, self.global_size)) + " by " + "x".join(map(str, self.local_size))


@dataclass(frozen=True)
class Config:
    """Base of all configurations. Fields in capitals become macros of the same name in the kernel's source."""

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name.isupper()}

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        """Values of kernel arguments that the configuration decides, such as block sizes."""
        return {}

    def ndrange(self, problem: Problem) -> NDRange:
        """The only place where this configuration's geometry is computed."""
        raise NotImplementedError

    def local_bytes(self, problem: Problem) -> int:
        """Local memory of one work-group, in bytes."""
        return 0

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        """The kernel's arguments that are tensor maps, by name; the kernel puts each operand's address in itself."""
        return {}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        """Why this configuration cannot solve the problem there: each a sentence with its numbers."""
        return iter(())

    def __str__(self) -> str:
        return " ".join(f"{each.name}={getattr(self, each.name)}" for each in fields(self))


@dataclass(frozen=True)
class Step:
    """One launch: a kernel, its configuration, the problem it solves, and which buffer each pointer argument gets.

    Pointer arguments that `buffers` does not name get the buffer of their own name. A buffer that is not an operand of
    the plan's problem is scratch memory; `scratch` lists (name, bytes) of what the step's own operands do not tell. Those
    in `zeroed` hold zeros before the first launch, and every launch leaves them so.
    """

    kernel: "Kernel"
    config: Config
    problem: Problem
    buffers: tuple[tuple[str, str], ...] = ()
    scratch: tuple[tuple[str, int], ...] = ()
    zeroed: tuple[str, ...] = ()

    def buffer_of(self, argument: str) -> str:
        return dict(self.buffers).get(argument, argument)


Steps = tuple[Step, ...]


def single_step(kernel: "Kernel", config: Config, problem: Problem) -> Steps:
    """The steps of a kernel that needs no other."""
    return (Step(kernel, config, problem),)


@dataclass(frozen=True)
class Kernel:
    """One `.cl` file with the configuration to run it in.

    `smaller` are fallbacks for devices whose limits `config` exceeds, tried in order. `orders` are the memory orders of
    A, B and C that a gemm kernel reads. `requires` names features (`DeviceInfo.features`) without which it cannot run,
    each with the sentence that says so. `steps` lists the launches, where one is not enough. `published` holds the
    source's own figures: (device, GFLOP/s, or GB/s for a transpose). `target` is the PTX target that the driver's code is
    changed to ("sm_90a"), for instructions that its compiler refuses. `precision` is "" for the dtypes' own arithmetic, or
    the one of `problem.PRECISIONS` that it computes in: then it solves only problems that ask for it.
    """

    source: Path
    config: Config
    operation: str = "gemm"
    smaller: tuple[Config, ...] = ()
    variant: str = ""
    dtypes: tuple[str, ...] = ("float32", "float64", "int32")
    orders: tuple[str, str, str] = ("row", "row", "row")
    requires: tuple[tuple[str, str], ...] = ()
    steps: Callable[["Kernel", Config, Problem], Steps] = single_step
    published: tuple[tuple[str, float], ...] = ()
    options: tuple[str, ...] = ()
    target: str = ""
    precision: str = ""

    @property
    def name(self) -> str:
        stem = f"{self.source.parent.name}/{self.source.stem}"
        return f"{stem}[{self.variant}]" if self.variant else stem

    @property
    def lesson(self) -> str:
        """The first comment line of the source: what this rung changes, in one sentence."""
        first = self.text.lstrip().splitlines()[0] if self.text.strip() else ""
        return first.strip("/* ").strip()

    @property
    def text(self) -> str:
        return read_source(self.source)

    @property
    def signature(self) -> "Signature":
        return parse_signature(self.text, str(self.source))

    @property
    def configs(self) -> tuple[Config, ...]:
        return (self.config, *self.smaller)

    @property
    def usual_dtype(self) -> str:
        """What it is measured in unless another type is asked for: float32, if it has that."""
        return "float32" if "float32" in self.dtypes else self.dtypes[0]


@dataclass(frozen=True)
class Ladder:
    """Kernels in the order in which they teach. Adding a rung is one `.cl` file and one line in `kernels`."""

    name: str
    title: str
    origin: str  # where the published figures come from
    kernels: tuple[Kernel, ...]

    @property
    def usual_dtype(self) -> str:
        """What it is measured in unless another type is asked for: what its first rung is."""
        return self.kernels[0].usual_dtype


def read_source(path: Path) -> str:
    """The file's text as it is now: a file that was edited since is read again."""
    facts = path.stat()
    return _read_version(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=256)
def _read_version(path: Path, modified_ns: int, size: int) -> str:
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel: a global pointer, a local pointer, or a scalar of the C type `ctype`."""

    name: str
    ctype: str
    pointer: str = ""  # "global", "local" or "" for a scalar
    readonly: bool = False


@dataclass(frozen=True)
class Signature:
    entry: str
    parameters: tuple[Parameter, ...]


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_ENTRY = re.compile(r"\b(?:__)?kernel\b.*?\bvoid\s+(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)\s*\{", re.S)
_QUALIFIERS = {"__global", "global", "__local", "local", "const", "restrict", "volatile", "__constant", "constant"}


def parse_signature(text: str, filename: str, entry: str | None = None) -> Signature:
    """The kernel function in an OpenCL C source and its arguments, by which they are bound.

    With several kernels in one file `entry` says which; InvalidInput if there is none, or more than one and no word.
    """
    found = {each["name"]: each["arguments"] for each in _ENTRY.finditer(_COMMENT.sub(" ", text))}
    if not found:
        raise InvalidInput(f"{filename} holds no __kernel function")
    if entry is None and len(found) > 1:
        raise InvalidInput(f"{filename} holds {len(found)} kernels ({', '.join(found)}); name one as the entry")
    if entry is not None and entry not in found:
        raise InvalidInput(f"{filename} holds no kernel {entry!r}; it has {', '.join(found)}")
    name = entry or next(iter(found))
    arguments = [each.strip() for each in found[name].split(",")]
    return Signature(name, tuple(_parameter(each) for each in arguments if each not in ("", "void")))


def _parameter(declaration: str) -> Parameter:
    words = declaration.replace("*", " * ").split()
    ctype = " ".join(word for word in words[:-1] if word not in _QUALIFIERS and word != "*")
    if "*" not in words:
        return Parameter(words[-1], ctype)
    space = "local" if {"__local", "local"} & set(words) else "global"
    before_star = words[: words.index("*")]
    readonly = "const" in before_star or bool({"__constant", "constant"} & set(words))
    return Parameter(words[-1], ctype, space, readonly)


# What a kernel gets besides, if it requires a feature.
FEATURE_PRELUDES = {
    "nvidia": ("nvidia.cl",),
    "mma": ("nvidia.cl", "mma.cl"),
    "mma_f64": ("nvidia.cl", "mma.cl"),
    "mma_f64_m8": ("nvidia.cl", "mma.cl"),
    "ldmatrix": ("nvidia.cl", "mma.cl"),
    "cp_async": ("nvidia.cl", "mma.cl"),
    "tma": ("nvidia.cl", "tma.cl"),
    "wgmma": ("nvidia.cl", "tma.cl", "wgmma.cl"),
}


class Dialect:
    """The languages that a kernel can be rendered in: the name of the prelude file each one starts with."""

    OPENCL: ClassVar[str] = "opencl.cl"
    CUDA: ClassVar[str] = "cuda.h"


ENDINGS = {Dialect.CUDA: "}  // namespace opencl, which cuda.h opened\n"}


def render(kernel: Kernel, config: Config, problem: Problem, dialect: str = Dialect.OPENCL) -> str:
    """The whole source text: the element type's and the configuration's macros, the prelude, the kernel's own file.

    In `Dialect.CUDA` it is CUDA C++ for NVRTC or nvcc, with the kernel's name unmangled. Of the features that kernels
    require, cuda.h has words for "nvidia" alone.
    """
    macros = {**type_macros(problem.dtype), **config.macros(problem)}
    defines = "\n".join(f"#define {key} {value}" for key, value in macros.items())
    body = with_includes(kernel.text, kernel.source, macros)
    files = (file for feature, _ in kernel.requires for file in FEATURE_PRELUDES.get(feature, ()))
    preludes = dict.fromkeys((dialect, *(files if dialect == Dialect.OPENCL else ())))
    return "\n".join((defines, *(read_source(PRELUDE / file) for file in preludes), body, ENDINGS.get(dialect, "")))


def type_macros(dtype: str) -> dict[str, str | int]:
    """REAL, the element type in OpenCL C, and what the prelude asks of it."""
    kind = element_type(dtype)
    return {"REAL": kind.real, "REAL_IS_INTEGER": int(kind.exact), "REAL_IS_DOUBLE": int(dtype in DOUBLES)}


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(?P<file>[^"\n]+)"[^\n]*$', re.M)


def with_includes(text: str, source: Path, macros: Mapping[str, str | int]) -> str:
    """The text with each `#include "file"` replaced by that file of the same folder: programs are self-contained.

    `#include "NAME"` takes the file that the macro NAME names. `#line` makes compilers name the real file and line.
    """
    pieces, place = [f'#line 1 "{_shown(source)}"\n'], 0
    for match in _INCLUDE.finditer(text):
        path = source.parent / str(macros.get(match["file"], match["file"]))
        if not path.is_file():
            raise InvalidInput(f"{source}: there is no file {match['file']} to include in {source.parent}")
        pieces += [text[place : match.start()], with_includes(read_source(path), path, macros)]
        place = match.end() + 1
        pieces.append(f'\n#line {text.count(chr(10), 0, place) + 1} "{_shown(source)}"\n')
    return "".join((*pieces, text[place:]))


_LINE = re.compile(r'#line (\d+) "([^"]*)"')


def name_lines(log: str, source: str) -> str:
    """A compiler's log with the real file and line where it counts lines of the whole text, as NVIDIA's does.

    Such a log says "<kernel>:30:12: error"; the `#line` before that line of `source` tells what it stands for.
    """
    lines = source.splitlines()

    def real(match: re.Match[str]) -> str:
        place = min(int(match[1]), len(lines))
        for back in range(place - 1, -1, -1):
            found = _LINE.match(lines[back])
            if found:
                return f"{found[2]}:{int(found[1]) + place - back - 2}:"
        return match[0]

    return re.sub(r"<kernel>:(\d+):", real, log)


def _shown(source: Path) -> str:
    """How compilers are told to name a file: "tiles/02_tiled.cl"."""
    return f"{source.parent.name}/{source.name}"
