"""Locks of versions before the first release: they do not say what they were made for.

Their content hash covers that program's code, so it cannot be compared. What they install is fixed
by SHA-256 all the same; whether they belong to a stack.yaml is told from its specs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks.texts import FILES, REQUIREMENTS, requirements_of
from stacks.sources.pins import File, IndexPin, canonical, read_pins
from stacks.variants.variant import Variant

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def files(
    workspace: Workspace, variant: Variant, folder: Path, fix: str
) -> tuple[tuple[IndexPin, ...], tuple[IndexPin, ...]]:
    """Return the framework's files for pip, and those of a stack.yaml's own packages.

    The first are pinned in recipes/sources.lock; UsageError if it has others than the lock.
    """
    own: tuple[IndexPin, ...] = ()
    if variant.requests:
        path = folder / FILES
        try:
            own = tuple(IndexPin(**dict(File.model_validate(each))) for each in jsonfile.read(path))
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"{display_path(path)} does not contain the files of your packages",
                found=str(error),
                fix=fix,
            ) from error
    pinned = requirements_of(variant, read_pins(workspace.sources_lock))
    text = ""
    if pinned or own:
        try:
            text = (folder / REQUIREMENTS).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{display_path(folder / REQUIREMENTS)} cannot be read", found=str(error), fix=fix
            ) from error
    if _HASH.findall(text) != [pin.sha256 for pin in (*pinned, *own)]:
        raise UsageError(
            f"{display_path(folder)}: {REQUIREMENTS} has other files than this version pins",
            fix=fix,
        )
    return pinned, own


def differences(variant: Variant, asked: Sequence[str], own: Sequence[IndexPin]) -> list[str]:
    """Return what a variant's YAML asks for and an older lock was not made for, a line each."""
    return [*_specs(variant, asked), *_requests(variant, own)]


def _specs(variant: Variant, asked: Sequence[str]) -> Iterator[str]:
    # The settings' spec names framework, flavour and a stack's own settings.
    specs = variant.conda_specs()
    if variant.file:
        declared = variant.declared["packages"]
        specs = (*variant.channels_own_specs[-1:], *declared)
    for spec in specs:
        if spec not in asked:
            yield f"{spec} is new"


def _requests(variant: Variant, own: Sequence[IndexPin]) -> Iterator[str]:
    found = {canonical(pin.name): pin.version for pin in own}
    for request in map(Requirement, variant.requests):
        version = found.get(canonical(request.name))
        # Of another Python or machine, or a package that the framework has: nothing is locked.
        if version and not request.specifier.contains(version, prereleases=True):
            yield f"{request} is asked for, {version} is locked"
    names = {canonical(Requirement(request).name) for request in variant.requests}
    if own and not names & found.keys():
        yield "none of the packages under `pip:` is locked"
