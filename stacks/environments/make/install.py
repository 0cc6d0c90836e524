"""Installing conda packages into a folder, checked against their archives."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import rattler
from rattler.package_cache import PackageCache, PackageCacheLayer, ValidationMode

from stacks.channel import assemble
from stacks.core.disk import explain_disk_errors, hold_lock, sha256_of, temporary_folder
from stacks.core.errors import IntegrityError
from stacks.environments.make import contents
from stacks.environments.make.contents import RECORDS, Contents, Digests
from stacks.environments.make.packages import PackageToInstall
from stacks.sources.conda_archive import INFO
from stacks.variants.variant import Variant
from verify.core import machine


def install(
    packages: Path,
    variant: Variant,
    to_install: Sequence[PackageToInstall],
    prefix: Path,
    target: Path,
) -> Digests:
    """Install the packages into the new folder `prefix`, to be renamed to `target`.

    packages: the cache's folder of unpacked packages; what is damaged there is replaced. Nothing is
    left of a package that is not safe to install. Returns the digests of the files that were
    compared with their packages. Raises IntegrityError.
    """
    python = variant.framework.python
    made = prefix.with_name("first")
    with explain_disk_errors(packages):
        packages.mkdir(parents=True, exist_ok=True)
        # One build must not remove damaged files while another links them.
        with hold_lock(packages, "an environment from the same cache"):
            expected = _unpack_missing(to_install, packages, python)
            try:
                checked = _link(packages, variant, to_install, made, target, expected)
            except (IntegrityError, assemble.CondaError) as error:
                print(f"{packages}: damaged ({error.found}); unpacking again", file=sys.stderr)
                # Another folder: rattler may still write into the first one.
                made = prefix.with_name("second")
                with temporary_folder(packages, ".damaged.", ".part") as damaged:
                    for package in to_install:
                        (packages / package.stem).rename(damaged / package.stem)
                expected = _unpack_missing(to_install, packages, python)
                checked = _link(packages, variant, to_install, made, target, expected)
    made.rename(prefix)
    _remove_machine_paths(
        prefix / RECORDS, {package.file_name: package.url for package in to_install}
    )
    return checked


def _unpack_missing(
    to_install: Sequence[PackageToInstall], packages: Path, python: str
) -> Contents:
    """Read all archives, and unpack those that the folder `packages` lacks.

    Returns what the packages install together. Raises IntegrityError, and unpacks nothing, if one
    is not safe to install.
    """
    with temporary_folder(packages, ".new.", ".part") as new:

        def read(package: PackageToInstall) -> None:
            if os.path.lexists(packages / package.stem):
                _ = package.archive
            else:
                package.unpack(new / package.stem)

        # The largest first, so that no thread ends long after the others.
        largest_first = sorted(to_install, key=lambda package: package.built.size, reverse=True)
        with ThreadPoolExecutor(machine.usable_cores()) as pool:
            list(pool.map(read, largest_first))
        expected = contents.contents_of(to_install, python)
        for folder in new.iterdir():
            folder.rename(packages / folder.name)
    return expected


def _link(
    packages: Path,
    variant: Variant,
    to_install: Sequence[PackageToInstall],
    prefix: Path,
    target: Path,
    expected: Contents,
) -> Digests:
    """Link unpacked packages into a new folder, to be renamed to `target`; check its files."""
    with assemble.translated(packages, f"the packages of {variant.id} cannot be installed"):
        with ThreadPoolExecutor(machine.usable_cores()) as pool:
            list(pool.map(lambda package: _check_unpacked(packages, package), to_install))
        # Its threads go on after an error, and unpack a package that they do not find.
        links = prefix.with_name(f"{prefix.name}-packages")
        links.mkdir()
        for package in to_install:
            (links / package.stem).symlink_to(packages / package.stem)
        # Without a validation of its own, which unpacks a package again.
        layer = PackageCacheLayer(links).with_validation_mode(ValidationMode.skip())
        asyncio.run(
            rattler.install(
                [_record(package, prefix.parent) for package in to_install],
                prefix,
                package_cache=PackageCache.from_layers([layer]),
                show_progress=False,
                alternative_target_prefix=target,
            )
        )
        # In an image they would be files of its own, with the cache's path.
        shutil.rmtree(links)
    checked = contents.check(prefix, expected)
    for package in to_install:
        # The files that rattler wrote a path into.
        record = json.loads((prefix / RECORDS / f"{package.stem}.json").read_bytes())
        if any(entry.is_rewritten for entry in package.archive.files.values()):
            entries = record["paths_data"]["paths"]
            rewritten = (entry for entry in entries if "prefix_placeholder" in entry)
            _check_digests(prefix, {e["_path"]: e["sha256_in_prefix"] for e in rewritten})
    return checked


def _check_unpacked(packages: Path, package: PackageToInstall) -> None:
    """Check those files of an unpacked package that decide how it is linked."""
    folder = packages / package.stem
    if folder.is_symlink():
        raise IntegrityError(
            f"{folder}: it is a link", expected="a folder", found=f"{package.stem}: a link"
        )
    files = package.archive.files.items()
    rewritten = {name: entry.sha256 for name, entry in files if entry.is_rewritten}
    _check_digests(folder, {name: package.archive.info.get(name) for name in INFO} | rewritten)


def _check_digests(folder: Path, expected: Mapping[str, str | None]) -> None:
    """Raise IntegrityError unless each file has its SHA-256, or is missing for None."""
    for name, digest in expected.items():
        path = folder / name
        actual = sha256_of(path) if path.is_file() else None
        if actual != digest:
            raise IntegrityError(
                f"{path} differs from the locked package",
                expected=f"sha256 {digest}" if digest else "no such file",
                found=f"{name}: sha256 {actual}" if actual else f"{name}: missing",
                fix="run the command again; if it persists, check the disk and its file system",
            )


def _record(package: PackageToInstall, tmp: Path) -> rattler.RepoDataRecord:
    built, path = package.built, tmp / "index.json"
    path.write_text(json.dumps(package.index))
    record = rattler.PackageRecord.from_index_json(path, size=built.size, sha256=built.sha256)
    channel = package.url.rsplit("/", 2)[0]
    return rattler.RepoDataRecord(record, package.file_name, built.path.as_uri(), channel)


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
