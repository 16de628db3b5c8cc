"""Matrix products: what all families of kernels share, and a folder for each family.

A family's folder has the same files everywhere: config.py (geometry, macros, what speaks against a configuration), cost.py
(an estimate in clock cycles), kernels.py (Kernels and their launches), search.py (which configurations are tried) and
main_loop.cl. A second kernel of a family has its configuration in config_NAME.py. A folder's docstring says where one of
these is missing or has another name.
"""
