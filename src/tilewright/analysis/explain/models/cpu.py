"""CPUs: each work-item by itself, lines of 64 bytes, no banks. Local memory is ordinary memory there."""

from ....core.language import Sentence
from .rules import Model

CPU = Model(
    name="cpu",
    title=Sentence("a CPU"),
    lanes=1,
    sector=64,
    line=64,
    banks=32,
    verified=False,
    sub_group=Sentence("work-item"),
    widest=64,
    local_pass=Sentence("access"),
    piece=Sentence("cache line"),
    is_cpu=True,
    register_bytes=32 * 64,
    sub_group_lanes=16,  # a register of AVX-512 holds as many floats; CPU drivers let kernels ask for any such width
    evidence="lines of 64 bytes, as x86-64 and most ARM processors have; caches and prefetching are not modelled",
)
MODELS = (CPU,)
