"""Timing of variants in turn, and the stored results."""
