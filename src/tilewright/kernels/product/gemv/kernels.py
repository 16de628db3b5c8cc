"""rows.cl and columns.cl as Kernels, and the launches that each needs."""

from pathlib import Path

from ....core.kernel import Config, Kernel
from ....core.types import ELEMENT_TYPES
from ..steps import split_k_steps
from .config import ColumnsConfig, RowsConfig

HERE = Path(__file__).parent


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=split_k_steps)


ROWS = _kernel("rows.cl", RowsConfig())
COLUMNS = _kernel("columns.cl", ColumnsConfig())
