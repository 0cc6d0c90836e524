"""How many cores this process may use, as a verification reports it."""

from verify.core import machine


def affine() -> int:
    """Return the number of processors that this process may run on."""
    return int(machine.affine_cores())


def usable() -> int:
    """Return the number of cores to use: a container's limit bounds it, rounded up."""
    return int(machine.usable_cores())


def quota() -> float | None:
    """Return how many cores the container's limit allows, None without a limit."""
    limit: float | None = machine.quota_and_file()[0]
    return limit
