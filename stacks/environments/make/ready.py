"""Whether an environment is built from its variant's current lock.

It has a key, the hash of all that it is made from. An edit of this program changes no key: what it
writes differently has a higher REVISION.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.folders import READY, folder_of
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# Raised when an environment gets other settings, records or scripts than before, or when packages
# are installed in another way: then what was built before is built again.
REVISION = 1


def ready_environment(
    workspace: Workspace, name: str, framework: str | None
) -> tuple[Variant, Path]:
    """Return a variant and its built environment, protected from `clean` while this process runs.

    Raises UsageError if it is not built, StaleError if its lock is stale.
    """
    variant = load_variant(workspace, name, framework)
    target = folder_of(workspace, variant)
    [key] = keys_of(workspace, [variant])
    if isinstance(key, StacksError):
        raise key
    if not is_ready(workspace, variant, key):
        raise UsageError(
            f"{variant.id} is not built" + (" from its current lock" if target.is_dir() else ""),
            fix=f"./invoke build {variant.option}",
        )
    return variant, target


def built_environment(workspace: Workspace, variant: Variant) -> Path | None:
    """Return a variant's environment if it is built, protected from `clean`; print that it is.

    None also where only a build can tell: AMD's own library may have to replace a package.
    """
    target = folder_of(workspace, variant)
    if variant.libm == "amdlibm" or key_in(target) is None:
        return None
    [key] = keys_of(workspace, [variant])
    if isinstance(key, StacksError) or not is_ready(workspace, variant, key):
        return None
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr)
    print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
    return target


def is_ready(workspace: Workspace, variant: Variant, key: str) -> bool:
    """Return whether a variant's environment has a key; if so, protect it from `clean`."""
    target = folder_of(workspace, variant)
    if key_in(target) != key:
        return False
    in_use.protect_build(workspace, variant)
    # `clean` may have removed it before the lock was held.
    return key_in(target) == key


def keys_of(workspace: Workspace, variants: Sequence[Variant]) -> list[str | StacksError]:
    """Return the key that each variant's environment has if it is built from its current lock.

    In place of a key stands the error if the lock is missing, stale or not valid.
    """
    keys: list[str | StacksError] = []
    for variant in variants:
        try:
            locked = lock.current(workspace, variant)
        except StacksError as error:
            keys.append(error)
        else:
            keys.append(key_of(workspace, variant, locked, folder_of(workspace, variant)))
    return keys


def key_of(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> str:
    """Return the key of a variant's environment in the folder `target`."""
    unlocked = []
    if variant.channel:
        # Loaded here: the stages of packages take longer than all else that most tasks load.
        from stacks.environments.make import packages

        unlocked = [offer.hash for offer in packages.unlocked(workspace, variant)]
    asked = variant.model_dump_json(exclude={"summary": True, "framework": {"summary"}})
    inputs = [REVISION, lock.sha256, lock.channel, unlocked, asked, str(target)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def mark(key: str, user_packages: Mapping[str, str]) -> str:
    """Return the text of the file that says that an environment is ready.

    user_packages: the SHA-256 of the user's packages in it, by the names that they replace.
    """
    return json.dumps({"key": key, "local": _hash_of(user_packages)}) + "\n"


def is_made(target: Path, key: str, user_packages: Mapping[str, str]) -> bool:
    """Return whether the environment in a folder has a key and these packages of the user."""
    found = _mark_in(target)
    return bool(found) and found == {"key": key, "local": _hash_of(user_packages)}


def key_in(target: Path) -> str | None:
    """Return the key of the environment in a folder; None if there is none, or a damaged one."""
    return str(found["key"]) if (found := _mark_in(target)) else None


def _mark_in(target: Path) -> dict[str, object]:
    """Return what an environment's file says; nothing if it is missing or damaged."""
    try:
        found = jsonfile.read(target / READY)
    except (OSError, ValueError):
        return {}
    is_valid = isinstance(found, dict) and found.keys() == {"key", "local"}
    return dict(found) if is_valid else {}


def _hash_of(user_packages: Mapping[str, str]) -> str | None:
    if not user_packages:
        return None
    return hashlib.sha256(json.dumps(user_packages, sort_keys=True).encode()).hexdigest()
