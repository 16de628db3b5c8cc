"""What everything else is made of: types, devices' facts, problems, kernels, plans, records. Nothing here opens a device."""
