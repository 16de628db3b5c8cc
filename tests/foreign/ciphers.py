"""Digests, ciphers, checks and searches: integers and bytes."""

import numpy as np

from .records import Foreign, integers, known, local, structures, uint, ulong, words, zeros

CHARACTERS = np.dtype([("key", "u4"), ("length", "u4"), ("letters", "u1", 16)])

KERNELS = (
    Foreign("message_digest", (64,), (32,),
            {"words": words(60 * 16), "digests": zeros(240, "uint32"), "salt": uint(0xCAFE), "count": uint(60)}),
    Foreign("secure_hash_schedule", (32,), (16,), {"message": words(32 * 16), "digest": zeros(256, "uint32")}),
    Foreign("substitution_table", (64,), (32,),
            {"input": words(256, "uint8"), "output": zeros(256, "uint8"), "sbox": words(256, "uint8"),
             "keys": words(40, "uint8"), "rounds": uint(10)}),
    Foreign("block_cipher_long", (32,), (16,),
            {"data": words(64, "uint64"), "key0": ulong(0x0123456789ABCDEF), "key1": ulong(0xFEDCBA9876543210), "rounds": 12}),
    Foreign("word_candidates", (64,), (32,),
            {"out": zeros(50 * 5, "uint32"),
             "tables": structures(4, CHARACTERS, key=integers(4, 0, 9, "uint32"), length=known([5, 3, 16, 2], "uint32"),
                                  letters=words(64, "uint8")), "offset": ulong(77), "places": uint(4), "total": ulong(50)}),
    Foreign("checksum_rows", (32,), (16,),
            {"rows": words(32 * 20, "uint8"), "checks": zeros(32, "uint32"), "bits": zeros(32, "uint16"), "length": 20}),
    Foreign("string_matches", (64,), (16,),
            {"text": integers(500, 97, 99, "uint8"), "textLength": uint(500), "pattern": known([97, 98, 97], "uint8"),
             "patternLength": uint(3), "counts": zeros(64, "uint32"), "localPattern": local(16, "uint8")}),
    Foreign("philox_numbers", (64,), (32,), {"words": zeros(256, "uint32"), "numbers": zeros(256), "seed": uint(42)}),
)  # fmt: skip
