"""What a kernel does to memory, counted without a GPU: `tilewright explain`."""

from .explain import PrintedExplanation, explain_source
from .explanation import Explanation
from .models import MODELS, NVIDIA, Model, find_model
from .plans import explain_kernel, explain_steps
from .simt import Argument, Finding, LocalMemory

__all__ = [
    "MODELS",
    "NVIDIA",
    "Argument",
    "Explanation",
    "Finding",
    "LocalMemory",
    "Model",
    "PrintedExplanation",
    "explain_kernel",
    "explain_source",
    "explain_steps",
    "find_model",
]
