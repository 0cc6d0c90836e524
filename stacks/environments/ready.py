"""Whether an environment is built from its variant's current lock.

An environment has a key, the hash of all that it is made from. To derive the key that it must have
takes a second, most of it for recipes and the solver. So the cache keeps it, with the state of each
file that it was derived from: path, inode, size and times. It is derived again when one differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import in_use
from stacks.environments.folders import READY, folder_of
from stacks.locks.folders import lock_folder
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# The cache's file with the keys that were derived.
RECORD = "keys.json"
# A file that was written so many nanoseconds ago may be written again in the same tick of the
# file system's clock; then its state does not tell the two apart.
TICK = 2_000_000_000


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
    record = _object(workspace.cache / RECORD)
    shared = _states((workspace.root / "stacks", workspace.recipes, Path(sys.prefix) / "stamp"))
    names = [str(folder_of(workspace, variant)) for variant in variants]
    states = [_state_of(workspace, variant, shared) for variant in variants]
    keys: list[str | StacksError] = [
        _kept(record.get(name), name, state) for name, state in zip(names, states, strict=True)
    ]
    if "" in keys:
        wanted = [variant for variant, key in zip(variants, keys, strict=True) if not key]
        derived = iter(_derive(workspace, wanted))
        keys = [key or next(derived) for key in keys]
        known = zip(names, states, keys, strict=True)
        new = {
            name: _entry(name, state, key)
            for name, state, key in known
            if state and isinstance(key, str)
        }
        # Without permission, or without space, it is derived each time.
        with suppress(OSError, StacksError):
            workspace.cache.mkdir(parents=True, exist_ok=True)
            write_atomically(workspace.cache / RECORD, json.dumps({**record, **new}, indent=0))
    return keys


def _entry(name: str, state: str, key: str) -> list[str]:
    """Return an entry of the record: its last part shows that no byte of it has changed."""
    return [key, hashlib.sha256(f"{name}\n{state}\n{key}".encode(errors="replace")).hexdigest()]


def _kept(entry: object, name: str, state: str) -> str:
    """Return the key in an entry of the record, "" if it is damaged or of another state."""
    if not state or not isinstance(entry, list) or len(entry) != 2:
        return ""
    key = str(entry[0])
    return key if entry == _entry(name, state, key) else ""


def _derive(workspace: Workspace, variants: Sequence[Variant]) -> Iterator[str | StacksError]:
    """Yield the key, or the error, of each variant."""
    # Loaded here: the solver and the stages of packages take longer than all else in this module.
    from stacks.channel.offers import read_channel
    from stacks.environments import prefix
    from stacks.locks import lock

    channel = read_channel(workspace)
    for variant in variants:
        try:
            locked = lock.check(workspace, variant, channel)
        except StacksError as error:
            yield error
        else:
            yield prefix.key_of(workspace, variant, locked, folder_of(workspace, variant))


def _state_of(workspace: Workspace, variant: Variant, shared: Sequence[str]) -> str:
    """Return a hash of the state of all that decides a key, "" if a file is too new to tell.

    shared: that of the files that decide the key of every variant.
    """
    own = _states((lock_folder(workspace, variant),))
    if "" in (*shared, *own):
        return ""
    inputs = [*shared, *own, variant.model_dump_json()]
    return hashlib.sha256("\n".join(inputs).encode(errors="surrogateescape")).hexdigest()


def _states(paths: Sequence[Path]) -> list[str]:
    """Return the state of each file at or below the paths, "" for one that is too new to tell."""
    newest = time.time_ns() - TICK
    return [
        f"{path} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"
        if max(s.st_mtime_ns, s.st_ctime_ns) < newest
        else ""
        for top in paths
        for path, s in sorted(_files(str(top)))
    ]


def _files(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file at or below a path and its status; none of Python's compiled modules."""
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                yield entry.path, entry.stat()
        return
    with suppress(OSError):
        yield path, Path(path).stat()


def _object(path: Path) -> dict[str, object]:
    """Return the object in a JSON file; an empty one if it is missing or damaged."""
    try:
        content = jsonfile.read(path)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
