"""Pinned files: what is pinned, where it is, and how it comes into the cache."""
