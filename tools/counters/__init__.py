"""Compares what `tilewright explain` predicts with what an NVIDIA GPU's counters say, kernel by kernel, line by line.

python -m tools.counters build FOLDER     CUDA counterparts of all cases, compiled to cubins (needs nvcc and nvdisasm); with
                                          --stale of those that were edited since they were counted
python -m tools.counters run FOLDER       runs and checks them on a GPU; under ncu, counts them (needs CuPy)
python -m tools.counters read FOLDER      the counters in FOLDER/counters.ncu-rep as JSON (needs Nsight Compute)
python -m tools.counters compare FOLDER   predicts, compares, writes benchmarks/ and benchmarks/counters.md
python -m tools.counters page             writes benchmarks/counters.md anew: what was edited since is named there
"""
