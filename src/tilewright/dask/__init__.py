"""Dask: products and transposes of Dask arrays, over the threads of a process, its devices' workers, or many hosts.

`matmul` and `transpose` return Dask arrays; nothing is computed by the call. `plan` says before what a product will take.
`products` is a context in which `@` of Dask arrays is computed by them, too. Nothing is routed by the import alone.

Public are the names in `__all__`. They need Dask, which `import tilewright` does not load.
"""

from ..core.install import install_extra

try:
    import dask.array as _dask_array  # noqa: F401  # Dask itself: absolute imports never mean this package
    import dask.task_spec as _task_spec  # noqa: F401
except ImportError as missing:
    raise ImportError(
        f"tilewright.dask needs Dask with its arrays, 2025.7 or later: {install_extra('dask')}"
    ) from missing

from .products import matmul, plan
from .routing import products
from .schedule import ProductPlan
from .transposes import transpose

__all__ = ["ProductPlan", "matmul", "plan", "products", "transpose"]
