"""Stencils, filters and transforms of images and signals."""

import numpy as np

from .records import Foreign, Maker, double, filled, floats, integers, known, local, uint, words, zeros


def neighbours(count: int, step: int) -> Maker:
    """The index beside each one, held at the borders."""
    return lambda random: np.clip(np.arange(count) + step, 0, count - 1).astype("int32")


GRID = 24 * 20
KERNELS = (
    Foreign("hotspot_pyramid", (32, 32), (16, 16),
            {"iteration": 2, "power": floats(GRID, 0, 0.1), "temp_src": floats(GRID, 70, 90), "temp_dst": zeros(GRID),
             "grid_cols": 24, "grid_rows": 20, "border_cols": 2, "border_rows": 2, "Cap": 0.5, "Rx": 0.8, "Ry": 0.9, "Rz": 2.0,
             "step": 0.01}),
    Foreign("diffusion_coefficient", (512,), (64,),
            {"lambda": 0.5, "rows": 24, "cols": 20, "iN": neighbours(24, -1), "iS": neighbours(24, 1), "jE": neighbours(20, 1),
             "jW": neighbours(20, -1), "dN": zeros(GRID), "dS": zeros(GRID), "dE": zeros(GRID), "dW": zeros(GRID),
             "q0sqr": 0.05, "c": zeros(GRID), "image": floats(GRID, 1.0, 2.0)}),
    Foreign("stencil_seven_points", (16, 6, 4), (8, 2, 1),
            {"c0": 6.0, "c1": 1.5, "A0": floats(15 * 8 * 6), "Anext": zeros(15 * 8 * 6), "nx": 15, "ny": 8, "nz": 6}),
    Foreign("stencil_past_the_end", (32, 16), (16, 4),
            {"in": floats(30 * 16), "out": zeros(30 * 16), "width": 30, "height": 16}, faults=frozenset({"bounds"})),
    Foreign("finite_difference_queue", (16, 8), (8, 8),
            {"input": floats(20 * 12 * 12), "output": zeros(20 * 12 * 12), "coeff": floats(3), "dimx": 16, "dimy": 8, "dimz": 5,
             "padding": 0}),
    Foreign("fdtd_fields", (32, 16), (16, 4),
            {"ex": floats(16 * 31), "ey": floats(17 * 30), "hz": floats(16 * 30), "nx": 16, "ny": 30}),
    Foreign("jacobi_in_place", (16, 16), (8, 8), {"grid": floats(18 * 18), "width": 18}, faults=frozenset({"race"})),
    Foreign("convolution_rows", (16, 8), (8, 4),
            {"d_Dst": zeros(256), "d_Src": floats(256), "c_Kernel": floats(7), "imageW": 32, "imageH": 8, "pitch": 32}),
    Foreign("convolution_with_mask", (256,), (64,),
            {"output": zeros(240, "uint32"), "input": integers(240, 0, 255, "uint32"), "mask": floats(15, 0, 1),
             "inputDimensions": known((20, 12), "uint32"), "maskDimensions": known((5, 3), "uint32")},
            faults=frozenset({"bounds"})),  # 16 work-items more than pixels
    Foreign("sobel_uchar4", (32, 16), (16, 4), {"inputImage": words(2048, "uint8"), "outputImage": zeros(2048, "uint8")}),
    Foreign("recursive_filter_rows", (64,), (32,),
            {"id": words(40 * 12), "od": zeros(480, "uint32"), "back": zeros(480, "uint32"), "w": 40, "h": 12, "a": 0.375}),
    Foreign("dct_eight_by_eight", (32, 16), (8, 8),
            {"output": zeros(512), "input": floats(512), "width": uint(32), "inverse": uint(0)}),
    Foreign("median_of_nine", (32, 16), (16, 4), {"src": floats(29 * 13), "dst": zeros(29 * 13), "width": 29, "height": 13}),
    Foreign("bilateral_filter", (16, 16), (8, 8),
            {"in": floats(1024, 0, 1), "out": zeros(1024), "w": 16, "h": 16, "radius": 2, "variance": 0.5}),
    Foreign("shortest_path_rows", (128,), (32,),
            {"iteration": 3, "gpuWall": integers(100 * 8, 0, 10), "gpuSrc": integers(100, 0, 10),
             "gpuResults": zeros(100, "int32"), "cols": 100, "startStep": 2, "border": 3}),
    Foreign("sequence_alignment", (16,), (16,),
            {"reference": integers(33 * 33, -4, 8), "itemsets": integers(33 * 33, -20, 20), "score_l": local(289), "cols": 33,
             "penalty": 3, "block_x": 1, "block_y": 0}),
    Foreign("lattice_boltzmann", (128,), (32,),
            {"f": floats(900, 0.1, 1.0, "float64"), "velocity": zeros(200, "float64"), "omega": double(1.2), "cells": 100}),
    Foreign("haar_wavelet", (64,), (32,),
            {"inSignal": floats(128), "coefsSignal": zeros(128), "averages": zeros(2), "sharedArray": local(64),
             "levels": uint(6)}),
    Foreign("bilinear_resize", (32, 32), (16, 4),
            {"src": words(20 * 16, "uint8"), "src_step": 20, "src_rows": 15, "src_cols": 19, "dst": zeros(30 * 27, "uint8"),
             "dst_step": 30, "dst_rows": 27, "dst_cols": 29, "ifx": 19 / 29, "ify": 15 / 27}),
    Foreign("game_of_life", (32, 32), (16, 4),
            {"now": integers(29 * 29, 0, 2, "int8"), "next": filled(29 * 29, 7, "int8"), "side": 29}),
    Foreign("row_sums_divergent", (64,), (32,), {"in": floats(64), "out": zeros(2), "n": 50}, faults=frozenset({"divergent"})),
    Foreign("fourier_radix_two", (64,), (32,), {"src": floats(256), "dst": zeros(256), "p": 8}),
    Foreign("fourier_eight_points", (32,), (8,), {"work": floats(512)}),
)  # fmt: skip
