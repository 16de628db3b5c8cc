"""Layers of neural networks, in the manner of language models' back ends."""

import numpy as np

from .records import Foreign, as_bytes, filled, floats, integers, local, long, structures, ulong, words, zeros

FOUR_BITS = np.dtype([("d", "f2"), ("qs", "u1", 16)])
EIGHT_BITS = np.dtype([("d", "f4"), ("qs", "i1", 16)])

KERNELS = (
    Foreign("softmax_rows", (96,), (32,),
            {"src0": as_bytes(floats(153)), "offset0": ulong(12), "src1": as_bytes(floats(150)), "dst": zeros(150), "ne00": 50,
             "scale": 2.5,
             "buf": local(32)}),
    Foreign("rms_norm_rows", (64,), (16,),
            {"src": floats(204), "offset": ulong(16), "dst": zeros(204), "ne00": 48, "nb01": ulong(192), "eps": 1e-5,
             "sum": local(16)}),
    Foreign("rotary_embedding", (8, 3, 4), (8, 1, 1),
            {"src": floats(192), "positions": integers(4, 0, 30), "dst": zeros(192), "dims": 16, "heads": 3,
             "theta_base": 10000.0, "freq_scale": 0.5, "ext": 0.25}),
    Foreign("activations", (64,), (16,), {"x": floats(256, -4, 4), "y": zeros(256), "which": 1}),
    Foreign("matvec_four_bits", (48,), (8,),
            {"src0": structures(67, FOUR_BITS, d=floats(67, dtype="float16"), qs=words(67 * 16, "uint8")),
             "offset0": ulong(18), "src1": floats(352), "dst": zeros(6), "ne00": 352, "ne01": 6}),
    Foreign("matvec_eight_bits", (32,), (16,),
            {"a": structures(96, EIGHT_BITS, d=floats(96), qs=words(96 * 16, "int8")),
             "b": structures(3, EIGHT_BITS, d=floats(3), qs=words(48, "int8")), "out": zeros(32), "blocks": 3}),
    Foreign("flash_attention", (32,), (16,),
            {"q": floats(512), "k": floats(768), "v": floats(768), "o": zeros(512), "scale": 0.25, "n_kv": 48, "causal": 1}),
    Foreign("attention_missing_barrier", (64,), (32,), {"q": floats(64), "k": floats(96), "scores": zeros(64), "n": 96},
            faults=frozenset({"race"})),
    Foreign("image_to_columns", (64, 5, 3), (64, 1, 1),
            {"src1": floats(3 * 9 * 11), "dst": filled(27 * 30, -1.0), "batch_offset": long(0), "delta_offset": long(99),
             "IW": long(11), "IH": long(9), "IC": long(3), "OW": long(6), "OH": long(5), "KW": long(3), "KH": long(3),
             "pelements": long(54), "CHW": long(27), "s0": 2, "s1": 2, "p0": 1, "p1": 1, "d0": 1, "d1": 1}),
    Foreign("copy_to_half", (64, 3), (16, 1),
            {"src0": floats(300), "dst": zeros(240, "float16"), "ne00": 20, "ne01": 4, "nb00": ulong(4), "nb01": ulong(96),
             "nb02": ulong(400), "nb1": ulong(40)}),
    Foreign("argsort_rows", (32, 3), (32, 1),
            {"src0": floats(81), "dst": zeros(81, "int32"), "ne00": 27, "ne00_pad": 32, "order": 1, "dst_row": local(32)}),
    Foreign("pooling_with_borders", (64,), (32,),
            {"input": floats(2 * 9 * 11), "largest": zeros(60), "mean": zeros(60), "channels": 2, "height": 9, "width": 11,
             "out_height": 5, "out_width": 6, "stride": 2, "pad": 1}, {"POOL": 3}),
    Foreign("norm_by_sub_groups", (128,), (64,),
            {"src": integers(128, -99), "dst": zeros(128, "int32"), "sums": local(64)}, needs="sub-groups"),
    Foreign("scan_by_sub_groups", (128,), (64,), {"in": integers(128, 0, 100, "uint32"), "out": zeros(128, "uint32")},
            needs="sub-groups"),
)  # fmt: skip
