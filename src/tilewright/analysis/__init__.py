"""Why a kernel takes its time: what it does to memory (explain) and what a compiler made of it (inspect)."""
