"""Installing a stack.yaml's own packages: wheels first, then what is compiled from source archives.

A source archive is compiled once, in the environment that it is for, and its wheel kept in the
cache: the lock fixes the archive, not the wheel.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from stacks.core import jsonfile, reproducible
from stacks.core.disk import hold_lock, replace_atomically, scratch, sha256_of
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.environments import pip_install
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
from stacks.sources.pins import IndexPin

# The cache's folder of compiled wheels.
WHEELS = "wheels"
RECORD = "wheel.json"


def add(workspace: Workspace, prefix: Path, lock: Lock, python: str) -> None:
    """Install a lock's own packages into a prefix that has all else; `python` is its version.

    Raises FetchError; IntegrityError if a package would replace a file of another; CommandError
    with pip's output if one cannot be compiled.
    """
    pins = lock.requirements[len(lock.requirements) - lock.own :]
    files = fetch(workspace, pins)
    wheels = {pin: files[pin] for pin in pins if pin.filename.endswith(".whl")}
    for pin, path in wheels.items():
        check_files(pin, path, prefix, python)
    pip_install.install(prefix, wheels)
    base = [package.sha256 for package in lock.packages]
    base += [pin.sha256 for pin in lock.requirements[: len(lock.requirements) - lock.own]]
    for pin in pins:
        if pin not in wheels:
            built, path = _wheel_of(workspace, prefix, pin, files[pin], base)
            check_files(pin, path, prefix, python)
            pip_install.install(prefix, {built: path})


def check_files(pin: IndexPin, wheel: Path, prefix: Path, python: str) -> None:
    """Raise IntegrityError if a wheel would write a file that is there already, or elsewhere."""
    site_packages = f"lib/python{python}/site-packages"
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise IntegrityError(f"{pin.filename} is no wheel", found=str(error)) from error
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise IntegrityError(
                f"{pin.filename} is refused: it has a file outside of its folder", found=name
            )
        path = _place(name, site_packages)
        if os.path.lexists(prefix / path):
            raise IntegrityError(
                f"{pin.name} {pin.version} is refused: it would replace {path}, which another "
                "package installed",
                expected="packages with files of their own",
                fix="leave one of the two out of stack.yaml",
            )


def _place(name: str, site_packages: str) -> str:
    """Return the path in an environment of a file in a wheel (the wheel's .data by scheme)."""
    first, _, rest = name.partition("/")
    if not first.endswith(".data"):
        return f"{site_packages}/{name}"
    scheme, _, rest = rest.partition("/")
    folders = {"purelib": site_packages, "platlib": site_packages, "scripts": "bin", "data": "."}
    return os.path.normpath(f"{folders.get(scheme, site_packages)}/{rest}")


def _wheel_of(
    workspace: Workspace, prefix: Path, pin: IndexPin, archive: Path, base: Sequence[str]
) -> tuple[IndexPin, Path]:
    """Return the wheel of a source archive, compiled in the prefix if the cache lacks it."""
    key = hashlib.sha256(json.dumps([pin.sha256, *base]).encode()).hexdigest()
    folder = workspace.cache / WHEELS / key
    with hold_lock(folder, f"the wheel of {pin.name}"):
        if cached := _cached(pin, folder):
            return cached
        print(f"  {'compile':<9}{pin.name} {pin.version}, once", file=sys.stderr, flush=True)
        with replace_atomically(folder) as new:
            new.mkdir(parents=True)
            wheel = _compile(prefix, pin, archive, new)
            built = {"filename": wheel.name, "sha256": sha256_of(wheel)}
            (new / RECORD).write_text(json.dumps(built))
        cached = _cached(pin, folder)
        assert cached
        return cached


def _cached(pin: IndexPin, folder: Path) -> tuple[IndexPin, Path] | None:
    """Return the wheel in a folder of the cache, None if there is none or it is damaged."""
    try:
        record = jsonfile.read(folder / RECORD)
        path = folder / Path(str(record["filename"])).name
        if sha256_of(path) != record["sha256"]:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    built = IndexPin(
        name=pin.name,
        version=pin.version,
        filename=path.name,
        size=path.stat().st_size,
        sha256=str(record["sha256"]),
    )
    return built, path


def _compile(prefix: Path, pin: IndexPin, archive: Path, target: Path) -> Path:
    """Compile a source archive in the prefix into a folder; return the wheel."""
    with scratch() as folder:
        # Python 2.7's pip fails if the path of its prefix is not ASCII.
        alias = folder / "prefix"
        alias.symlink_to(prefix.absolute())
        source = folder / pin.filename
        pip_install.link_or_copy(archive, source)
        environment = reproducible.environment(
            folder,
            PATH=f"{alias / 'bin'}:/usr/bin:/bin",
            PIP_CONFIG_FILE=os.devnull,
            PIP_DISABLE_PIP_VERSION_CHECK="1",
        )
        try:
            call(
                [
                    alias / "bin/python", "-m", "pip", "wheel", "--no-index", "--no-deps",
                    "--no-build-isolation", "--no-cache-dir", "--wheel-dir", folder / "wheels",
                    source,
                ],
                cwd=folder,
                env=environment,
            )  # fmt: skip
        except CommandError as error:
            raise UsageError(
                f"{pin.name} {pin.version} cannot be compiled from its source archive",
                found=error.output or error.what,
                fix="if a module is missing that it is built with, add that to `pip:`; or ask for "
                "a version with a wheel",
            ) from error
        [wheel] = (folder / "wheels").iterdir()
        return Path(shutil.copy(wheel, target / wheel.name))
