"""Products on CPU devices: packed panels, register tiles, matrix times vector.

The main loop is 06_production.cl, because it is the last rung of the ladder `cpu`, too. config_gemv.py belongs to gemv.cl.
cost.py lies below config.py here: the blocks of a configuration are those that the cost model likes best.
"""
