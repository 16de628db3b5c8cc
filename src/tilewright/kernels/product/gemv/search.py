"""Which configurations of rows.cl and columns.cl a product with a C of few columns or rows may run, the cheapest
first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import SPLITS
from ..family import Candidate
from .config import ColumnsConfig, GemvConfig, RowsConfig
from .config_any_layout import AnyColumnsConfig, AnyRowsConfig
from .cost import cost
from .kernels import ANY_COLUMNS, ANY_ROWS, COLUMNS, ROWS

ROWS_SPACE = (
    RowsConfig(1, 64, 8, 2), RowsConfig(1, 128, 1, 2), RowsConfig(1, 64, 2, 2), RowsConfig(1, 32, 8, 2), RowsConfig(1, 64, 4, 1),
    RowsConfig(1, 128, 1, 1),
)  # fmt: skip
COLUMNS_SPACE = (
    ColumnsConfig(1, 8, 128), ColumnsConfig(1, 8, 64), ColumnsConfig(1, 8, 32), ColumnsConfig(1, 8, 8), ColumnsConfig(1, 16, 64),
    ColumnsConfig(1, 16, 32), ColumnsConfig(1, 16, 16), ColumnsConfig(1, 32, 32), ColumnsConfig(1, 32, 8),
)  # fmt: skip
# Teams and lanes of 256 work-items: arguments of the few programs that take any layout.
ANY_ROWS_SPACE = tuple(AnyRowsConfig(1, team, 256 // team, 1) for team in (32, 64, 128, 256))
ANY_COLUMNS_SPACE = tuple(AnyColumnsConfig(1, lanes, 256 // lanes) for lanes in (2, 4, 8, 16, 32))
MOST_COLUMNS = 8  # of C: one work-item can hold no more sums


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """Both kernels in every configuration, with K in as many splits as fill the device; none for a larger C."""
    tall = call.tall
    if tall.n > MOST_COLUMNS:
        return
    for kernel, space in ((ROWS, ROWS_SPACE), (COLUMNS, COLUMNS_SPACE)):
        for config in _configurations(space, tall, device):
            yield Candidate(kernel, config, cost(config, tall, device))
    if "nvidia" in device.features:
        for kernel, any_space in ((ANY_ROWS, ANY_ROWS_SPACE), (ANY_COLUMNS, ANY_COLUMNS_SPACE)):
            for config in _configurations(any_space, tall, device):
                yield Candidate(kernel, config, cost(config, tall, device), few=True)


def _configurations(space: tuple[GemvConfig, ...], tall: GemmCall, device: DeviceInfo) -> Iterator[GemvConfig]:
    for config in space:
        groups = max(1, -(-tall.m // config.group_rows(tall)) * tall.batch)
        for splits in SPLITS:
            if splits > 1 and (groups * splits > 32 * device.compute_units or tall.k < 64 * splits):
                break
            split = _variant(config, splits)
            if not split.has_empty_split(tall):
                yield split


@cache
def _variant(config: GemvConfig, split_k: int) -> GemvConfig:
    return replace(config, split_k=split_k)
