"""How to compute: Kernel, Config, Step and NDRange as plain data, and `render`, which makes the source text.

There is one kernel type: a ladder's rung is a kernel with one configuration, a kernel of the library has many.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

from .argument_words import LaunchWords
from .binding import Binding, Part, Pointer
from .cuda_words import in_words_of_cuda_h
from .device import DeviceInfo
from .heads import OPTIONS_MARK
from .includes import with_includes
from .own_problem import OWN
from .problem import Problem
from .source import Signature, read_signature, read_source, shown_path, source_notes, speaks_of_real
from .tensor_map import TensorMap
from .types import DOUBLES, element_type

KERNELS = Path(__file__).parents[1] / "kernels"
PRELUDE = KERNELS / "prelude"


def round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


MOST_GROUPS = 65535  # work-groups in dimensions 1 and 2 that every driver accepts: NVIDIA's limit


@dataclass(frozen=True)
class NDRange:
    """The launch sizes: all work-items, and those of one work-group, in each dimension.

    `offset` is added to global ids; empty for none. If `chosen_by_driver` the driver chooses the work-groups, and `local_size`
    is a likely choice. A global size that is no multiple of the local size has smaller groups at its edges (OpenCL 2).
    `together`: some work-groups wait for others of the launch, so all must run at a time. `early`: work-groups may take their
    places while the kernel before is running, and wait there. CUDA promises the first and allows the second; OpenCL does neither.
    `cluster`: work-groups in each dimension that run at a time and may use each other's local memory; empty where each is alone,
    as all are in OpenCL.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    offset: tuple[int, ...] = ()
    chosen_by_driver: bool = False
    together: bool = False
    early: bool = True
    cluster: tuple[int, ...] = ()

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

    # Whether the kernel takes any gemm: of all memory orders, factors, batches and types of results.
    any_gemm: ClassVar[bool] = False

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name.isupper()}

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        """Values of scalar arguments that the configuration decides, such as block sizes."""
        return {}

    def ndrange(self, problem: Problem) -> NDRange:
        """Global and local size: they are computed here and nowhere else."""
        raise NotImplementedError

    def local_bytes(self, problem: Problem) -> int:
        """Local memory of one work-group, in bytes."""
        return 0

    def included(self, problem: Problem) -> Mapping[str, str]:
        """Files that take the place of included ones, by the names that stand in `#include`."""
        return {}

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        """The arguments that are tensor maps, by name. The kernel itself writes the operand's address into each."""
        return {}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        """Why this configuration cannot solve the problem on the device: sentences with their numbers."""
        return iter(())

    def on(self, device: DeviceInfo) -> "Config":
        """This configuration with what it takes from a device's facts."""
        return self

    @property
    def key(self) -> dict[str, bool | int | str]:
        """Every field by its name: what tuned tables and child processes call the configuration."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value if isinstance(value, int | str) else str(value) for name, value in values.items()}

    def __str__(self) -> str:
        return " ".join(f"{each.name}={getattr(self, each.name)}" for each in fields(self))


@dataclass(frozen=True)
class Step:
    """One launch: a kernel, its configuration, the problem it solves, and which buffer each pointer argument gets.

    A pointer argument that `buffers` does not name gets the buffer of its own name. A buffer that is not an operand of the
    plan's problem is scratch memory. `scratch` lists (name, bytes) of those that are not operands of the step either. The
    buffers in `zeroed` hold zeros before the first launch, and each launch leaves zeros in them. `pointers` are the arguments
    that get something else than a whole buffer. Outputs in `initial` are filled with a number before the launch.
    """

    kernel: "Kernel"
    config: Config
    problem: Problem
    buffers: tuple[tuple[str, str], ...] = ()
    scratch: tuple[tuple[str, int], ...] = ()
    zeroed: tuple[str, ...] = ()
    pointers: tuple[tuple[str, Pointer], ...] = ()
    initial: tuple[tuple[str, float], ...] = ()

    def buffer_of(self, argument: str) -> str:
        pointer = self.pointer_of(argument)
        return pointer.buffer if isinstance(pointer, Part) else dict(self.buffers).get(argument, argument)

    def pointer_of(self, argument: str) -> Pointer | None:
        """What the argument gets if it is not a whole buffer."""
        return dict(self.pointers).get(argument)


Steps = tuple[Step, ...]


def single_step(kernel: "Kernel", config: Config, problem: Problem) -> Steps:
    """The steps of a kernel that needs one launch."""
    if kernel.binding is None:
        return (Step(kernel, config, problem),)
    own = kernel.binding
    return (Step(kernel, config, problem, own.buffers, pointers=own.pointers, initial=own.initial),)


@dataclass(frozen=True)
class Kernel:
    """One `.cl` file with the configuration to run it in.

    `smaller` are fallbacks for devices whose limits `config` exceeds, tried in order. `orders` are the memory orders of
    A, B and C that a gemm kernel reads; one whose configuration takes `any_gemm` reads others, too. `requires` names
    features (`DeviceInfo.features`) without which it cannot run, each with a sentence that says why. `steps` lists the
    launches, if there are several. `published` holds figures from the literature: (device, GFLOP/s, or GB/s for a
    transpose); `published_with` says how the kernel that they are of differs from this one. `target` is a PTX target such
    as "sm_90a": the driver's PTX is changed to it, for instructions that the driver's OpenCL compiler refuses.
    `precision` is "" for the dtype's own arithmetic, or a key of `precision.PRECISIONS`: then the kernel solves only
    problems that ask for it. A kernel that `scales` multiplies rows and columns of a product by scale vectors. `rung` is
    the rung that it is a `variant` of, if its file has another name.
    """

    source: Path
    config: Config
    operation: str = "gemm"
    smaller: tuple[Config, ...] = ()
    variant: str = ""
    rung: str = ""
    dtypes: tuple[str, ...] = ("float32", "float64", "int32")
    orders: tuple[str, str, str] = ("row", "row", "row")
    requires: tuple[tuple[str, str], ...] = ()
    steps: Callable[["Kernel", Config, Problem], Steps] = single_step
    published: tuple[tuple[str, float], ...] = ()
    published_with: str = ""
    options: tuple[str, ...] = ()
    target: str = ""
    precision: str = ""
    scales: bool = False
    launch: LaunchWords | None = None  # of a user's file: its arguments as they were given
    binding: Binding | None = None  # what they mean, once that was found

    @property
    def name(self) -> str:
        stem = self.rung or shown_path(self.source.with_suffix(""))
        return f"{stem}[{self.variant}]" if self.variant else stem

    @property
    def lesson(self) -> str:
        """The first line of the comment that the source begins with: one sentence that says what this rung changes. Lines with
        options are passed over. "" if a user's file begins with code."""
        text = self.text.lstrip()
        if text.startswith("/*"):
            comment = text.partition("*/")[0].splitlines()
        else:
            comment = list(takewhile(lambda line: line.lstrip().startswith("//"), text.splitlines()))
        lines = (line.strip("/* \t") for line in comment)
        return next((line for line in lines if line and not line.startswith(OPTIONS_MARK)), "")

    @property
    def text(self) -> str:
        return read_source(self.source)

    @property
    def signature(self) -> Signature:
        return self.binding.signature if self.binding is not None else read_signature(self.source)

    @property
    def configs(self) -> tuple[Config, ...]:
        return (self.config, *self.smaller)

    @property
    def usual_dtype(self) -> str:
        """The type if none is given: float32 if the kernel has it, otherwise its first."""
        return "float32" if "float32" in self.dtypes else self.dtypes[0]


