"""What the machine must be for the packages to run on it."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable

from stacks.channel import Offer
from stacks.errors import UsageError


def check(offers: Iterable[Offer]) -> None:
    """Raise UsageError where the machine cannot run the packages: CPU, system, or C library."""
    found = f"{platform.system()} on {platform.machine()}"
    if found != "Linux on x86_64":
        raise UsageError(
            "the environments are made for Linux on x86_64",
            found=found,
            mend="use such a machine, a virtual machine or a container of that kind",
        )
    name, version = platform.libc_ver()
    floor = glibc_floor(offers)
    if name != "glibc" or _number(version) < _number(floor):
        raise UsageError(
            "the environment's programs cannot run on this system's C library",
            expected=f"glibc {floor} or newer",
            found=f"{name} {version}".strip() or "another C library (musl?)",
            mend="use a newer system, or a container with one",
        )


def glibc_floor(offers: Iterable[Offer]) -> str:
    """Return the oldest glibc on which all of the packages run, from their own requirements."""
    floors = [
        match.group(1)
        for offer in offers
        for spec in offer.recipe.requirements.run
        if (match := re.fullmatch(r"__glibc >=([\d.]+)", spec))
    ]
    return max(floors, key=_number, default="0")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
