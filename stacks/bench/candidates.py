"""Which variants may be timed: built from their present locks, and verified since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.bench.result import MeasuredPackage, Subject
from stacks.channel import offers as offers_module
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import in_use, prefix, settings
from stacks.environments.reports import read_report, report_path
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant


@dataclass(frozen=True)
class Candidate:
    """A variant whose environment stands, its lock, and its report where that still counts."""

    variant: Variant
    place: Path
    lock: Lock
    report: dict[str, Any] | None

    @property
    def verified(self) -> bool:
        """Whether this very environment passed its verification."""
        return bool(self.report and self.report["ok"])

    @property
    def subject(self) -> Subject:
        """The variant as results have it."""
        return Subject(
            framework=self.variant.framework.name,
            flavour=self.variant.name,
            baseline=self.variant.baseline,
            lock=self.lock.sha256,
            packages=_packages(self.lock),
        )


def candidates(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return the variants that are built from their present locks."""
    channel = offers_module.read_channel(workspace)
    found = []
    for variant in variants:
        place = prefix.place_of(workspace, variant)
        try:
            locked = lock.check(workspace, variant, channel)
        except StacksError:
            continue
        if in_use.is_ready(workspace, variant, locked):
            found.append(
                Candidate(variant, place, locked, _report(workspace, variant, place, locked))
            )
    return found


def _report(
    workspace: Workspace, variant: Variant, place: Path, locked: Lock
) -> dict[str, Any] | None:
    """Return the last report if it is of this environment: of its packages, and no older."""
    report = read_report(workspace, variant)
    if report is None:
        return None
    made = (place / settings.EXPECTATION).stat().st_mtime
    wanted = {package.name: package.sha256 for package in _packages(locked)}
    found = {p["name"]: p["sha256"] for p in report.get("packages", ())}
    return (
        report
        if found == wanted and report_path(workspace, variant).stat().st_mtime >= made
        else None
    )


def _packages(locked: Lock) -> tuple[MeasuredPackage, ...]:
    parts = [(p.name, p.version, p.sha256) for p in locked.packages]
    parts += [(p.name, p.version, p.sha256) for p in locked.requirements]
    return tuple(MeasuredPackage(name=name, version=v, sha256=digest) for name, v, digest in parts)


def to_time(workspace: Workspace, variants: Sequence[Variant]) -> list[Candidate]:
    """Return all of the variants as candidates; UsageError for what may not be timed."""
    refuse_devices(variants)
    found = candidates(workspace, variants)
    built = {candidate.variant.id for candidate in found}
    _refuse(
        [variant for variant in variants if variant.id not in built],
        "not built from its present lock",
        "build",
    )
    _refuse(
        [c.variant for c in found if c.report is None], "not verified since it was built", "verify"
    )
    failed = [c.variant for c in found if not c.verified]
    _refuse(failed, "its verification failed: its figures would be of something else", "verify")
    return found


def refuse_devices(variants: Sequence[Variant]) -> None:
    """Raise UsageError for variants that compute on a device."""
    _refuse(
        [variant for variant in variants if variant.device != "cpu"],
        "its device computes while the program goes on, which this bench does not wait for; its "
        "verification times it",
        "verify",
    )


def _refuse(variants: Sequence[Variant], why: str, task: str) -> None:
    if variants:
        raise UsageError(
            "\n".join(f"{variant.id}: {why}" for variant in variants),
            fix="; ".join(
                f"./invoke {task} --variant {v.name} --framework {v.framework.name}"
                for v in variants
            ),
        )
