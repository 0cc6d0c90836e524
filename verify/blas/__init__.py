"""BLAS: which library serves, whether it is right, and how fast it is."""
