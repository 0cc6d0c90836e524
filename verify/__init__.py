"""The verification suite: runs inside an environment, on the standard library and its framework."""
