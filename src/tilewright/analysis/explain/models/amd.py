"""AMD: wavefronts of 64 (GCN, CDNA) or 32 lanes (RDNA). Modelled after ROCm's documentation, not measured.

AMD calls a sub-group a wavefront. NVIDIA's tools call one pass of a request through local memory a wavefront. On AMD it is
called a pass here.
"""

from ....core.language import Sentence
from .rules import Lanes, Model

_VENDORS = ("amd", "advanced micro")
_CONSTANTS = Sentence(
    "one address for all lanes is a scalar load; different addresses are vector loads, counted as those of global memory"
)


def _eights(*starts: tuple[int, int]) -> tuple[Lanes, ...]:
    return tuple(tuple(range(a, a + 4)) + tuple(range(b, b + 4)) for a, b in starts)


# ds_read_b128 on 64 lanes: ROCm composable_kernel, "LDS bank conflicts"; writes take eight consecutive lanes at a time.
_READ_128 = _eights((0, 20), (4, 16), (8, 28), (12, 24), (32, 52), (36, 48), (40, 60), (44, 56))

AMD_WAVE64 = Model(
    name="amd64",
    title=Sentence("AMD GCN and CDNA, wavefronts of 64"),
    lanes=64,
    sector=64,
    line=128,
    banks=32,
    verified=False,
    sub_group=Sentence("wavefront"),
    register_bytes=256 * 4,
    constants=_CONSTANTS,
    caches=(
        (Sentence("the vector cache of a compute unit of an MI300X"), 32 << 10),
        (Sentence("an L2 cache of it, of eight"), 4 << 20),
    ),
    phases=((16, "load", _READ_128),),
    vendors=_VENDORS,
    aliases=("gcn", "cdna", "mi100", "mi200", "mi300"),
    evidence=(
        "ROCm's documentation: 32 banks of 4 bytes, 32 lanes a pass, eight lanes a pass for 128 bits; "
        "64-bit accesses are undocumented and modelled as 16 lanes a pass"
    ),
)
AMD_WAVE32 = Model(
    name="amd32",
    title=Sentence("AMD RDNA, wavefronts of 32"),
    lanes=32,
    sector=64,
    line=128,
    banks=32,
    verified=False,
    sub_group=Sentence("wavefront"),
    register_bytes=256 * 4,
    constants=_CONSTANTS,
    caches=(
        (Sentence("the vector cache of a compute unit of an RX 7900"), 32 << 10),
        (Sentence("its L2 cache"), 6 << 20),
    ),
    evidence="ROCm's documentation: 32 banks of 4 bytes; sectors of 64 bytes are an assumption",
    vendors=_VENDORS,
    aliases=("rdna", "rdna2", "rdna3"),
)
MODELS = (AMD_WAVE64, AMD_WAVE32)
