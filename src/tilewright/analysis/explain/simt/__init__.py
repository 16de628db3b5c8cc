"""Lockstep interpreter: work-groups as NumPy vectors with masks."""

from .findings import Finding
from .launch import Launch, all_groups, run_kernel
from .launch_arguments import Argument, LocalMemory

__all__ = ["Argument", "Finding", "Launch", "LocalMemory", "all_groups", "run_kernel"]
