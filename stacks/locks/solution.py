"""What follows from recipes, pins and locks: a variant's packages, its lock, a channel to publish.

Nothing is fetched or built to say what a published channel has: packages, index, sources of
copyleft parts, digests of all.
"""

import hashlib
import re
import sys
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stacks.channel import candidates
from stacks.channel.assemble import Candidate
from stacks.channel.build import obtain_packages
from stacks.channel.candidates import Channel, IndexEntry, index_files, with_settings
from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors, replace_atomically, write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import VERSION, Workspace
from stacks.locks import conda_lock, lock
from stacks.locks.lock import PYLOCK, Lock, lock_folder
from stacks.locks.texts import requirements_of, texts_of
from stacks.sources.conda_archive import read_archive
from stacks.sources.pins import DebPin, LockedPackage
from stacks.variants.variant import Variant

# The list of digests, in a published channel and beside the locks.
DIGESTS = "index.sha256"
SOURCES = "sources"


def solve(variant: Variant, channel: Channel) -> tuple[Candidate, ...]:
    """Return the packages of a variant; UsageError if there is no solution."""
    with_own = with_settings(channel, [variant])
    if variant.file:
        _check_packages(variant, variant.file, with_own)
    try:
        return candidates.solve(with_own, variant.conda_specs(), variant.framework.glibc)
    except UsageError as error:
        if not (variant.file and variant.declared["packages"]):
            raise
        fix = f"change `packages:` in {display_path(variant.file)}"
        raise UsageError(error.what, fix=fix) from error


def _check_packages(variant: Variant, file: Path, channel: Channel) -> None:
    """Raise UsageError for names under a stack's `packages:` that it cannot have."""
    known = {candidate.recipe.package.name for candidate in channel.candidates.values()}
    specs = {re.split("[ =<>!~]", spec)[0]: spec for spec in variant.declared["packages"]}
    names = list(specs)
    framework = variant.framework
    if others := [name for name in names if name in framework.others]:
        raise UsageError(
            f"{display_path(file)}: packages: {', '.join(others)} beside {framework.name}",
            expected="one framework",
            fix=f"change `framework:`, or leave out {', '.join(others)}",
        )
    if unknown := [name for name in names if name not in known]:
        raise UsageError(
            f"{display_path(file)}: packages: this project's channel has no {', '.join(unknown)}",
            fix="if pip installs it, write pip: "
            f"[{', '.join(_request(name, specs[name]) for name in unknown)}] instead",
        )


def _request(name: str, spec: str) -> str:
    """Return a conda match spec as pip takes it; without what pip does not, such as a build."""
    version = spec.removeprefix(name).strip()
    if not re.fullmatch(r"(([<>=!~]=|[<>])[\w.*]+,?)+", version):
        return name
    return f'"{name}{version}"' if "," in version else f"{name}{version}"


