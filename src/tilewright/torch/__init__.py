"""PyTorch: products of tensors with gradients, a context for whole models, and linear layers.

`matmul` and `linear` are operators of PyTorch ("tilewright::matmul", "tilewright::linear"): with autograd, `torch.compile`,
`torch.vmap`. `products` routes the products of any code to them, `swap_linear` those of a model's linear layers. Nothing is
routed by the import alone.

Public are the names in `__all__`. They need PyTorch, which `import tilewright` does not load.
"""

from ..core.install import install_extra

try:
    import torch as _torch  # noqa: F401  # PyTorch itself: absolute imports never mean this package
except ImportError as missing:
    raise ImportError(f"tilewright.torch needs PyTorch: {install_extra('torch')}") from missing

from .functions import linear, matmul
from .layers import Linear, restore_linear, swap_linear
from .routing import products

__all__ = ["Linear", "linear", "matmul", "products", "restore_linear", "swap_linear"]
