"""What everything else is made of: types, device facts, problems, kernels, plans, records. Nothing here opens a device."""
