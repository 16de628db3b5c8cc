"""NVIDIA: warps of 32 lanes, sectors of 32 bytes, lines of 128, 32 banks. Checked against an H200's counters."""

from ....core.language import Sentence
from .rules import Model

NVIDIA = Model(
    name="nvidia",
    title=Sentence("NVIDIA, compute capability 7.0 and later"),
    lanes=32,
    sector=32,
    line=128,
    banks=32,
    merges_pairs=True,
    verified=True,
    sub_group=Sentence("warp"),
    local_pass=Sentence("wavefront"),
    register_bytes=255 * 4,
    serial_constants=True,
    sector_per_update=True,
    constants=Sentence(
        "the constant cache gives one address of a request to all lanes, and serves different addresses one by one"
    ),
    caches=(
        (Sentence("the L1 cache and local memory of an SM of an H100 or H200"), 256 << 10),
        (Sentence("their L2 cache"), 50 << 20),
    ),
    vendors=("nvidia",),
    aliases=("v100", "t4", "a100", "h100", "h200", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"),
    evidence=(
        "the counters of an H200 (compute capability 9.0) under Nsight Compute agreed on 29 patterns of one access each, "
        "and line by line on 124 kernels (benchmarks/counters.md): accesses of 8 to 128 bits, strides, broadcasts, "
        "divergence, the merging of paired lanes; and on 67 kernels with constant memory, atomic functions and private arrays"
    ),
)
MODELS = (NVIDIA,)
