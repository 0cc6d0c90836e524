"""Elementwise functions: which library they call, and how fast they are."""
