"""Particles, graphs, clusters, finance and random numbers."""

import numpy as np

from .records import Foreign, Maker, filled, floats, integers, known, local, structures, uint, words, zeros

NEIGHBOUR = np.dtype([("x", "i4"), ("y", "i4"), ("z", "i4"), ("number", "i4"), ("offset", "i8")], align=True)
BOX = np.dtype([*((name, NEIGHBOUR[name]) for name in ("x", "y", "z", "number", "offset")), ("nn", "i4"),
                ("nei", NEIGHBOUR, 4)], align=True)  # fmt: skip
TWISTER = np.dtype([("matrix_a", "u4"), ("mask_b", "u4"), ("mask_c", "u4"), ("seed", "u4")])


def boxes(random: np.random.Generator) -> np.ndarray:
    """Four boxes of 16 particles, each with up to three neighbours."""
    array = np.zeros(4, BOX)
    for box in range(4):
        array[box]["offset"] = 16 * box
        array[box]["nn"] = box
        array[box]["nei"]["number"] = (box + 1 + np.arange(4)) % 4
    return array


def graph(random: np.random.Generator) -> np.ndarray:
    """Nodes with up to four of 300 edges."""
    counts = random.integers(0, 5, 70)
    return np.stack([np.cumsum(counts) - counts, counts], axis=1).astype("int32").reshape(-1)


def front(random: np.random.Generator) -> np.ndarray:
    """Every seventh node is in front of the search."""
    return np.asarray(np.arange(70) % 7 == 0, "int8")


def spread(count: int) -> Maker:
    """Places in space of which no two are close."""

    def make(random: np.random.Generator) -> np.ndarray:
        places = np.stack(np.unravel_index(np.arange(count), (4, 4, 4)), axis=1) + random.uniform(-0.2, 0.2, (count, 3))
        return np.concatenate([places, np.ones((count, 1))], axis=1).astype("float32").reshape(-1)

    return make


def gas(cells: int) -> Maker:
    """Density, three momenta and an energy above that of the motion."""

    def make(random: np.random.Generator) -> np.ndarray:
        values = random.uniform(0.5, 1.0, (5, cells))
        values[4] += 4.0
        return values.astype("float32").reshape(-1)

    return make


KERNELS = (
    Foreign("nbody_tiles", (64,), (32,),
            {"pos": floats(256), "vel": floats(256), "numBodies": 64, "deltaTime": 0.01, "epsSqr": 0.05,
             "localPos": local(128), "newPosition": zeros(256), "newVelocity": zeros(256)}),
    Foreign("boxes_of_particles", (64,), (16,),
            {"d_par_gpu": np.array([(0.5,)], [("alpha", "f4")]), "boxes": 4, "d_box": boxes, "d_rv": floats(256, 0.1, 1.0),
             "d_qv": floats(64), "d_fv": zeros(256)}),
    Foreign("lennard_jones_neighbours", (64,), (32,),
            {"force": zeros(256), "position": spread(64), "neighCount": 6,
             "neighList": lambda random: ((np.arange(64) + 1 + np.arange(6)[:, None] * 7) % 64).astype("int32").reshape(-1),
             "cutsq": 9.0, "lj1": 1.5, "lj2": 2.0, "inum": 64}),
    Foreign("magnetic_resonance_sums", (64,), (32,),
            {"numK": 20, "kGlobalIndex": 3, "x": floats(64), "y": floats(64), "z": floats(64), "Qr": floats(64),
             "Qi": floats(64), "ck": floats(80)}),
    Foreign("breadth_first_level", (96,), (32,),
            {"g_graph_nodes": graph, "g_graph_edges": integers(300, 0, 70), "g_graph_mask": front,
             "g_updating_mask": zeros(70, "int8"), "g_graph_visited": front, "g_cost": zeros(70, "int32"), "no_of_nodes": 70}),
    Foreign("kmeans_assign", (128,), (32,),
            {"feature": floats(600), "clusters": floats(42), "membership": zeros(100, "int32"), "npoints": 100, "nclusters": 7,
             "nfeatures": 6, "offset": 0, "size": 0}),
    Foreign("nearest_places", (64,), (16,),
            {"d_locations": floats(120, -90, 90), "d_distances": zeros(60), "numRecords": 60, "lat": 30.5, "lng": -7.25}),
    Foreign("back_propagation_layer", (16, 32), (16, 16),
            {"input_cuda": floats(33), "input_hidden_cuda": floats(17 * 34), "hidden_partial_sum": zeros(32),
             "input_node": local(16), "weight_matrix": local(256), "in": 32, "hid": 16}),
    Foreign("euler_flux", (64,), (32,),
            {"nelr": 50, "neighbours": integers(200, -1, 50), "normals": floats(600), "variables": gas(50),
             "fluxes": zeros(250)}),
    Foreign("black_scholes", (128,), (64,),
            {"d_Call": zeros(300), "d_Put": zeros(300), "d_S": floats(300, 5, 30), "d_X": floats(300, 1, 100),
             "d_T": floats(300, 0.25, 10), "R": 0.02, "V": 0.3, "optN": uint(300)}),
    Foreign("binomial_options", (96,), (32,),
            {"numSteps": 31, "randArray": floats(12, 0, 1), "output": zeros(12), "callA": local(4 * 32), "callB": local(4 * 32)}),
    Foreign("mersenne_numbers", (32,), (16,),
            {"d_Rand": zeros(960), "d_MT": structures(32, TWISTER, matrix_a=words(32), mask_b=words(32), mask_c=words(32),
                                                      seed=words(32)), "nPerRng": 30}),
    Foreign("quasi_random_numbers", (32, 3), (16, 1),
            {"d_Output": zeros(300), "c_Table": words(93), "seed": uint(5), "N": uint(100)}),
    Foreign("monte_carlo_paths", (64,), (32,),
            {"sums": zeros(128), "seed": uint(1234), "drift": 0.001, "spread": 0.02, "steps": 16}),
    Foreign("mandelbrot_vectors", (64,), (16,),
            {"counts": zeros(256, "int32"), "x0": -2.0, "y0": -1.25, "scale": 0.15625, "maxIterations": uint(20), "width": 16}),
    Foreign("julia_shading", (32, 16), (16, 4),
            {"image": filled(30 * 15 * 4, 2.0), "width": 30, "height": 15, "light": known((1, 2, -3, 0), "float32")}),
)  # fmt: skip
