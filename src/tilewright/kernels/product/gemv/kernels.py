"""rows.cl and columns.cl as Kernels, and the launches that each needs."""

from dataclasses import replace
from pathlib import Path

from ....core.kernel import Config, Kernel
from ....core.types import ELEMENT_TYPES
from ..steps import split_k_steps
from .config import ColumnsConfig, RowsConfig
from .config_any_layout import AnyColumnsConfig, AnyRowsConfig

HERE = Path(__file__).parent


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=split_k_steps)


ROWS = _kernel("rows.cl", RowsConfig())
COLUMNS = _kernel("columns.cl", ColumnsConfig())
ANY_ROWS = replace(_kernel("rows.cl", AnyRowsConfig(1, 64, 4, 1)), variant="any layout")
ANY_COLUMNS = replace(_kernel("columns.cl", AnyColumnsConfig(1, 8, 32)), variant="any layout")
