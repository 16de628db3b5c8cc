"""The table of claims of the four source systems about memory, each with the count that makes it true or false."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tilewright.analysis.explain.models import NVIDIA

from .counts import (
    MATRIX,
    PRODUCT,
    Judgement,
    both_operands_coalesced,
    float4_rows,
    local_column,
    local_column_is_right,
    naive_along_the_contiguous_side,
    naive_transpose,
    nine_eighths,
    pad_of_two,
    pitch_16,
    pitch_17,
    private_row,
    private_sum,
    quarter_of_a_read,
    tiled_transpose_coalesces,
    tiles_load_less,
    tiles_of_16_change_nothing,
    uncoalesced_copy,
    wide_loads_need_no_pad,
    wide_types,
)


@dataclass(frozen=True)
class Claim:
    """Something that a source says about a rung, and what counts for or against it."""

    source: str
    rung: str
    says: str
    judge: Callable[[], Judgement]


ROWS, TILES, SDK, CSDN = "the MQL5 article", "the myGEMM tutorial", "NVIDIA's SDK sample", "the CSDN articles"
CLAIMS: tuple[Claim, ...] = (
    Claim(ROWS, "rows/02", "B by columns makes the reads of both operands coalesced", both_operands_coalesced),
    Claim(ROWS, "rows/03", "a private sum saves K loads and stores of C", private_sum),
    Claim(ROWS, "rows/05", "a private copy of the row saves reading it again for every column", private_row),
    Claim(ROWS, "rows/06", "a column in local memory saves reads of global memory", local_column),
    Claim(ROWS, "rows/06", "the published kernel computes the product", local_column_is_right),
    Claim(ROWS, "rows/08", "float4 takes four elements at a time", float4_rows),
    Claim(
        TILES,
        "tiles/01",
        "dimension 0 along the contiguous side coalesces accesses",
        naive_along_the_contiguous_side,
    ),
    Claim(TILES, "tiles/02", "tiles in local memory cut off-chip loads by the side of the tile, 32", tiles_load_less),
    Claim(CSDN, "tiles/02", "tiles of 16 x 16 in local memory gain nothing", tiles_of_16_change_nothing),
    Claim(TILES, "tiles/03", "local reads for each multiply-add fall from 2 to 9/8", nine_eighths),
    Claim(TILES, "tiles/04", "vectors of four quarter the number of loads", wide_types),
    Claim(
        TILES,
        "tiles/05",
        "two elements of padding are against bank conflicts",
        lambda: pad_of_two("tiles/05_transposed"),
    ),
    Claim(
        TILES,
        "tiles/06",
        "two elements of padding are against bank conflicts",
        lambda: pad_of_two("tiles/06_register_tile"),
    ),
    Claim(
        TILES,
        "tiles/06",
        "8 x 8 results for each work-item need a quarter of a read for each product",
        quarter_of_a_read,
    ),
    Claim(TILES, "tiles/07", "with wide loads the tiles need no padding", wide_loads_need_no_pad),
    Claim(SDK, "transpose/03", "the copy with x and y swapped is strided on both sides", uncoalesced_copy),
    Claim(SDK, "transpose/04", "the naive transpose reads coalesced and writes strided", naive_transpose),
    Claim(SDK, "transpose/05", "through a tile both sides are coalesced", tiled_transpose_coalesces),
    Claim(SDK, "transpose/05", "with a pitch of 16 columns meet bank conflicts", pitch_16),
    Claim(SDK, "transpose/05", "with a pitch of 17 columns meet no bank conflict", pitch_17),
)


def table(claims: Iterable[Claim] = CLAIMS) -> str:
    """Every claim, whether it holds today, and the count, as a table in Markdown."""
    m, n, k = PRODUCT
    lines = [
        f"Products of {m} x {n} x {k}, transposes of {MATRIX[0]} x {MATRIX[1]}, float32, our own kernels, {NVIDIA.title} "
        f"({NVIDIA.standing}).",
        "",
        "| source | rung | it says | today | because |",
        "| --- | --- | --- | --- | --- |",
    ]
    for claim in claims:
        found = claim.judge()
        lines.append(f"| {claim.source} | `{claim.rung}` | {claim.says} | **{found.holds}** | {found.because} |")
    return "\n".join(lines)
