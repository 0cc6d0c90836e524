"""Where environments and reports are, whether one is ready, and locks against their removal.

An environment has a key, the hash of all that it is made from. An edit of this program changes no
key: what it writes differently has a higher REVISION. A process locks what it uses of build/ and
the cache, so that `./invoke clean` does not remove it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacks.core import records
from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import StacksError, UsageError
from stacks.core.locking import acquire, holders
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

if TYPE_CHECKING:
    from stacks.channel.assemble import Candidate

# The file of an environment that says that it is ready, and has the hash of what it is made from.
READY = "etc/theano-stacks/ready.json"
# Raised when an environment gets other settings, records or scripts than before, or when packages
# are installed in another way: then what was built before is built again.
REVISION = 1
# The cache's folders with the compiled modules that environments share, and those that their
# verifications share.
MODULES, VERIFIED = "modules", "verified"
# Seconds that a task waits for a removal: far more than that of the largest cache takes.
LIMIT = 600.0

_held: dict[Path, int] = {}


def folder_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's environment."""
    if variant.file:
        return folder_of_stack(variant.file)
    return workspace.environments / variant.framework.name / variant.name


def folder_of_stack(file: Path) -> Path:
    """Return the folder of a stack.yaml's environment."""
    return stack.build_folder(file) / "environment"


def replaced_folder(target: Path) -> Path:
    """Return the folder that keeps what repairs take out of an environment."""
    # A link may lead to another file system.
    place = target.resolve()
    return place.with_name(f"{place.name}.replaced")


def kernel_folder(target: Path) -> Path:
    """Return the folder of ipykernel beside an environment."""
    return target.with_name(f"{target.name}.kernel")


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of a variant's last report."""
    if variant.file:
        return stack.build_folder(variant.file) / "report.json"
    return workspace.reports / variant.framework.name / f"{variant.name}.json"


