"""Checks of the environment as a whole: versions, settings, scan, compilation."""
