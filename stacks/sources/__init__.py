"""Pinned files: the pins, the mirrors, and the downloads into the cache."""
