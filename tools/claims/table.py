"""The table of claims of the sources about memory, each with the counts that make it true or false, then and today."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from tilewright.analysis.explain.models import GT200, HD_4870, KEPLER_4, KEPLER_8, NVIDIA, Model

from . import of_rows as rows
from . import of_tiles as tiles
from . import of_transpose as transpose
from .counts import MATRIX, PRODUCT, Judgement


@dataclass(frozen=True)
class Claim:
    """Something that a source says about a kernel of its own, and what counts for or against it on a device.

    `then` are models of devices that the source measured, or of their time; empty if it does not say which one it had.
    """

    source: str
    kernel: str
    says: str
    judge: Callable[[str], Judgement]
    then: tuple[Model, ...]


ARTICLE, TUTORIAL, SDK, CSDN = "the MQL5 article", "the myGEMM tutorial", "NVIDIA's SDK sample", "the CSDN articles"
RADEON, KEPLER = (HD_4870,), (KEPLER_8,)
A_QUARTER = "a quarter of a read for each product"
PADDING = "two elements of padding are against bank conflicts"


def _of(
    source: str, then: tuple[Model, ...], *claims: tuple[str, str, Callable[[str], Judgement]]
) -> tuple[Claim, ...]:
    return tuple(Claim(source, kernel, says, judge, then) for kernel, says, judge in claims)


CLAIMS: tuple[Claim, ...] = (
    *_of(
        ARTICLE, RADEON,
        ("rows/02[published]", "B by columns makes the reads of both operands coalesced", rows.both_operands_coalesced),
        ("rows/03", "a private sum saves K loads and stores of C", rows.private_sum),
        ("rows/05", "a private copy of the row saves reading it again for every column", rows.private_row),
        ("rows/06[whole column]", "a column in local memory saves reads of global memory", rows.local_column),
        ("rows/06", "the published kernel computes the product", rows.local_column_is_right),
        ("rows/08[published]", "float4 takes four elements of the first matrix at a time", rows.float4_rows),
    ),
    *_of(
        TUTORIAL, KEPLER,
        ("tiles/01", "dimension 0 along the contiguous side coalesces accesses", tiles.naive_along_the_contiguous_side),
        ("tiles/01", "B is un-coalesced whatever the order of the dimensions", tiles.b_is_uncoalesced_whatever_the_order),
        ("tiles/02", "tiles in local memory cut off-chip loads by the side of the tile, 32", tiles.tiles_load_less),
    ),
    *_of(
        CSDN, (),
        ("tiles/02[CSDN]", "tiles of 16 x 16 in local memory gain nothing", tiles.tiles_of_16_change_nothing),
        ("tiles/02[CSDN]", "the side of a tile must be a power of two", tiles.sides_are_powers_of_two),
    ),
    *_of(
        TUTORIAL, KEPLER,
        ("tiles/03[published]", "local reads for each multiply-add fall from 2 to 9/8", tiles.nine_eighths),
        ("tiles/04", "vectors of four quarter the number of loads", tiles.wide_types),
    ),
    *_of(
        TUTORIAL, (KEPLER_4, KEPLER_8),
        ("tiles/05[64x64x32]", PADDING, partial(tiles.pad_of_two, "tiles/05_transposed[64x64x32]")),
        ("tiles/06[published]", PADDING, partial(tiles.pad_of_two, "tiles/06_register_tile[published]")),
    ),
    *_of(
        TUTORIAL, KEPLER,
        ("tiles/06[published]", f"8 x 8 results for each work-item need {A_QUARTER}", tiles.quarter_of_a_read),
        ("tiles/07[published]", "with wide loads the tiles need no padding", tiles.wide_loads_need_no_pad),
    ),
    *_of(
        SDK, (GT200,),
        ("transpose/03", "the copy with x and y swapped is strided on both sides", transpose.uncoalesced_copy),
        ("transpose/04", "the naive transpose reads coalesced and writes strided", transpose.naive_transpose),
        ("transpose/05", "through a tile both sides are coalesced", transpose.tiled_transpose_coalesces),
        ("transpose/05", "with a pitch of 16 columns meet bank conflicts", transpose.pitch_16),
        ("transpose/05", "with a pitch of 17 columns meet no bank conflict", transpose.pitch_17),
    ),
)  # fmt: skip


def verdicts(claim: Claim) -> tuple[str, str]:
    """What holds of a claim, and why: on the devices of then, and today."""
    today = claim.judge(NVIDIA.name)
    then = []
    for model in claim.then:
        found = claim.judge(model.name)
        because = "" if found == today else f": {found.because}"
        then.append(f"**{found.holds}** on `{model.name}`{because}")
    return ". ".join(then) or "its device is not known", f"**{today.holds}**: {today.because}"


def table(claims: Iterable[Claim] = CLAIMS) -> str:
    """Every claim, whether it held then and holds today, and the counts, as a table in Markdown."""
    m, n, k = PRODUCT
    lines = [
        f"Products of {m} x {n} x {k}, transposes of {MATRIX[0]} x {MATRIX[1]}, float32. Today: {NVIDIA.title} "
        f"({NVIDIA.standing}).",
        "Then: models of the sources' devices (modelled, not measured), without a text if the counts are today's.",
        "",
        "| source | kernel | it says | then | today |",
        "| --- | --- | --- | --- | --- |",
    ]
    for claim in claims:
        then, today = verdicts(claim)
        lines.append(f"| {claim.source} | `{claim.kernel}` | {claim.says} | {then} | {today} |")
    return "\n".join(lines)
