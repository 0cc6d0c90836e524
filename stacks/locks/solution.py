"""The packages that the recipes give a variant now, and the lock written from them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from stacks.channel import offers
from stacks.channel.locked_package import Digests, LockedPackage
from stacks.channel.offers import Channel, Offer, with_settings
from stacks.core.console import display_path
from stacks.core.disk import replace_atomically, write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import VERSION, Workspace
from stacks.locks import conda_lock, lock
from stacks.locks.lock import Lock, lock_folder
from stacks.locks.texts import Contents, requirements_of, texts_of
from stacks.sources.pins import IndexPin
from stacks.variants.variant import Variant


def solve(variant: Variant, channel: Channel) -> tuple[Offer, ...]:
    """Return the packages of a variant; UsageError if there is no solution."""
    with_own = with_settings(channel, [variant])
    if variant.file:
        _check_packages(variant, variant.file, with_own)
    try:
        return offers.solve(with_own, variant.conda_specs(), variant.framework.glibc)
    except UsageError as error:
        if not (variant.file and variant.declared["packages"]):
            raise
        fix = f"change `packages:` in {display_path(variant.file)}"
        raise UsageError(error.what, fix=fix) from error


def _check_packages(variant: Variant, file: Path, channel: Channel) -> None:
    """Raise UsageError for names under a stack's `packages:` that the channel does not have."""
    known = {offer.recipe.package.name for offer in channel.offers.values()}
    names = [re.split("[ =<>!~]", spec)[0] for spec in variant.declared["packages"]]
    if unknown := [name for name in names if name not in known]:
        raise UsageError(
            f"{display_path(file)}: packages: this project's channel has no {', '.join(unknown)}",
            fix=f"if pip installs it, write pip: [{', '.join(unknown)}] instead",
        )


def locked_package(offer: Offer, digests: Digests) -> LockedPackage:
    """Return a package of the channel as a lock has it."""
    return LockedPackage(
        name=offer.recipe.package.name,
        version=offer.recipe.package.version,
        build=offer.build_string,
        url=offer.url,
        sha256=digests.sha256,
        md5=digests.md5,
        size=digests.size,
        depends=offer.recipe.requirements.run,
    )


def write(workspace: Workspace, variant: Variant, contents: Contents) -> bool:
    """Write a variant's lock if it would change, and print what changed; return whether it did.

    A lock that has the same packages and specs stays as it is, with the version that made it.
    """
    folder = lock_folder(workspace, variant)
    try:
        before = lock.read(workspace, variant)
    except StacksError:
        before = None
    name = display_path(variant.file.with_suffix(".lock")) if variant.file else variant.id
    made_by = before.made_by if before else VERSION
    if before and texts_of(variant, contents, made_by) == _committed(workspace, variant):
        for more, text in contents.more.items():
            write_atomically(folder / more, text)
        print(f"  {'unchanged':<9} {name}", file=sys.stderr)
        return False
    with replace_atomically(folder) as new:
        new.mkdir()
        for file, text in {**texts_of(variant, contents, VERSION), **contents.more}.items():
            (new / file).write_text(text, encoding="utf-8")
    print(f"  {'locked':<9} {name}", file=sys.stderr)
    if before:
        for line in _changes(before, contents):
            print(f"            {line}", file=sys.stderr)
    return True


def _committed(workspace: Workspace, variant: Variant) -> dict[str, str]:
    folder = lock_folder(workspace, variant)
    return {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in (conda_lock.NAME, *lock.SEALED)
        if (folder / name).is_file()
    }


def _changes(before: Lock, contents: Contents) -> list[str]:
    """Return a line for each package whose version or build changed."""
    old = _versions(before.packages, before.requirements)
    new = _versions(contents.packages, (*contents.requirements, *contents.own))
    lines = []
    for name in sorted(old.keys() | new.keys()):
        (was, digest), (now, other) = old.get(name, ("", "")), new.get(name, ("", ""))
        if not was or not now:
            lines.append(f"{name} {was or now}: {'added' if now else 'removed'}")
        elif was != now:
            lines.append(f"{name} {was} -> {now}")
        elif digest != other:
            lines.append(f"{name} {now}: another build")
    return lines


def _versions(
    packages: Iterable[LockedPackage], files: Iterable[IndexPin]
) -> dict[str, tuple[str, str]]:
    """Return version and SHA-256 by name."""
    found = {package.name: (package.version, package.sha256) for package in packages}
    return found | {pin.name: (pin.version, pin.sha256) for pin in files}


def check(workspace: Workspace, variant: Variant, channel: Channel) -> Lock:
    """Return a variant's lock if it is what `./invoke lock` would write now.

    That is the project's own gate: a lock that is behind the recipes is still a lock. Nothing is
    built for it, and another channel's index is not read. Raises StaleError with the changes.
    """
    found = lock.current(workspace, variant)
    changes = []
    if not variant.channel:
        solved = {offer.recipe.package.name: offer.file_name for offer in solve(variant, channel)}
        locked = {package.name: package.file_name for package in found.packages}
        changes = [
            f"{name}: locked is {locked.get(name, 'nothing')}, "
            f"the recipes give {solved.get(name, 'nothing')}"
            for name in sorted({*locked, *solved})
            if locked.get(name) != solved.get(name)
        ]
    pinned = requirements_of(variant, channel.pins)
    changes += [
        f"{pin.filename} is pinned, and not locked"
        for pin in pinned
        if pin not in found.framework_files
    ]
    contents = Contents(found.packages, found.framework_files, found.own_files, found.channel)
    if not changes:
        expected = texts_of(variant, contents, found.made_by)
        committed = _committed(workspace, variant)
        changes = [
            f"{name} differs"
            for name in expected
            if name != conda_lock.NAME and committed.get(name) != expected[name]
        ]
    if changes:
        raise lock.stale(variant, found, changes)
    return found
