"""The tasks of ./invoke, a room each; the work is done elsewhere in stacks/."""
