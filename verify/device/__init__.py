"""The device of a gpuarray variant: checks and timings."""
