"""The variants that can be timed: built from their current locks, and verified since."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench.result import Device, MeasuredPackage, Subject, is_here
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
            packages=tuple(
                MeasuredPackage(name=file.name, version=file.version, sha256=file.sha256)
                for file in self.lock.files
            ),
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
    if report is None or not is_here(report):
        return None
    made = (place / settings.EXPECTATION).stat().st_mtime
    actual = {(each["name"], each["sha256"]) for each in report.get("packages", ())}
    current = actual == {*locked.digests}
    current = current and report_path(workspace, variant).stat().st_mtime >= made
    return report if current else None


def verified_candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return the built and verified variants for the processor; print the names of unverified."""
    built = candidates(workspace, [variant for variant in variants if variant.device == "cpu"])
    for candidate in built:
        if not candidate.verified:
            print(f"left out: {candidate.variant.id}: not verified", file=sys.stderr)
    return [candidate for candidate in built if candidate.verified]


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
    found = verified_candidates(workspace, on_framework(workspace, framework or None))
    if not found:
        raise UsageError(
            "nothing to time: no variant is built and verified",
            fix="./invoke build --variant NAME for each that you want to time: see ./invoke list",
        )
    return found


def require_candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return all of the variants as candidates; UsageError if one cannot be timed."""
    # Two stacks in folders of one name have one id.
    built = {(c.variant.id, c.variant.file): c for c in candidates(workspace, variants)}
    found = [(each, built.get((each.id, each.file))) for each in variants]
    refused = [(variant, why) for variant, one in found if (why := _refusal(one))]
    if refused:
        raise UsageError(
            "\n".join(f"{variant.id}: {reason}" for variant, (_, reason) in refused),
            fix="; ".join(f"./invoke {task} {variant.option}" for variant, (task, _) in refused),
        )
    return [one for _, one in found if one]


def _refusal(candidate: Candidate | None) -> tuple[str, str] | None:
    """Return the task that is missing before a variant can be timed, and why; None if it can be."""
    if candidate is None:
        return "build", "not built, or not from its current lock"
    if candidate.report is None:
        return "verify", "not verified on this machine since it was built"
    if not candidate.verified:
        return "verify", "its verification failed, so its figures would mean nothing"
    if candidate.variant.device != "cpu" and candidate.device is None:
        return "verify", "its device was not available when it was verified"
    return None
