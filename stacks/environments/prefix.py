"""An environment on disk: made from its lock in a temporary folder, checked, renamed."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import rattler

from stacks.channel import rattler_errors
from stacks.core.disk import (
    explain_disk_errors,
    fixed_umask,
    hold_lock,
    replace_atomically,
    sha256_of,
)
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments import accelerator, pip_layer, settings
from stacks.environments.part import Part
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# The cache's folder with the compiled modules that environments share.
MODULES = "modules"
READY = f"{settings.FOLDER}/ready.json"


def folder_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's environment."""
    return workspace.environments / variant.framework.name / variant.name


def key_of(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> str:
    """Return the hash of the inputs of an environment in the folder `target`."""
    files = [Path(each) for each in (__file__, inspect.getfile(Part), settings.__file__)]
    code = [sha256_of(path) for path in files]
    unlocked = [offer.inputs for offer in accelerator.offers(workspace, variant)]
    inputs = [code, lock.sha256, unlocked, variant.model_dump_json(), str(target)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


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
        marker = json.loads((target / READY).read_bytes())
    except (OSError, ValueError):
        return False
    if not isinstance(marker, dict) or marker.keys() != {"key", "local"}:
        return False
    if own is not None and marker["local"] != hash_of(own):
        return False
    return bool(marker["key"] == key_of(workspace, variant, lock, target))


def make(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    target: Path,
    own: Mapping[str, Part] | None = None,
) -> None:
    """Make a variant's environment in the folder `target`, in place of the old one.

    own: the user's own packages, by the names of the locked packages that they replace. Raises
    IntegrityError if a file is not the locked one; then `target` stays as it was.
    """
    settings.check_place(target)
    check_parts(lock, parts)
    with hold_lock(target, f"the environment {variant.id}"):
        own = own or {}
        if is_ready(workspace, variant, lock, target, own):
            return
        parts = [own.get(part.name, part) for part in parts]
        with fixed_umask(), replace_atomically(target) as prefix:
            fill(workspace, variant, lock, parts, prefix, target, workspace.cache / MODULES)
            marker = {"key": key_of(workspace, variant, lock, target), "local": hash_of(own)}
            (prefix / READY).write_text(json.dumps(marker) + "\n")


def check_parts(lock: Lock, parts: Sequence[Part]) -> None:
    """Raise IntegrityError if the first packages are not the locked ones, in the lock's order."""
    for part, locked_package in zip(parts[: len(lock.packages)], lock.packages, strict=True):
        if part.built.sha256 != locked_package.sha256:
            raise IntegrityError(
                f"{locked_package.file_name} was built with other bytes than the locked ones",
                expected=f"sha256 {locked_package.sha256}",
                found=f"sha256 {part.built.sha256}",
                fix="`git checkout -- envs/locks` if the lock was changed by hand; "
                "else please report it: builds must not depend on the machine",
            )


def fill(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    prefix: Path,
    target: Path,
    modules: Path | None = None,
) -> dict[str, str]:
    """Make an environment in the new folder `prefix`, to be renamed to `target`.

    modules: the folder of compiled modules that it shares with others, if any. Returns the SHA-256
    of each file that pip installed, by its path in the prefix. Raises IntegrityError if a file is
    not the locked one.
    """
    installed: dict[str, str] = {}
    with fixed_umask():
        _install(workspace, variant, parts, prefix, target)
        if lock.requirements:
            key = layer_key(variant, lock, parts)
            installed = pip_layer.add(workspace, prefix, key, lock.requirements)
        settings.write(variant, prefix, target, _packages(parts, lock), modules)
    return installed


def hash_of(own: Mapping[str, Part]) -> str | None:
    """Return the hash of the user's own packages, None if there are none."""
    if not own:
        return None
    text = json.dumps({name: part.built.sha256 for name, part in own.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def layer_key(variant: Variant, lock: Lock, packages: Sequence[Part | LockedPackage]) -> str:
    """Return the name of the pip layer.

    It does not depend on BLAS and accelerator, so the variants of a framework share it.
    """
    without = {*variant.accelerator, *(variant.blas.package.split()[:1] if variant.blas else ())}
    below = [package.file_name for package in packages if package.name not in without]
    return pip_layer.key_of(below, lock.requirements)


def _install(
    workspace: Workspace, variant: Variant, parts: Sequence[Part], prefix: Path, target: Path
) -> None:
    """Link the packages' files into the prefix; unpack damaged ones of the cache again."""
    packages = workspace.cache / "unpacked"
    # One build must not remove damaged files while another links them.
    with hold_lock(packages, "an environment from the same cache"):
        made = prefix.with_name("first")
        try:
            _link(variant, parts, packages, made, target)
        except (IntegrityError, rattler_errors.CondaError) as error:
            print(f"{packages}: damaged ({error.found}); unpacking again", file=sys.stderr)
            with explain_disk_errors(packages):
                for part in parts:
                    for path in packages.glob(f"{part.stem}*"):
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
            # Another folder: rattler may still link files into the first one.
            made = prefix.with_name("second")
            _link(variant, parts, packages, made, target)
    made.rename(prefix)
    _remove_machine_paths(prefix / "conda-meta", {part.file_name: part.offer.url for part in parts})


def _link(
    variant: Variant, parts: Sequence[Part], packages: Path, prefix: Path, target: Path
) -> None:
    """Unpack packages that are not in the folder `packages`, link them, and check the files."""
    with rattler_errors.translated(packages, f"the packages of {variant.id} cannot be installed"):
        expected: dict[str, str] = {}
        for part in parts:
            for name, digest in part.files(variant.framework.python).items():
                # If two packages have the same file, either may be installed.
                expected[name] = digest if expected.get(name, digest) == digest else ""
        asyncio.run(
            rattler.install(
                [_record(part, prefix.parent) for part in parts],
                prefix,
                cache_dir=packages,
                show_progress=False,
                alternative_target_prefix=target,
            )
        )
    check_files(prefix, expected)
    for part in parts:
        if originals := part.rewritten():
            _check_rewritten(prefix, part, originals)


def _check_rewritten(prefix: Path, part: Part, originals: Mapping[str, str]) -> None:
    """Check the files that rattler writes the prefix's path into, in the cache and the prefix."""
    record = json.loads((prefix / "conda-meta" / f"{part.stem}.json").read_bytes())
    check_files(Path(record["extracted_package_dir"]), originals)
    entries = [entry for entry in record["paths_data"]["paths"] if "prefix_placeholder" in entry]
    check_files(prefix, {entry["_path"]: entry["sha256_in_prefix"] for entry in entries})


def _record(part: Part, scratch: Path) -> rattler.RepoDataRecord:
    offer, built = part.offer, part.built
    path = scratch / "index.json"
    path.write_text(json.dumps(offer.index))
    record = rattler.PackageRecord.from_index_json(path, size=built.size, sha256=built.sha256)
    channel = offer.url.rsplit("/", 2)[0]
    return rattler.RepoDataRecord(record, part.file_name, built.path.as_uri(), channel)


def _remove_machine_paths(folder: Path, urls: Mapping[str, str]) -> None:
    """Remove the paths of this machine from conda's records, and sort their keys.

    urls: the address of each archive in locks, by file name.
    """
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_bytes())
        for name in ("extracted_package_dir", "package_tarball_full_path", "link"):
            record.pop(name, None)
        record["url"] = urls[record["fn"]]
        path.unlink()
        path.write_text(json.dumps(record, sort_keys=True) + "\n")
    history = folder / "history"
    history.unlink(missing_ok=True)
    history.touch()


def check_files(prefix: Path, expected: Mapping[str, str]) -> None:
    """Raise IntegrityError if a file of the prefix is missing or has other bytes.

    expected: the SHA-256 by path; for a link, that of its target.
    """

    def wrong(names: Sequence[str]) -> list[str]:
        return [fault for name in names if (fault := _fault(prefix / name, name, expected[name]))]

    cores = len(os.sched_getaffinity(0))
    names = sorted(expected)
    with ThreadPoolExecutor(cores) as pool:
        faults = [
            f for found in pool.map(wrong, (names[i::cores] for i in range(cores))) for f in found
        ]
    if faults:
        raise IntegrityError(
            f"{len(faults)} files of {prefix.name} are not the locked ones",
            found="; ".join(faults[:3]),
            fix="run the command again; if it persists, check the disk and its file system",
        )


def _fault(path: Path, name: str, digest: str) -> str | None:
    if not path.is_file():
        return f"{name}: missing"
    actual = sha256_of(path)
    return None if digest in ("", actual) else f"{name}: sha256 {actual}, not {digest}"


def _packages(parts: Sequence[Part], lock: Lock) -> list[dict[str, Any]]:
    conda = [
        {
            "name": part.name,
            "version": part.offer.index["version"],
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
