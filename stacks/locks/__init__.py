"""Locks: what a variant consists of, to the byte."""
