"""What the arguments of a user's kernel get: the words of a command line or of Python, typed by the kernel's own signature."""

from .ready import ready_kernel

__all__ = ["ready_kernel"]
