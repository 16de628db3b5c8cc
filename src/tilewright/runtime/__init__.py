"""How plans run on devices: drivers found, devices opened, programs built and cached, launches timed and verified."""
