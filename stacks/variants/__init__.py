"""Variants: the files of envs/ and what they mean together."""
