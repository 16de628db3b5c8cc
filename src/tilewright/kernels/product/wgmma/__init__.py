"""Matrix products on Hopper's tensor cores: tiles loaded by TMA, multiplied by wgmma, the instruction of a warpgroup.

maps.py says how TMA sees the operands.
"""