@dataclass(frozen=True)
class Publication:
    """Where published figures of a ladder come from, and how they were measured.

    `devices` are those that the figures of rungs are of: each belongs to one source. `others` are figures of libraries on the
    same devices, as (device, library, GFLOP/s). `ratios` say that one rung is so many times as fast as another, as (device, rung,
    other rung, times). `claims` are figures that are not of rungs. `year` is None if it is not known.
    """

    title: str
    author: str
    year: int | None
    link: str
    licence: str
    size: tuple[int, ...]
    settings: str
    timing: str
    devices: tuple[str, ...]
    others: tuple[tuple[str, str, float], ...] = ()
    ratios: tuple[tuple[str, str, str, float], ...] = ()
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ladder:
    """Kernels in teaching order. A new rung is one `.cl` file and one line in `kernels`.

    `originals` are the sources' kernels as they were published, where a rung differs: variants of rungs, measured if they are
    asked for. A letter puts a file between two others without new numbers: "07a_name.cl" follows "07_other.cl".
    """

    name: str
    title: str
    origin: str  # whose ideas it follows, in a few words
    kernels: tuple[Kernel, ...]
    publications: tuple[Publication, ...] = ()
    originals: tuple[Kernel, ...] = ()

    @property
    def with_originals(self) -> tuple[Kernel, ...]:
        """The rungs, the originals of each after its last variant."""
        last = {_rung_of(kernel): place for place, kernel in enumerate(self.kernels)}
        places = [(place, kernel) for place, kernel in enumerate(self.kernels)]
        places += [(last[_rung_of(kernel)], kernel) for kernel in self.originals]
        return tuple(kernel for _, kernel in sorted(places, key=lambda each: each[0]))

    @property
    def usual_dtype(self) -> str:
        """The type if none is given: that of the first rung."""
        return self.kernels[0].usual_dtype


