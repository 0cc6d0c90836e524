"""Make an environment: from a lock to a folder, and the lock of a stack.yaml."""
