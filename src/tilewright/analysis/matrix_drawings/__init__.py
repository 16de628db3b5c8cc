"""Drawings of matrices for the pages and the tour of the ladders, made from what `explain` recorded."""

from .draw import matrix_drawings
from .drawing import CAPTIONS, MatrixDrawing

__all__ = ["CAPTIONS", "MatrixDrawing", "matrix_drawings"]
