"""Whether an environment is built from its variant's current lock.

An environment has a key, the hash of all that it is made from.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.folders import READY, folder_of
from stacks.environments.make.key import key_of
from stacks.locks import lock
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


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


def key_in(target: Path) -> str | None:
    """Return the key of the environment in a folder; None if there is none, or a damaged one."""
    marker = _object(target / READY)
    return str(marker["key"]) if marker.keys() == {"key", "local"} else None


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


def _object(path: Path) -> dict[str, object]:
    """Return the object in a JSON file; an empty one if it is missing or damaged."""
    try:
        content = jsonfile.read(path)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
