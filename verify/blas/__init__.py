"""BLAS: which library is called, whether its results are right, and how fast it is."""