def read_report(workspace: Workspace, variant: Variant) -> dict[str, Any] | None:
    """Return the last report of a variant, or None if there is none that can be read.

    It may be of schema 1, whose checks have another key in place of `fix`.
    """
    try:
        report = records.read_json(report_path(workspace, variant))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def workload_reports(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's reports of workloads."""
    if variant.file:
        return stack.build_folder(variant.file) / "workloads"
    return workspace.reports / variant.framework.name / "workloads" / variant.name


class InUseError(StacksError):
    """Another process uses what was to be removed."""


def protect_build(workspace: Workspace, variant: Variant | None = None) -> None:
    """Protect build/, or a variant's part of it, from `clean` until this process ends."""
    hold_shared(lock_of_build(workspace))
    if variant:
        hold_shared(lock_of(folder_of(workspace, variant)))


def protect_cache(workspace: Workspace) -> None:
    """Protect the cache from `clean --cache` until this process ends."""
    hold_shared(lock_of_cache(workspace))


def lock_of_build(workspace: Workspace) -> Path:
    """Return the lock of build/."""
    return workspace.build.with_name(f".{workspace.build.name}.lock")


def lock_of_cache(workspace: Workspace) -> Path:
    """Return the lock of the cache; it is inside, because the parent may not be writable."""
    return workspace.cache / ".lock"


def lock_of(folder: Path) -> Path:
    """Return the lock of the environment in a folder and its reports, beside that of build/."""
    return folder.with_name(f".{folder.name}.used")


def hold_shared(lock: Path, limit: float = LIMIT) -> None:
    """Hold a lock until this process ends, shared with other users; wait while `clean` has it.

    A person without write permission holds none. Raises InUseError, with the process that has it,
    after `limit` seconds.
    """
    if lock in _held:
        return
    # A person without write permission makes nothing there, but can run programs.
    with suppress(OSError):
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = acquire(
            lock, fcntl.LOCK_SH, waiting_for="what this uses is being removed", limit=limit
        )
        if descriptor is None:
            raise InUseError(
                f"{lock} is locked",
                expected=f"a removal that ends within {limit:g} s",
                found=holders(lock),
                fix="wait until that process ends, or stop it; then run this again",
            )
        _held[lock] = descriptor


def keep_over_exec() -> None:
    """Keep the locks when another program replaces this process."""
    for descriptor in _held.values():
        os.set_inheritable(descriptor, True)


@contextmanager
def hold_exclusive(lock: Path, what: str) -> Iterator[None]:
    """Hold a lock alone for the block, then remove its file.

    Raises InUseError, with the processes, if others hold it.
    """
    with explain_disk_errors(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = acquire(lock, fcntl.LOCK_EX, limit=0)
        if descriptor is None:
            raise InUseError(
                f"{what} is in use: nothing was removed",
                found=holders(lock),
                fix="wait until it ends, or stop it; then run this again",
            )
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            os.close(descriptor)


def ready_environment(
    workspace: Workspace, name: str, framework: str | None
) -> tuple[Variant, Path]:
    """Return a variant and its built environment, protected from `clean` while this process runs.

    Raises UsageError if it is not built, StaleError if its lock is stale.
    """
    variant = load_variant(workspace, name, framework)
    target = folder_of(workspace, variant)
    if not is_ready(workspace, variant, current_key(workspace, variant)):
        what = f"{variant.id} is not built"
        if key_in(target):
            what += " from its current lock"
        elif target.is_dir():
            what += f" completely: {display_path(target / READY)} is gone, or not valid"
        raise UsageError(what, fix=f"./invoke build {variant.option}")
    return variant, target


def built_environment(workspace: Workspace, variant: Variant) -> Path | None:
    """Return a variant's environment if it is built, protected from `clean`; print that it is.

    None also where only a build can tell: AMD's own library may have to replace a package.
    """
    target = folder_of(workspace, variant)
    if variant.libm == "amdlibm" or key_in(target) is None:
        return None
    try:
        if not is_ready(workspace, variant, current_key(workspace, variant)):
            return None
    except StacksError:
        return None
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr)
    print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
    return target


def is_ready(workspace: Workspace, variant: Variant, key: str) -> bool:
    """Return whether a variant's environment has a key; if so, protect it from `clean`."""
    target = folder_of(workspace, variant)
    if key_in(target) != key:
        return False
    protect_build(workspace, variant)
    # `clean` may have removed it before the lock was held.
    return key_in(target) == key


def current_key(workspace: Workspace, variant: Variant) -> str:
    """Return the key that a variant's environment has if it is built from its current lock.

    Raises UsageError if the lock is missing or not valid, StaleError if it is stale.
    """
    locked = lock.current(workspace, variant)
    return key_of(workspace, variant, locked, folder_of(workspace, variant))


def key_of(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> str:
    """Return the key of a variant's environment in the folder `target`."""
    hashes = [candidate.hash for candidate in unlocked(workspace, variant)]
    asked = variant.model_dump_json(exclude={"summary": True, "framework": {"summary"}})
    inputs = [REVISION, lock.sha256, lock.channel, hashes, asked, str(target)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def unlocked(
    workspace: Workspace, variant: Variant, compiler: str = "g++"
) -> tuple[Candidate, ...]:
    """Return the packages that the lock of another channel's packages cannot have.

    Those are the framework's accelerator, and the settings; for this project's channel none.

    compiler: the name of the environment's C++ compiler, which follows from the lock.
    """
    if not variant.channel:
        return ()
    # Loaded here: the stages of packages take longer than all else that most tasks load.
    from stacks.channel.assemble import Candidate, recipe_hash
    from stacks.channel.candidates import candidate_of
    from stacks.channel.recipe import read_recipe

    recipes = [read_recipe(workspace.recipes, name) for name in variant.accelerator]
    # They have no sources but their own, so no pin decides their bytes.
    accelerator = [Candidate(recipe, recipe_hash(recipe, ())) for recipe in recipes]
    return (*accelerator, candidate_of(variant, compiler))


def mark(key: str, user_packages: Mapping[str, str]) -> str:
    """Return the text of the file that says that an environment is ready.

    user_packages: the SHA-256 of the user's packages in it, by the names that they replace.
    """
    packages = json.dumps(user_packages, sort_keys=True).encode()
    digest = hashlib.sha256(packages).hexdigest() if user_packages else None
    return json.dumps({"key": key, "local": digest}) + "\n"


def is_made(target: Path, key: str, user_packages: Mapping[str, str]) -> bool:
    """Return whether the environment in a folder has a key and these packages of the user."""
    try:
        return (target / READY).read_bytes() == mark(key, user_packages).encode()
    except OSError:
        return False


def key_in(target: Path) -> str | None:
    """Return the key of the environment in a folder; None if there is none, or a damaged one."""
    try:
        found = records.read_json(target / READY)
    except (OSError, ValueError):
        return None
    is_valid = isinstance(found, dict) and found.keys() == {"key", "local"}
    return str(found["key"]) if is_valid else None
