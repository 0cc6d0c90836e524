"""The variants that can be timed: built from their current locks, and verified since."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import machine
from stacks.bench.result import Device, MeasuredPackage, Subject
from stacks.core.console import duration, show_error
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of, key_of, read_report, report_path
from stacks.environments.make import settings
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant


@dataclass(frozen=True)
class Candidate:
    """A built variant, its environment's folder, its lock, and its report if that is current."""

    variant: Variant
    place: Path
    lock: Lock
    report: dict[str, Any] | None

    @property
    def verified(self) -> bool:
        """Whether this environment passed its verification."""
        return bool(self.report and self.report["ok"])

    @property
    def device(self) -> Device | None:
        """The device that its verification opened."""
        device = (self.report or {}).get("device")
        return device and Device(name=device["name"], driver=device["driver"])

    @property
    def subject(self) -> Subject:
        """The variant in a result."""
        return Subject(
            framework=self.variant.framework.name,
            flavour=self.variant.name,
            baseline=self.variant.baseline,
            lock=self.lock.sha256,
            device=self.device,
            packages=packages_of(self.lock),
        )


def candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return the variants that are built from their current locks."""
    built = []
    for variant in variants:
        place = folder_of(workspace, variant)
        try:
            locked = lock.current(workspace, variant)
        except StacksError:
            continue
        if folders.is_ready(workspace, variant, key_of(workspace, variant, locked, place)):
            report = _report(workspace, variant, place, locked)
            built.append(Candidate(variant, place, locked, report))
    return built


def _report(
    workspace: Workspace, variant: Variant, place: Path, locked: Lock
) -> dict[str, Any] | None:
    """Return the last report if it is of this environment, with its packages, and of this machine.

    A folder may be shared by machines: the peak and the name would be another one's.
    """
    report = read_report(workspace, variant)
    if report is None or not machine.is_here(report):
        return None
    made = (place / settings.EXPECTATION).stat().st_mtime
    expected = {package.name: package.sha256 for package in packages_of(locked)}
    actual = {p["name"]: p["sha256"] for p in report.get("packages", ())}
    current = actual == expected and report_path(workspace, variant).stat().st_mtime >= made
    return report if current else None


def packages_of(locked: Lock) -> tuple[MeasuredPackage, ...]:
    """Return the packages of a lock as a result has them."""
    packages = [(p.name, p.version, p.sha256) for p in locked.packages]
    packages += [(p.name, p.version, p.sha256) for p in locked.requirements]
    return tuple(MeasuredPackage(name=n, version=v, sha256=digest) for n, v, digest in packages)


def verified_candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return the built and verified variants for the processor; print the names of unverified."""
    built = candidates(workspace, [variant for variant in variants if variant.device == "cpu"])
    for candidate in built:
        if not candidate.verified:
            print(f"left out: {candidate.variant.id}: not verified", file=sys.stderr)
    return [candidate for candidate in built if candidate.verified]


def prepare(
    workspace: Workspace,
    variants: Sequence[Variant],
    make: Callable[[Workspace, Variant], object],
    refused: type[StacksError] | tuple[type[StacksError], ...],
) -> list[Candidate]:
    """Build and verify variants where that is missing; return those that pass.

    make: locks, builds and verifies one. refused: its errors that leave a variant out, which is
    named with the reason; others are raised.
    """
    passed = {each.variant.id for each in candidates(workspace, variants) if each.verified}
    missing = [variant for variant in variants if variant.id not in passed]
    begun = time.monotonic()
    for number, variant in enumerate(missing):
        left = (time.monotonic() - begun) / max(number, 1) * (len(missing) - number)
        about = f", about {duration(left)} left" if number else ""
        line = f"building {variant.id}, {number + 1} of {len(missing)}{about}"
        print(line, file=sys.stderr, flush=True)
        try:
            make(workspace, variant)
        except refused as error:
            print(f"left out: {variant.id}", file=sys.stderr)
            show_error(error)
    return [each for each in candidates(workspace, variants) if each.verified]


def choose_candidates(
    workspace: Workspace, names: Sequence[str], framework: str
) -> list[Candidate]:
    """Return the variants to time: the named ones, by default all that are built and verified.

    names: NAME or FRAMEWORK/NAME. Raises UsageError if one cannot be timed.
    """
    if names:
        named = (load_variant(workspace, name, framework or None) for name in names)
        variants = {str(variant.file or variant.id): variant for variant in named}
        return require_candidates(workspace, list(variants.values()))
    verified = verified_candidates(workspace, on_framework(workspace, framework or None))
    if not verified:
        raise UsageError(
            "nothing to time: no variant is built and verified",
            fix="./invoke build --variant NAME for each that you want to time: see ./invoke list",
        )
    return verified


def require_candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return all of the variants as candidates; UsageError if one cannot be timed."""
    built = candidates(workspace, variants)
    # Two stacks in folders of one name have one id.
    known = {(candidate.variant.id, candidate.variant.file) for candidate in built}
    for reason, task, refused in (
        (
            "not built, or not from its current lock",
            "build",
            [variant for variant in variants if (variant.id, variant.file) not in known],
        ),
        (
            "not verified on this machine since it was built",
            "verify",
            [c.variant for c in built if c.report is None],
        ),
        (
            "its verification failed, so its figures would mean nothing",
            "verify",
            [c.variant for c in built if not c.verified],
        ),
        (
            "its device was not available when it was verified",
            "verify",
            [c.variant for c in built if c.variant.device != "cpu" and c.device is None],
        ),
    ):
        if refused:
            raise UsageError(
                "\n".join(f"{variant.id}: {reason}" for variant in refused),
                fix="; ".join(f"./invoke {task} {variant.option}" for variant in refused),
            )
    return built
