"""Variants: what a person declares in envs/."""
