"""Timing variants beside each other, and keeping what was found."""
