"""What a kernel does to memory, counted without a GPU: `tilewright explain`."""

from .explain import PrintedExplanation, explain_source
from .explanation import Explanation
from .models import MODELS, NVIDIA, Model, find_model
from .plans import explain_kernel, explain_steps
from .simt import Argument, Finding, Image, LocalMemory, Sampler

__all__ = [
    "MODELS",
    "NVIDIA",
    "Argument",
    "Explanation",
    "Finding",
    "Image",
    "LocalMemory",
    "Model",
    "PrintedExplanation",
    "Sampler",
    "explain_kernel",
    "explain_source",
    "explain_steps",
    "find_model",
]
