"""Building an environment from its lock, and locking a stack.yaml, which needs one."""

import errno
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path

from stacks.channel.assemble import Candidate
from stacks.channel.build import build_packages, obtain_packages
from stacks.channel.candidates import Channel, read_channel, with_settings
from stacks.core.console import display_path, plural, step
from stacks.core.disk import explain_disk_errors, tmp_folder
from stacks.core.errors import DiskError, StacksError, UsageError
from stacks.core.paths import is_writable
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of, report_path
from stacks.environments.make import packages, prefix, settings
from stacks.locks import lock, solution
from stacks.locks.lock import Lock, lock_folder
from stacks.locks.texts import requirements_of
from stacks.sources.mirrors import BUNDLES, check_access_files
from stacks.sources.pins import IndexPin, LockedPackage
from stacks.variants import stack
from stacks.variants.variant import Variant

# Lines that a repair prints: an environment has thousands of files.
MOST_LINES = 12


def read_lock(workspace: Workspace, variant: Variant) -> Lock:
    """Return a variant's lock, and print two lines; StaleError if it is not for this variant."""
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr, flush=True)
    with step("lock", "") as summaries:
        locked = lock.current(workspace, variant)
        more = f", {len(locked.requirements)} more by pip" if locked.requirements else ""
        summaries.append(f"{len(locked.packages)} packages{more}")
    return locked


def make_environment(
    workspace: Workspace,
    variant: Variant,
    target: Path | None = None,
    *,
    repair: bool = False,
    from_sources: bool = False,
    clean: bool = False,
) -> Path:
    """Return the folder of a variant's environment, made from its lock if it is not ready.

    target: the folder instead of the one below build/. repair: compare every file of an environment
    that is there, and put back what differs. from_sources: take no package from a place that has
    it ready. clean: make it again without what the user has added. Raises a StacksError if the
    lock is stale, a source is not available, bytes are not the pinned ones, or the disk is full or
    read-only.
    """
    # What installs reads a CA bundle, though it fetches nothing.
    check_access_files(*map(os.environ.get, BUNDLES))
    locked = read_lock(workspace, variant)
    is_own = target is None
    if target is None:
        if variant.file:
            stack.make_build_folder(variant.file)
        folders.protect_build(workspace, variant)
        target = folder_of(workspace, variant)
    settings.check_place(target)
    own = packages.user_packages(workspace, variant)
    key = folders.key_of(workspace, variant, locked, target)
    repair = repair and target.is_dir()
    as_it_is = not (repair or clean or from_sources)
    if as_it_is and folders.is_made(target, key, prefix.digests(own)):
        print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
        return target
    if not is_writable(target.parent):
        # Before the packages are built, which takes minutes.
        with explain_disk_errors(target.parent):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target.parent))
    to_install = packages.packages_to_install(workspace, variant, locked, from_sources=from_sources)
    making = prefix.Making(workspace, variant, locked, to_install, target, own)
    with step("repair" if repair else "install", display_path(target)):
        if repair:
            notes = lines_of_repair(prefix.repair(making), folders.replaced_folder(target))
        else:
            notes = prefix.make(making, clean=clean)
        if is_own and not repair:
            # It is of the environment that was there before.
            report_path(workspace, variant).unlink(missing_ok=True)
    for note in notes:
        print(f"           {note}", file=sys.stderr)
    return target


def lines_of_repair(faults: Mapping[str, str], aside: Path) -> list[str]:
    """Return what a repair changed, a line for each file; of many files the first ones.

    aside: the folder of the files that were replaced, if there were any.
    """
    lines = [
        f"{'moved away' if fault == 'extra' else 'put back'}: {name} ({fault})"
        for name, fault in sorted(faults.items())
    ]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"and {len(lines) - MOST_LINES + 1:,} more"]
    if set(faults.values()) - {"missing"}:
        lines.append(f"the replaced files are in {display_path(aside)}")
    return lines or ["nothing differed"]


