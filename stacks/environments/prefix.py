"""An environment on disk: made aside from its lock, checked file by file, renamed into place."""

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
from typing import Any, Protocol

import rattler

from stacks.channel import rattler_errors
from stacks.core.disk import aside, explained, locked, same_modes, sha256_of
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments import accelerator, pip_layer, settings
from stacks.environments.part import Part
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# The folder of the cache with the compiled modules that environments share.
MODULES = "modules"
READY = f"{settings.FOLDER}/ready.json"


def place_of(workspace: Workspace, variant: Variant) -> Path:
    """Return where a variant's environment lies."""
    return workspace.environments / variant.framework.name / variant.name


def key_of(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> str:
    """Return the hash of all that decides an environment at a place."""
    files = [Path(each) for each in (__file__, inspect.getfile(Part), settings.__file__)]
    code = [sha256_of(path) for path in files]
    unlocked = [offer.inputs for offer in accelerator.offers(workspace, variant)]
    inputs = [code, lock.sha256, unlocked, variant.model_dump_json(), str(target)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def is_ready(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> bool:
    """Say whether the environment that the lock describes stands at its place."""
    try:
        marker = json.loads((target / READY).read_bytes())
    except (OSError, ValueError):
        return False
    if not isinstance(marker, dict) or marker.keys() != {"key", "local"}:
        return False
    return bool(marker["key"] == key_of(workspace, variant, lock, target))


def local_in(target: Path) -> str | None:
    """Return the SHA-256 of the unlocked package that an environment has, None where it has none.

    To be asked of an environment that is ready.
    """
    local: str | None = json.loads((target / READY).read_bytes())["local"]
    return local


def make(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    target: Path,
    local: Mapping[str, Part] | None = None,
) -> None:
    """Make a variant's environment at `target`, replacing what stood there.

    `local` has packages that take the place of locked ones, by the names of those.

    Raises IntegrityError where a file is not the locked one; then `target` is as it was.
    """
    settings.check_place(target)
    check_parts(lock, parts)
    with locked(target, f"the environment {variant.id}"):
        unlocked = hash_of(local)
        if is_ready(workspace, variant, lock, target) and local_in(target) == unlocked:
            return
        parts = [(local or {}).get(part.name, part) for part in parts]
        with same_modes(), aside(target) as prefix:
            fill(workspace, variant, lock, parts, prefix, target, workspace.cache / MODULES)
            marker = {"key": key_of(workspace, variant, lock, target), "local": unlocked}
            (prefix / READY).write_text(json.dumps(marker) + "\n")


def check_parts(lock: Lock, parts: Sequence[Part]) -> None:
    """Raise IntegrityError unless the first packages are the locked ones, in the lock's order."""
    for part, locked_package in zip(parts[: len(lock.packages)], lock.packages, strict=True):
        if part.built.sha256 != locked_package.sha256:
            raise IntegrityError(
                f"{locked_package.file_name} was built with other bytes than the lock has",
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
    """Make an environment in `prefix`, which is not there yet, for the place `target`.

    `modules` is the folder of compiled modules that it shares with others; None: it shares none.
    Returns the SHA-256 of what pip installed, by its path in the prefix. Raises IntegrityError
    where a file is not the locked one.
    """
    installed: dict[str, str] = {}
    with same_modes():
        _install(workspace, variant, parts, prefix, target)
        if lock.requirements:
            key = layer_key(variant, lock, parts)
            installed = pip_layer.add(workspace, prefix, key, lock.requirements)
        settings.write(variant, prefix, target, _packages(parts, lock), modules)
    return installed


def hash_of(local: Mapping[str, Part] | None) -> str | None:
    """Return one hash for the packages that no lock knows, None where there are none."""
    if not local:
        return None
    text = json.dumps({name: part.built.sha256 for name, part in local.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Named(Protocol):
    """A package, of a lock or of an environment."""

    @property
    def name(self) -> str:
        """The package's name."""

    @property
    def file_name(self) -> str:
        """The archive's name in its channel."""


def layer_key(variant: Variant, lock: Lock, packages: Sequence[Named]) -> str:
    """Return the name of what pip installs.

    BLAS and accelerator do not change it, so the variants of a framework share it.
    """
    without = {*variant.accelerator, *(variant.blas.package.split()[:1] if variant.blas else ())}
    below = [package.file_name for package in packages if package.name not in without]
    return pip_layer.key_of(below, lock.requirements)


def _install(
    workspace: Workspace, variant: Variant, parts: Sequence[Part], prefix: Path, target: Path
) -> None:
    """Link the packages' files into the prefix; unpack anew those that the cache has damaged."""
    packages = workspace.cache / "unpacked"
    # What one build finds damaged and removes, another must not be linking.
    with locked(packages, "an environment from the same cache"):
        made = prefix.with_name("first")
        try:
            _link(variant, parts, packages, made, target)
        except (IntegrityError, rattler_errors.CondaError) as error:
            print(f"{packages}: damaged ({error.found}); unpacking again", file=sys.stderr)
            with explained(packages):
                for part in parts:
                    for path in packages.glob(f"{part.stem}*"):
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
            # Another folder: rattler may still be linking there what it began before it failed.
            made = prefix.with_name("second")
            _link(variant, parts, packages, made, target)
    made.rename(prefix)
    _forget_the_machine(prefix / "conda-meta", {part.file_name: part.offer.url for part in parts})


def _link(
    variant: Variant, parts: Sequence[Part], packages: Path, prefix: Path, target: Path
) -> None:
    """Unpack what is not in the folder `packages` yet, link it into the prefix, and check that."""
    with rattler_errors.translated(packages, f"the packages of {variant.id} cannot be installed"):
        expected: dict[str, str] = {}
        for part in parts:
            for name, digest in part.files(variant.framework.python).items():
                # Of a file that two packages have, either may be the one that stays.
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
    check(prefix, expected)
    for part in parts:
        if originals := part.rewritten():
            _check_rewritten(prefix, part, originals)


def _check_rewritten(prefix: Path, part: Part, originals: Mapping[str, str]) -> None:
    """Check the files that rattler has written the prefix's path into, before and after that."""
    record = json.loads((prefix / "conda-meta" / f"{part.stem}.json").read_bytes())
    check(Path(record["extracted_package_dir"]), originals)
    entries = [entry for entry in record["paths_data"]["paths"] if "prefix_placeholder" in entry]
    check(prefix, {entry["_path"]: entry["sha256_in_prefix"] for entry in entries})


def _record(part: Part, scratch: Path) -> rattler.RepoDataRecord:
    offer, built = part.offer, part.built
    path = scratch / "index.json"
    path.write_text(json.dumps(offer.index))
    record = rattler.PackageRecord.from_index_json(
        path, size=built.size, sha256=built.sha256, md5=built.md5
    )
    channel = offer.url.rsplit("/", 2)[0]
    return rattler.RepoDataRecord(record, part.file_name, built.path.as_uri(), channel)


def _forget_the_machine(folder: Path, urls: Mapping[str, str]) -> None:
    """Take the paths of this machine out of conda's own records, and give them one form.

    `urls` says where locks have each archive.
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


def check(prefix: Path, expected: Mapping[str, str]) -> None:
    """Raise IntegrityError unless every file of the prefix is there with the bytes it should have.

    `expected` has a SHA-256 for each path; for a link, that of the file that it leads to.
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
            fix="run the command again; if it stays, check the disk and its file system",
        )


def _fault(path: Path, name: str, digest: str) -> str | None:
    if not path.is_file():
        return f"{name}: missing"
    found = sha256_of(path)
    return None if digest in ("", found) else f"{name}: sha256 {found}, not {digest}"


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
