"""What an "fp32_split" product takes by tensor cores, and by CUDA cores: estimates in clock cycles.

The constants come from times on an H200.
"""

from ..call import GemmCall
from .config_split import FP32_BYTES, sides

# Of tensor cores: a step of 64 in k, a tile's beginning and end, the beginnings and ends of both launches.
STEP, TILE, LAUNCHES = 1700, 3000, 17000
# Of CUDA cores: one launch, and the part that they reach of the 128 multiply-adds that an SM starts in a cycle.
PLAIN_LAUNCH, PLAIN_EFFICIENCY = 6800, 0.85
SPLIT_BYTES = 15  # read or written in a cycle by each SM while operands are split


def cost(tiles: int, steps: int, groups: int, call: GemmCall) -> float:
    """Cycles of both launches: splitting at memory speed, then the `tiles` of `steps` of the busiest of `groups`."""
    waves = -(-tiles // groups)
    split_bytes = sum(side.length * side.batch for side in sides(call)) * call.k * 2 * FP32_BYTES
    return LAUNCHES + split_bytes / (SPLIT_BYTES * groups) + waves * (steps * STEP + TILE)


def plain_cost(groups: int, call: GemmCall) -> float:
    """Cycles of the same product in float32 by the CUDA cores of `groups` SMs."""
    computed = call.batch * call.m * call.n * call.k / (2 if call.symmetric else 1)
    return PLAIN_LAUNCH + computed / (128 * groups * PLAIN_EFFICIENCY)
