"""What a kernel does and why it takes its time, told without running it on a device: explain and inspect."""
