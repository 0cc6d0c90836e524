"""Checks and timings of the device of the variants gpuarray and gpuarray-cuda."""
