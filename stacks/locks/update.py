"""Writing and checking the locks of this project's channel."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.channel.build import build_packages, check_bytes
from stacks.channel.locked_package import Digests, LockedPackage
from stacks.channel.offers import Channel, read_channel
from stacks.channel.package import Built
from stacks.core import jsonfile
from stacks.core.console import plural, step
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError, StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock, lock, publication, solution
from stacks.locks.publication import Publication
from stacks.locks.texts import SIZES
from stacks.variants import stack
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import Variant


def relock(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Solve the variants, build the packages that are missing, and write the locks that change.

    Raises IntegrityError, and writes nothing, if a package has other bytes than a present lock
    has under its name.
    """
    channel = read_channel(workspace)
    with step("solve", plural(len(variants), "variant")):
        solutions = [solution.solve(variant, channel) for variant in variants]
    offers = {offer.file_name: offer for offers in solutions for offer in offers}
    built = build_packages(workspace, channel, offers.values())
    check_unchanged(known_packages(workspace), built)
    digests = {name: digests_of(package.path) for name, package in built.items()}
    for variant, found in zip(variants, solutions, strict=True):
        contents = solution.contents_of(variant, channel, found, digests)
        solution.write(workspace, variant, contents)
    try:
        publication.write_digests(workspace, _publication(workspace, channel))
    except (StaleError, UsageError):
        names = f"{publication.DIGESTS} is not written: other locks are stale"
        print(f"note: {names}; `./invoke lock` makes all", file=sys.stderr)


def examples(workspace: Workspace) -> tuple[Variant, ...]:
    """Return the stacks of the checkout's examples."""
    files = sorted((workspace.root / "examples").glob(f"*/{stack.NAME}"))
    return tuple(load_variant(workspace, str(file)) for file in files)


def check_locks(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Raise StaleError with every variant whose committed lock is not what `lock` writes now.

    The lock of a person's stack is checked against its stack.yaml alone: newer recipes are no fault
    of it.
    """
    channel = read_channel(workspace)
    stale = []
    for variant in variants:
        try:
            if variant.file and not variant.file.is_relative_to(workspace.root / "examples"):
                lock.current(workspace, variant)
            else:
                solution.check(workspace, variant, channel)
            print(f"  {'current':<9}{variant.id}", file=sys.stderr)
        except StaleError as error:
            stale.append(error)
    ours = any(not variant.file for variant in variants)
    if (
        ours
        and not stale
        and not publication.are_current(workspace, _publication(workspace, channel))
    ):
        stale.append(StaleError(f"{publication.DIGESTS} is stale", fix="./invoke lock"))
    if stale:
        raise StaleError("\n".join(error.what for error in stale), fix=stale[0].fix)


def _publication(workspace: Workspace, channel: Channel) -> Publication:
    return publication.publication(workspace, channel, all_variants(workspace))


def digests_of(path: Path) -> Digests:
    """Return the digests and the size of a file, which is read once."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with explain_disk_errors(path), path.open("rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return Digests(sha256.hexdigest(), md5.hexdigest(), size)


def known_packages(workspace: Workspace) -> dict[str, LockedPackage]:
    """Return the packages of the committed locks by file name.

    Locks of other channels are not read, and those that cannot be read are left out.
    """
    known: dict[str, LockedPackage] = {}
    for path in sorted(workspace.locks.glob(f"*/*/{conda_lock.NAME}")):
        if "@" not in path.parent.name:
            known |= packages_in(path.parent)
    return known


def packages_in(folder: Path) -> dict[str, LockedPackage]:
    """Return the packages of the lock in a folder by file name; none if it cannot be read."""
    try:
        sizes = jsonfile.read(folder / SIZES)
        content = conda_lock.read(folder / conda_lock.NAME, sizes, "")
    except (StacksError, OSError, ValueError, TypeError):
        return {}
    return {package.file_name: package for package in content.packages}


def check_unchanged(known: Mapping[str, LockedPackage], built: Mapping[str, Built]) -> None:
    """Raise IntegrityError if a package was built with other bytes than a lock has under its name.

    known: the packages of locks by file name.
    """
    check_bytes((known[name] for name in built if name in known), built)
