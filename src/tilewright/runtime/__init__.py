"""How a plan reaches a device: driver discovery, program cache, and one file per runtime."""
