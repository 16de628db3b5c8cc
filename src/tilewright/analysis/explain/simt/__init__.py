"""Lockstep interpreter: work-groups as NumPy vectors with masks."""

from .findings import Finding
from .images import Image, Sampler
from .launch import Launch, all_groups, run_kernel
from .launch_arguments import Argument, LocalMemory

__all__ = ["Argument", "Finding", "Image", "Launch", "LocalMemory", "Sampler", "all_groups", "run_kernel"]
