"""float32 products by tensor cores, as accurate as float32's own: the operands are cut into halves, three products summed."""
