"""Front end for OpenCL C: text -> tokens -> preprocessed tokens -> tree."""

from .parser import parse_program
from .predefined import standard_of
from .preprocess import preprocess
from .tree import Program

__all__ = ["Program", "parse_program", "preprocess", "standard_of"]
