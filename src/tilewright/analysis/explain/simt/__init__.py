"""Lockstep interpreter: work-groups as NumPy vectors with masks."""

from .findings import Finding
from .launch import Argument, Launch, LocalMemory, all_groups, run_kernel

__all__ = ["Argument", "Finding", "Launch", "LocalMemory", "all_groups", "run_kernel"]
