"""An environment on disk: made from its lock in a temporary folder, checked, renamed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stacks.core import jsonfile
from stacks.core.console import as_typed
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments.folders import READY
from stacks.environments.make import (
    additions,
    install,
    key,
    manifest,
    own_packages,
    pip_install,
    settings,
)
from stacks.environments.make.part import Part
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# The cache's folder with the compiled modules that environments share.
MODULES = "modules"


def is_ready(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    target: Path,
    own: Mapping[str, Part] | None = None,
) -> bool:
    """Return whether the environment of a lock is in the folder `target`.

    own: the user's own packages that it must have; with None, any.
    """
    try:
        found = jsonfile.read(target / READY)
    except (OSError, ValueError):
        return False
    if not isinstance(found, dict) or found.keys() != {"key", "local"}:
        return False
    if own is not None and found["local"] != hash_of(own):
        return False
    return bool(found["key"] == key.key_of(workspace, variant, lock, target))


def make(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    target: Path,
    own: Mapping[str, Part] | None = None,
    *,
    clean: bool = False,
) -> list[str]:
    """Make a variant's environment in the folder `target`, in place of the old one.

    own: the user's own packages, by the names of the locked packages that they replace. clean:
    make it again if it is ready, and leave out what the user has added by pip or uv. Returns lines
    that say what of that is kept, and what is not. Raises IntegrityError if a file is not the
    locked one; then `target` stays as it was.
    """
    check_parts(lock, parts)
    with hold_lock(target, f"the environment {variant.id}"):
        own = own or {}
        if not clean and is_ready(workspace, variant, lock, target, own):
            return []
        parts = [own.get(part.name, part) for part in parts]
        # A link to a larger disk stays.
        with fixed_umask(), replace_atomically(Path(os.path.realpath(target))) as prefix:
            fill(workspace, variant, lock, parts, prefix, target, workspace.cache / MODULES)
            lines: list[str] = []
            if not clean:
                command = as_typed(f"./invoke run {variant.option} -- pip install")
                lines = additions.carry_over(target, prefix, variant.framework.python, command)
            (prefix / READY).write_text(marker(workspace, variant, lock, target, own))
        return lines


def marker(
    workspace: Workspace, variant: Variant, lock: Lock, target: Path, own: Mapping[str, Part]
) -> str:
    """Return the text of the file that says that an environment is ready."""
    made_from = key.key_of(workspace, variant, lock, target)
    return json.dumps({"key": made_from, "local": hash_of(own)}) + "\n"


def check_parts(lock: Lock, parts: Sequence[Part]) -> None:
    """Raise IntegrityError if the first packages are not the locked ones, in the lock's order."""
    for part, locked_package in zip(parts[: len(lock.packages)], lock.packages, strict=True):
        if part.built.sha256 != locked_package.sha256:
            raise IntegrityError(
                f"{locked_package.file_name} is not the locked package",
                expected=f"sha256 {locked_package.sha256}",
                found=f"sha256 {part.built.sha256}",
            )


def fill(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    prefix: Path,
    target: Path,
    modules: Path | None = None,
) -> None:
    """Make an environment in the new folder `prefix`, to be renamed to `target`.

    To be called under a fixed umask.

    modules: the folder of compiled modules that it shares with others, if any. Raises
    IntegrityError if a file is not the locked one, or a package is not safe to install.
    """
    checked = install.install(workspace.cache / "unpacked", variant, parts, prefix, target)
    if lock.framework_files:
        pip_install.add(workspace, prefix, lock.framework_files)
    if lock.own:
        own_packages.add(workspace, prefix, lock, variant.framework.python)
    settings.write(variant, prefix, target, _packages(parts, lock), modules)
    manifest.write_manifest(prefix, checked=checked)


def hash_of(own: Mapping[str, Part]) -> str | None:
    """Return the hash of the user's own packages, None if there are none."""
    if not own:
        return None
    text = json.dumps({name: part.built.sha256 for name, part in own.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _packages(parts: Sequence[Part], lock: Lock) -> list[dict[str, Any]]:
    conda = [
        {
            "name": part.name,
            "version": part.index["version"],
            "sha256": part.built.sha256,
            "manager": "conda",
        }
        for part in parts
    ]
    pip = [
        {"name": pin.name, "version": pin.version, "sha256": pin.sha256, "manager": "pip"}
        for pin in lock.requirements
    ]
    return conda + pip
