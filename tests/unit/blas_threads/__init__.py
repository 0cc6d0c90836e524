"""Tests of recipes/blas-threads."""
