"""The compilers for CUDA's driver: NVIDIA's OpenCL compiler takes OpenCL C, NVRTC the same source as CUDA C++."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import pyopencl as cl

from ...core.install import install_extra
from ...core.kernel import Dialect
from ...errors import NoDevice
from ..forks import mark_used
from ..icd.drivers import discover
from ..icd.registration import register
from ..opencl.device import Device as OpenCLDevice
from ..opencl.information import describe, pci_place
from ..pci import PciPlace
from .nvrtc import Nvrtc, find_nvrtc
from .ptx import for_cuda

ADVICE = f"CUDA needs NVIDIA's OpenCL library (libnvidia-opencl.so.1) or NVRTC: {install_extra('cuda')}"


@dataclass(frozen=True)
class Code:
    """What a compiler made of one kernel: machine code, or PTX that ends with a zero; and the bytes of dynamic shared memory that
    each launch asks for."""

    image: bytes
    dynamic_bytes: int
    log: str


class Compiler(Protocol):
    """A compiler for one GPU."""

    @property
    def dialect(self) -> str:
        """The language that it takes: a constant of `Dialect`."""

    @property
    def version(self) -> str: ...

    def compile(self, source: str, name: str, options: Sequence[str], target: str) -> Code:
        """Compile a kernel, for `target` ("sm_90a") if it is not "". BuildFailed holds the log."""


class NvrtcCompiler:
    """NVRTC, for an architecture such as "sm_90". It makes machine code; or PTX for the driver to link, if `as_ptx` is set: with
    more shared memory, and with instructions that one architecture has alone."""

    dialect = Dialect.CUDA

    def __init__(self, architecture: str, as_ptx: bool = False) -> None:
        self._architecture = architecture
        self._as_ptx = as_ptx

    @property
    def version(self) -> str:
        return nvrtc_for(self._architecture).version + (", PTX" if self._as_ptx else "")

    def compile(self, source: str, name: str, options: Sequence[str], target: str) -> Code:
        architecture = target or self._architecture
        if self._as_ptx:
            made = nvrtc_for(self._architecture).compile_ptx(source, name, architecture, options)
            loadable = for_cuda(made.ptx)
            return Code(loadable.text.encode() + b"\0", loadable.dynamic_bytes, made.log)
        built = nvrtc_for(architecture).compile(source, name, architecture, options)
        return Code(built.cubin, 0, built.log)


class OpenCLCompiler:
    """The compiler of NVIDIA's OpenCL driver, for the GPU at a place on the PCI bus. The first compilation loads the driver."""

    dialect = Dialect.OPENCL
    version = "OpenCL C"

    def __init__(self, place: PciPlace) -> None:
        self._place = place

    def compile(self, source: str, name: str, options: Sequence[str], target: str) -> Code:
        text, log = opencl_twin(self._place).ptx(source, name, tuple(options), target)
        loadable = for_cuda(text)
        return Code(loadable.text.encode() + b"\0", loadable.dynamic_bytes, log)


def compiler_of(place: PciPlace, architecture: str) -> Compiler:
    """OpenCL's compiler where NVIDIA's OpenCL library is installed, else NVRTC. NoDevice says what to install."""
    if any("libnvidia-opencl" in driver.library for driver in discover()):
        return OpenCLCompiler(place)
    nvrtc_for(architecture)
    return NvrtcCompiler(architecture, as_ptx=True)


def nvrtc_for(architecture: str) -> Nvrtc:
    """An NVRTC that compiles for an architecture; NoDevice says what to install."""
    compiler = find_nvrtc(architecture)
    if compiler is None:
        raise NoDevice(f"{ADVICE} (no NVRTC that compiles for {architecture})")
    return compiler


@cache
def opencl_twin(place: PciPlace) -> OpenCLDevice:
    """The GPU at this place on the PCI bus, opened by OpenCL; NoDevice if NVIDIA's OpenCL driver does not offer it."""
    register()
    mark_used()
    try:
        platforms = [each for each in cl.get_platforms() if "NVIDIA" in each.vendor]
    except cl.LogicError:  # the loader found no driver
        platforms = []
    for device in (each for platform in platforms for each in platform.get_devices()):
        if pci_place(device) == place:
            return OpenCLDevice(describe(device), device, cl.Context([device]))
    raise NoDevice(f"NVIDIA's OpenCL driver does not offer the GPU at {place}; {ADVICE}")
