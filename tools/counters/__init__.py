"""Compares the predictions of `tilewright explain` with an NVIDIA GPU's counters, for each kernel and line.

python -m tools.counters build FOLDER     CUDA counterparts of all cases, compiled to cubins (needs nvcc and nvdisasm); with
                                          --stale only of those that were edited since they were counted
python -m tools.counters run FOLDER       runs and checks them on a GPU; under ncu, counts them (needs CuPy)
python -m tools.counters read FOLDER      the counters in FOLDER/counters.ncu-rep as JSON (needs Nsight Compute)
python -m tools.counters compare FOLDER   predicts, compares, writes benchmarks/ and benchmarks/counters.md
python -m tools.counters page             writes benchmarks/counters.md again, and names the kernels that were edited since
"""
