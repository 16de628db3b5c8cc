"""float32 products by tensor cores, as accurate as float32's own: three products of fp16, the operands split into two each.

config_split.py belongs to split_vectors.cl, which splits the operands. cost.py lies below config.py here: a configuration
refuses products that CUDA cores compute sooner.
"""