def relock(
    workspace: Workspace,
    variant: Variant,
    *,
    with_sdists: bool = True,
    upgrade: bool = False,
    keep_flavour: bool = True,
) -> None:
    """Write the lock of a stack.yaml beside it.

    with_sdists: source archives are allowed where there is no wheel. upgrade: all packages move to
    the newest versions. Without it those of the present lock stay: the flavour's, unless the stack
    asks for other conda packages or settings; its own where they fit (not on Python 2.7, whose
    packages have no new versions). keep_flavour: False also moves the flavour's packages. Raises
    UsageError if its packages do not fit the framework, or one has no wheel and needs one.
    """
    assert variant.file
    before = None if upgrade else _before(workspace, variant)
    channel = with_settings(read_channel(workspace), [variant])
    if keep_flavour and before and {*before.asked} == {*variant.conda_specs()}:
        packages, files = before.packages, before.framework_files
        obtain_packages(workspace, channel, packages, made_by=before.made_by, quiet=True)
    else:
        candidates = solution.solve(variant, channel)
        packages = tuple(_locked(workspace, variant, channel, candidates))
        files = requirements_of(variant, channel.pins)
    base = Lock(packages, files)
    preferred = before.user_files if before else ()
    own, pylock = (
        _choose(workspace, variant, channel, base, preferred) if variant.requests else ((), "")
    )
    sdists = [pin for pin in own if not pin.filename.endswith(".whl")]
    if sdists and not with_sdists:
        raise UsageError(
            f"{display_path(variant.file)}: {_names(sdists)} only as a source archive",
            fix="ask for a version with a wheel, or leave out --no-sdist",
        )
    solution.write(workspace, variant, replace(base, user_files=own), pylock)
    if sdists:
        print(
            f"note: the index has {_names(sdists)} only as a source archive: the lock fixes that; "
            "`build` compiles it here, once",
            file=sys.stderr,
        )
    if own:
        print(f"your packages, with what they need: {len(own)}", file=sys.stderr)


def _before(workspace: Workspace, variant: Variant) -> Lock | None:
    """Return the present lock; None, with a note if there is one that cannot be read."""
    if not lock_folder(workspace, variant).exists():
        return None
    try:
        return lock.read(workspace, variant)
    except StacksError as error:
        print(f"note: {error.what}; all versions are chosen anew", file=sys.stderr)
        return None


def _locked(
    workspace: Workspace, variant: Variant, channel: Channel, candidates: Sequence[Candidate]
) -> list[LockedPackage]:
    """Return the packages of a solution as a lock has them.

    Their bytes are those in the committed locks; what no lock names is built. A name in the stack's
    present lock has its bytes: they are compared when they are made.
    """
    folder = lock_folder(workspace, variant)
    known = {**lock.packages_in(folder), **lock.known_packages(workspace)}
    unknown = [candidate for candidate in candidates if candidate.file_name not in known]
    built = build_packages(workspace, channel, unknown)
    return [
        known[candidate.file_name]
        if candidate.file_name in known
        else solution.locked_package(candidate, built[candidate.file_name].path)
        for candidate in candidates
    ]


def _choose(
    workspace: Workspace,
    variant: Variant,
    channel: Channel,
    base: Lock,
    preferred: Sequence[IndexPin],
) -> tuple[tuple[IndexPin, ...], str]:
    """Return the files of a stack's own packages, and the text of pylock.toml, empty for none.

    They are chosen against an environment that has all else, which is the base. preferred: their
    versions stay where they fit.
    """
    # Loaded here: it imports an HTTP library, and a build does not need it.
    from stacks.locks import requirements

    with tmp_folder() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            raise DiskError(
                f"{folder.parent}: no program may run there (noexec)",
                fix="set TMPDIR to another folder",
            )
        without = variant.model_copy(update={"file": folder / "base.yaml", "requests": ()})
        # Lines that would name a folder that is gone a moment later.
        with redirect_stderr(io.StringIO()):
            solution.write(workspace, without, base)
        # With its lines: for the first stack on a framework it takes minutes.
        packages.packages_to_install(workspace, without, lock.current(workspace, without))
        with step("resolve", plural(len(variant.requests), "request")):
            with redirect_stderr(io.StringIO()):
                python = make_environment(workspace, without) / "bin/python"
            return requirements.resolve(workspace, variant, python, channel.pins, preferred)


def _names(pins: Sequence[IndexPin]) -> str:
    return ", ".join(f"{pin.name} {pin.version}" for pin in pins)
