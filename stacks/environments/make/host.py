"""The check that a machine can run an environment's packages."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable

from stacks.core.errors import UsageError


def check(needs: Iterable[str]) -> None:
    """Raise UsageError if the machine's CPU, system or C library cannot run packages.

    needs: the match specs of their dependencies.
    """
    machine = f"{platform.system()} on {platform.machine()}"
    if machine != "Linux on x86_64":
        raise UsageError(
            "environments run only on Linux on x86_64",
            found=machine,
            fix="use such a machine, a virtual machine or a container of that kind",
        )
    name, version = platform.libc_ver()
    floor = glibc_floor(needs)
    if name != "glibc" or _number(version) < _number(floor):
        raise UsageError(
            "the environment cannot run on this system's C library",
            expected=f"glibc {floor} or newer",
            found=f"{name} {version}".strip() or "another C library (musl?)",
            fix="use a newer system, or a container with one",
        )


def glibc_floor(needs: Iterable[str]) -> str:
    """Return the oldest glibc that satisfies match specs."""
    floors = [
        match.group(1) for spec in needs if (match := re.match(r"__glibc >=([\d.]+)(,|$)", spec))
    ]
    return max(floors, key=_number, default="0")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
