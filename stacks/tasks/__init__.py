"""The tasks of ./invoke. Each calls one of the packages below, which do the work."""
