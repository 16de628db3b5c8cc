"""`why`: one answer to why a kernel is slow or wrong, made of what the kernel's run, counts, machine code and peaks show."""
