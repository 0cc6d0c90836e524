"""The matrix on many machines, by dask.distributed."""