def _rung_of(kernel: Kernel) -> str:
    return kernel.name.partition("[")[0]


# Further prelude files, by the feature that a kernel requires. cuda.h has the words of nvidia.cl itself.
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
    """The languages that a kernel can be rendered in, each by the name of its prelude file."""

    OPENCL: ClassVar[str] = "opencl.cl"
    CUDA: ClassVar[str] = "cuda.h"


OWN_CUDA = "cuda_own.h"  # after cuda.h, for users' own files
ENDINGS = {Dialect.CUDA: "}  // namespace opencl, which cuda.h opened\n"}


def render(kernel: Kernel, config: Config, problem: Problem, dialect: str = Dialect.OPENCL) -> str:
    """The whole source text: the macros of the element type and the configuration, the prelude, the kernel's own file.

    In `Dialect.CUDA` it is CUDA C++ for NVRTC or nvcc, with the kernel's name unmangled. What `kernel.target` has alone
    stands there as comments, too, which `Nvrtc.compile_ptx` uncovers.
    """
    macros = {**type_macros(problem.dtype), **config.macros(problem)}
    files = (file for feature, _ in kernel.requires for file in FEATURE_PRELUDES.get(feature, ()))
    preludes = dict.fromkeys((dialect, *(file for file in files if dialect == Dialect.OPENCL or file != "nvidia.cl")))
    if problem.operation == OWN and dialect == Dialect.OPENCL and not speaks_of_real(kernel.text):
        macros, preludes = config.macros(problem), {}  # names of ours could be names of the file's, too
    defines = "\n".join(f"#define {key} {value}" for key, value in macros.items())
    folders = kernel.launch.include if kernel.launch is not None else ()
    body = with_includes(kernel.text, kernel.source, {**macros, **config.included(problem)}, folders)
    if kernel.launch is not None and dialect == Dialect.CUDA:
        lines = in_words_of_cuda_h(f"{defines}\n{body}").split("\n")
        first = 1 + defines.count("\n")
        defines, body = "\n".join(lines[:first]), "\n".join(lines[first:])
        preludes = {**preludes, OWN_CUDA: None}
    return "\n".join((defines, *(read_source(PRELUDE / file) for file in preludes), body, ENDINGS.get(dialect, "")))


def notes_on(kernel: Kernel) -> tuple[str, ...]:
    """Of a user's file: how it was read, what was assumed of its arguments, and further notes."""
    if kernel.launch is None:
        return ()
    return (*source_notes(kernel.source), *(kernel.binding.sentences if kernel.binding is not None else ()))


def type_macros(dtype: str) -> dict[str, str | int]:
    """REAL, the element type in OpenCL C, and what the prelude must know about it."""
    kind = element_type(dtype)
    return {"REAL": kind.real, "REAL_IS_INTEGER": int(kind.exact), "REAL_IS_DOUBLE": int(dtype in DOUBLES)}
