"""The GPUs that the sources of the ladders measured: what they claimed is judged by the rules of then. Modelled, not measured.

GT200 is of the time of NVIDIA's SDK sample, Kepler has the Tesla K40m of the myGEMM tutorial, the two Radeons are those of the
MQL5 article.
"""

from dataclasses import replace

from ....core.language import Sentence
from .rules import Model

_SERIAL = Sentence(
    "the constant cache gives one address of a request to all lanes, and serves different addresses one by one"
)

GT200 = Model(
    name="gt200",
    title=Sentence("NVIDIA GT200 of 2008, compute capability 1.3"),
    lanes=16,
    sector=32,
    line=128,
    banks=16,
    verified=False,
    sub_group=Sentence("half-warp"),
    local_pass=Sentence("wavefront"),
    register_bytes=124 * 4,
    serial_constants=True,
    constants=_SERIAL,
    aliases=("gtx280", "sm_13"),
    evidence="NVIDIA's programming guide 2.3: requests of half-warps, segments of 32, 64 or 128 bytes, 16 banks of 4 bytes",
)
# CUDA programs may choose between the two modes (cudaDeviceSetSharedMemConfig); the first is the usual one.
KEPLER_4 = Model(
    name="kepler4",
    title=Sentence("NVIDIA Kepler of 2012, compute capability 3.5, banks in 4-byte mode"),
    lanes=32,
    sector=32,
    line=128,
    banks=32,
    bank_bytes=8,
    bank_pairs=True,
    verified=False,
    sub_group=Sentence("warp"),
    local_pass=Sentence("wavefront"),
    register_bytes=255 * 4,
    serial_constants=True,
    constants=_SERIAL,
    caches=(
        (Sentence("the L1 cache of an SMX of a K40, beside 48 KiB of local memory"), 16 << 10),
        (Sentence("its L2 cache"), 1536 << 10),
    ),
    aliases=("kepler", "k40", "sm_35"),
    evidence=(
        "NVIDIA's CUDA C programming guide, compute capability 3.x: 32 banks of 64 bits a cycle; in 32-bit mode words i and "
        "i + 32 of 64 aligned words come together; wider accesses are modelled as filling all banks; global loads bypass L1"
    ),
)
KEPLER_8 = replace(
    KEPLER_4,
    name="kepler8",
    title=Sentence("NVIDIA Kepler of 2012, compute capability 3.5, banks in 8-byte mode"),
    bank_pairs=False,
    aliases=(),
    evidence=(
        "NVIDIA's CUDA C programming guide, compute capability 3.x: 32 banks; in 64-bit mode successive 64-bit words lie in "
        "successive banks; wider accesses are modelled as filling all banks; global loads bypass L1"
    ),
)
HD_5870 = Model(
    name="hd5870",
    title=Sentence("AMD Radeon HD 5870 of 2009, wavefronts of 64"),
    lanes=64,
    sector=64,
    line=64,
    banks=32,
    verified=False,
    sub_group=Sentence("wavefront"),
    register_bytes=4096,
    constants=Sentence(
        "one address for all lanes comes at once; different addresses are counted as those of global memory"
    ),
    aliases=("evergreen", "cypress", "hd5000"),
    evidence=(
        "AMD's Accelerated Parallel Processing OpenCL programming guide: 32 banks of 4 bytes, chosen by address bits 6 to 2, "
        "half a wavefront at a time; 256 KiB of registers for 64 lanes; pieces of 64 bytes of global memory are an assumption"
    ),
)
HD_4870 = replace(
    HD_5870,
    name="hd4870",
    title=Sentence("AMD Radeon HD 4870 of 2008, wavefronts of 64"),
    local_is_global=True,
    local_pass=Sentence("sector"),
    aliases=("r700", "hd4000"),
    evidence=(
        "the device reports local memory of type global (CL_DEVICE_LOCAL_MEM_TYPE), as the MQL5 article prints it; pieces of 64 "
        "bytes of global memory are an assumption"
    ),
)
MODELS = (GT200, KEPLER_4, KEPLER_8, HD_5870, HD_4870)
