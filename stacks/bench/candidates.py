"""The variants that can be timed: built from their current locks, and verified since."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench import machine
from stacks.bench.result import Device, MeasuredPackage, Subject
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of, read_report, report_path
from stacks.environments.make import ready, settings
from stacks.environments.make.ready import key_of
from stacks.locks import lock
from stacks.locks.lock import Lock
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
        if ready.is_ready(workspace, variant, key_of(workspace, variant, locked, place)):
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


def require_candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return all of the variants as candidates; UsageError if one cannot be timed."""
    built = candidates(workspace, variants)
    # Two stacks in folders of one name have one id.
    known = {(candidate.variant.id, candidate.variant.file) for candidate in built}
    missing = [variant for variant in variants if (variant.id, variant.file) not in known]
    _refuse(missing, "not built, or not from its current lock", "build")
    not_verified = [c.variant for c in built if c.report is None]
    _refuse(not_verified, "not verified on this machine since it was built", "verify")
    failed = [c.variant for c in built if not c.verified]
    _refuse(failed, "its verification failed, so its figures would mean nothing", "verify")
    no_device = [c.variant for c in built if c.variant.device != "cpu" and c.device is None]
    _refuse(no_device, "its device was not available when it was verified", "verify")
    return built


def _refuse(variants: Sequence[Variant], reason: str, task: str) -> None:
    if variants:
        raise UsageError(
            "\n".join(f"{variant.id}: {reason}" for variant in variants),
            fix="; ".join(f"./invoke {task} {variant.option}" for variant in variants),
        )
