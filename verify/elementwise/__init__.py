"""Elementwise functions: which libm serves them, and how fast they are."""
