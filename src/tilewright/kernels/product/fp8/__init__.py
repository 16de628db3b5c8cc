"""Products of 8-bit floats by kernels of other families: converted to fp16 first, scaled afterwards.

This family wraps others: it has no main_loop.cl, but convert.cl, and its search takes the families that it wraps.
"""
