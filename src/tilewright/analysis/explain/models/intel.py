"""Intel GPUs: sub-groups of 8 or 16 lanes. Modelled after the public optimisation guides, not measured."""

from ....core.language import Sentence
from .rules import Model

_CACHES = (
    (Sentence("the L1 cache and local memory of an Xe core of an Arc A770"), 192 << 10),
    (Sentence("its L2 cache"), 16 << 20),
)
_EVIDENCE = "Intel's GPU optimisation guide: lines of 64 bytes, shared local memory of 16 banks of 4 bytes"

INTEL_8 = Model(
    name="intel8",
    title=Sentence("Intel GPU, sub-groups of 8"),
    lanes=8,
    sector=64,
    line=64,
    banks=16,
    verified=False,
    register_bytes=128 * 32 // 8,  # 128 registers of 32 bytes for the lanes of a sub-group together
    evidence=_EVIDENCE,
    vendors=("intel",),
    caches=_CACHES,
)
INTEL_16 = Model(
    name="intel16",
    aliases=("arc", "xe", "tgllp", "dg1", "dg2", "pvc", "lnl", "bmg"),  # the last are the names of `inspect --arch`
    title=Sentence("Intel GPU, sub-groups of 16"),
    lanes=16,
    sector=64,
    line=64,
    banks=16,
    verified=False,
    register_bytes=128 * 32 // 16,
    evidence=_EVIDENCE,
    vendors=("intel",),
    caches=_CACHES,
)
MODELS = (INTEL_16, INTEL_8)