def locked_package(candidate: Candidate, path: Path) -> LockedPackage:
    """Return a package of the channel as a lock has it; path: its file, which is read once."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with explain_disk_errors(path), path.open("rb") as file:
        while block := file.read(1 << 20):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return LockedPackage(
        name=candidate.recipe.package.name,
        version=candidate.recipe.package.version,
        build=candidate.build_string,
        url=candidate.url,
        sha256=sha256.hexdigest(),
        md5=md5.hexdigest(),
        size=size,
        depends=candidate.recipe.requirements.run,
    )


def write(workspace: Workspace, variant: Variant, made: Lock, pylock: str = "") -> bool:
    """Write a variant's lock if it would change, and print what changed; return whether it did.

    A lock that has the same packages and specs stays as it is, with the version that made it.
    pylock: the text of pylock.toml, which is no part of the lock; empty for none.
    """
    folder = lock_folder(workspace, variant)
    try:
        before = lock.read(workspace, variant)
    except StacksError:
        before = None
    name = display_path(variant.file.with_suffix(".lock")) if variant.file else variant.id
    more = {PYLOCK: pylock} if pylock else {}
    if before and texts_of(variant, made, before.made_by) == _committed(workspace, variant):
        for file, text in more.items():
            write_atomically(folder / file, text)
        print(f"  {'unchanged':<9} {name}", file=sys.stderr)
        return False
    with replace_atomically(folder) as new:
        new.mkdir()
        for file, text in {**texts_of(variant, made, VERSION), **more}.items():
            (new / file).write_text(text, encoding="utf-8")
    print(f"  {'locked':<9} {name}", file=sys.stderr)
    if before:
        for line in _changes(before, made):
            print(f"            {line}", file=sys.stderr)
    return True


def _committed(workspace: Workspace, variant: Variant) -> dict[str, str]:
    folder = lock_folder(workspace, variant)
    return {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in (conda_lock.NAME, *lock.HASHED)
        if (folder / name).is_file()
    }


def _changes(before: Lock, made: Lock) -> list[str]:
    """Return a line for each package whose version or build changed."""
    old, new = (
        {file.name: (file.version, file.sha256) for file in each.files} for each in (before, made)
    )
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


def check(workspace: Workspace, variant: Variant, channel: Channel) -> Lock:
    """Return a variant's lock if it is what `./invoke lock` would write now.

    That is the project's own gate: a lock that is behind the recipes is still a lock. Nothing is
    built for it, and another channel's index is not read. Raises StaleError with the changes.
    """
    found = lock.current(workspace, variant)
    changes = []
    if not variant.channel:
        solved = {
            candidate.recipe.package.name: candidate.file_name
            for candidate in solve(variant, channel)
        }
        locked = {package.name: package.filename for package in found.packages}
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
    if not changes:
        expected = texts_of(variant, found, found.made_by)
        committed = _committed(workspace, variant)
        changes = [
            f"{name} differs"
            for name in expected
            if name != conda_lock.NAME and committed.get(name) != expected[name]
        ]
    if changes:
        raise lock.stale(variant, found, changes)
    return found


@dataclass(frozen=True)
class Publication:
    """A channel to publish.

    entries: its packages. left_out: packages of the locks that may not be republished. sources: the
    files of the source packages of copyleft parts.
    """

    entries: tuple[IndexEntry, ...]
    left_out: tuple[IndexEntry, ...]
    sources: tuple[DebPin, ...]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The index files, by their paths."""
        return index_files(self.entries)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each file, by path."""
        digests = {entry.path: entry.package.sha256 for entry in self.entries}
        digests |= {source_path(pin): pin.sha256 for pin in self.sources}
        digests |= {path: hashlib.sha256(data).hexdigest() for path, data in self.files.items()}
        return digests


def publication(
    workspace: Workspace,
    channel: Channel,
    variants: Iterable[Variant],
    include: Container[str] = (),
) -> Publication:
    """Return the channel to publish for the locks of the variants.

    include: names of packages that are published only on request. Raises StaleError for a stale
    lock.
    """
    locked = entries_of(workspace, channel, variants)
    entries = tuple(e for e in locked if e.recipe.may_republish(include))
    pins = {pin for each in entries for pin in each.recipe.published_sources(channel.pins)}
    left_out = tuple(entry for entry in locked if entry not in entries)
    return Publication(entries, left_out, tuple(sorted(pins, key=lambda pin: pin.filename)))


def source_path(pin: DebPin) -> str:
    """Return the path of a source file in a published channel."""
    return f"{SOURCES}/{pin.filename}"


def entries_of(
    workspace: Workspace, channel: Channel, variants: Iterable[Variant]
) -> tuple[IndexEntry, ...]:
    """Return the packages of the project's channel in the variants' locks, by file name.

    A package that the recipes do not give, of a lock that another version made, is obtained: only
    its archive has what an index needs. Raises StaleError if a lock is stale, UsageError if a
    variant is not locked.
    """
    entries = {}
    for variant in variants:
        if variant.channel:
            raise UsageError(
                f"{variant.id}: its packages are of another channel",
                expected="a variant with packages of this project's channel alone",
            )
        locked = lock.current(workspace, variant)
        candidates = with_settings(channel, [variant]).candidates
        for package in locked.packages:
            candidate = candidates.get(package.filename)
            if candidate:
                index = candidate.index
            else:
                made = obtain_packages(
                    workspace, channel, [package], made_by=locked.made_by, quiet=True
                )
                index = dict(read_archive(made[package.filename].path).index)
            entries[package.filename] = IndexEntry(package, index, candidate)
    return tuple(entries[name] for name in sorted(entries))


def packages_of(
    workspace: Workspace, channel: Channel, entries: Sequence[IndexEntry], *, quiet: bool = False
) -> dict[str, Path]:
    """Return the files of locked packages by their paths in a channel.

    What the cache lacks is fetched or built; unless quiet, a line says how many. Raises
    IntegrityError if a package is built with other bytes than the locked ones.
    """
    candidates = {
        entry.candidate.file_name: entry.candidate for entry in entries if entry.candidate
    }
    known = Channel({**channel.candidates, **candidates}, channel.pins)
    packages = [entry.package for entry in entries]
    built = obtain_packages(workspace, known, packages, quiet=quiet)
    return {entry.path: built[entry.package.filename].path for entry in entries}
