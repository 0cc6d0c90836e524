"""Environments: made from locks, run, verified, listed, removed."""
