"""Which configurations of rows.cl and columns.cl a product with a C of few columns or rows may run."""

from collections.abc import Iterator
from dataclasses import replace

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import PIECES
from .config import ColumnsConfig, RowsConfig, VectorConfig

ROWS_SPACE = (
    RowsConfig(1, 64, 8, 2), RowsConfig(1, 128, 1, 2), RowsConfig(1, 64, 2, 2), RowsConfig(1, 32, 8, 2), RowsConfig(1, 64, 4, 1),
    RowsConfig(1, 128, 1, 1),
)  # fmt: skip
COLUMNS_SPACE = (
    ColumnsConfig(1, 8, 128), ColumnsConfig(1, 8, 64), ColumnsConfig(1, 8, 32), ColumnsConfig(1, 8, 8), ColumnsConfig(1, 16, 64),
    ColumnsConfig(1, 16, 32), ColumnsConfig(1, 16, 16), ColumnsConfig(1, 32, 32), ColumnsConfig(1, 32, 8),
)  # fmt: skip
VECTORS = 2  # columns or rows of C up to which gemv kernels, which wait for memory alone, are as fast as tensor cores


def vector_configs(space: tuple[VectorConfig, ...], call: GemmCall, device: DeviceInfo) -> Iterator[VectorConfig]:
    if call.tall.n > 8:
        return
    for config in space:
        groups = max(1, -(-call.tall.m // config.group_rows(call.tall)) * call.batch)
        for pieces in PIECES:
            if pieces > 1 and (groups * pieces > 32 * device.compute_units or call.k < 64 * pieces):
                break
            yield replace(config, split=pieces)
