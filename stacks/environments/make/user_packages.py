"""Installing a stack.yaml's own packages: wheels first, then what is compiled from source archives.

A source archive is compiled once, in the environment that it is for, and its wheel kept in the
cache: the lock fixes the archive, not the wheel. The wheel has no path of this machine in it: it is
the same wherever it is compiled.
"""

import hashlib
import json
import os
import posixpath
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path

from stacks.core.disk import fixed_umask, hold_lock, replace_atomically, sha256_of, temporary_folder
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.environments.make import pip_install
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
from stacks.sources.pins import IndexPin

# The cache's folder of compiled wheels; the number is raised when they are compiled otherwise.
WHEELS, REVISION = "wheels", 4
# A line of an `__init__.py` that is empty or only declares a namespace.
NAMESPACE = re.compile(
    r"(#.*|try:|except \w+:|import (pkgutil|pkg_resources)"
    r"|.*\b(extend_path|declare_namespace)\b.*)?"
)
# By path in the environment: the own package that installs it, and a mark of its content.
Owners = dict[str, tuple[IndexPin, str]]


def add(workspace: Workspace, prefix: Path, lock: Lock, python: str) -> None:
    """Install a lock's own packages into a prefix that has all else; `python` is its version.

    Raises FetchError; IntegrityError if a package would replace a file of another; CommandError
    with pip's output if one cannot be compiled.
    """
    pins = lock.user_files
    files = fetch(workspace, pins)
    wheels = {pin: files[pin] for pin in pins if pin.filename.endswith(".whl")}
    owners: Owners = {}
    for pin, path in wheels.items():
        check_files(pin, path, prefix, python, owners)
    pip_install.install(prefix, wheels)
    # The other own packages, too: a wheel may be compiled against one of them.
    base = [digest for _, digest in lock.digests]
    waiting = [pin for pin in pins if pin not in wheels]
    while waiting:
        failed: dict[IndexPin, UsageError] = {}
        for pin in waiting:
            try:
                built, path = wheel_of(workspace, prefix, pin, files[pin], base)
            except UsageError as error:
                failed[pin] = error
                continue
            check_files(pin, path, prefix, python, owners)
            pip_install.install(prefix, {built: path})
        # One of those that were compiled may be what it lacked.
        if len(failed) == len(waiting):
            raise next(iter(failed.values()))
        waiting = list(failed)


def check_files(pin: IndexPin, wheel: Path, prefix: Path, python: str, owners: Owners) -> None:
    """Raise IntegrityError if a wheel would replace a file of another package, or write elsewhere.

    owners: what the own packages checked before install; what the wheel installs is added. Two of
    them may have a file of the same content, or the `__init__.py` of one namespace.
    """
    for path, content in _installed(pin, wheel, python).items():
        exists = os.path.lexists(prefix / path)
        owner, first = owners.setdefault(path, (pin, content))
        if owner == pin and exists:
            raise IntegrityError(
                f"{pin.name} {pin.version} is refused: it would replace {path} of a locked package",
                expected="packages with files of their own",
                fix=f"leave {pin.name} out of stack.yaml, and what needs it; or ask for a version "
                "without this file",
            )
        # pip writes an installed script anew, with the path of its prefix in it.
        if owner != pin and (content != first or (exists and path.startswith("bin/"))):
            raise IntegrityError(
                f"{pin.name} {pin.version} is refused: it would replace {path} of "
                f"{owner.name} {owner.version}",
                expected="packages with files of their own",
                fix=f"leave {pin.name} or {owner.name} out of stack.yaml, and what needs it",
            )


def _installed(pin: IndexPin, wheel: Path, python: str) -> dict[str, str]:
    """Return the paths in an environment that a wheel writes, each with a mark of its content."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            marks = {info.filename: _mark(archive, info) for info in members}
            scripts = {
                point.name: point.value
                for folder in zipfile.Path(archive).iterdir()
                if folder.name.endswith(".dist-info")
                for point in PathDistribution(folder).entry_points
                if point.group in ("console_scripts", "gui_scripts")
            }
    except (OSError, UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise IntegrityError(f"{pin.filename} is no wheel", found=str(error)) from error
    for name in (*marks, *scripts):
        if name.startswith("/") or ".." in name.split("/"):
            raise IntegrityError(
                f"{pin.filename} is refused: it has a file outside of its folder", found=name
            )
    files = {_place(name, pin.name, python): mark for name, mark in marks.items()}
    return files | {posixpath.normpath(f"bin/{name}"): scripts[name] for name in scripts}


def _mark(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """Return a mark of a file's content: equal for all spellings of a namespace's `__init__.py`."""
    if info.filename.endswith("/__init__.py"):
        lines = archive.read(info).decode(errors="replace").splitlines()
        if all(NAMESPACE.fullmatch(line.strip()) for line in lines):
            return "namespace"
    # To read all of a large wheel takes seconds; pip checks the CRC when it unpacks.
    return f"{info.CRC:08x} {info.file_size}"


def _place(name: str, package: str, python: str) -> str:
    """Return the path in an environment of a file in a package's wheel (its .data by scheme)."""
    site_packages = f"lib/python{python}/site-packages"
    name = posixpath.normpath(name)
    first, _, rest = name.partition("/")
    if not first.endswith(".data"):
        return f"{site_packages}/{name}"
    scheme, _, rest = rest.partition("/")
    folders = {
        "purelib": site_packages,
        "platlib": site_packages,
        "headers": f"include/python{python}/{package}",
        "scripts": "bin",
        "data": ".",
    }
    return posixpath.normpath(f"{folders.get(scheme, site_packages)}/{rest}")


def wheel_of(
    workspace: Workspace, prefix: Path, pin: IndexPin, archive: Path, base: Sequence[str]
) -> tuple[IndexPin, Path]:
    """Return the wheel of a source archive, compiled in the prefix if the cache lacks it."""
    inputs = [REVISION, pin.sha256, *base]
    key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    folder = workspace.cache / WHEELS / key
    with hold_lock(folder, f"the wheel of {pin.name}"):
        if cached := _cached(pin, folder):
            return cached
        print(f"  {'compile':<9}{pin.name} {pin.version}, once", file=sys.stderr, flush=True)
        with replace_atomically(folder) as new:
            _compile(prefix, pin, archive, new)
        cached = _cached(pin, folder)
        assert cached
        return cached


def _cached(pin: IndexPin, folder: Path) -> tuple[IndexPin, Path] | None:
    """Return the wheel in a folder of the cache, None if there is none or it is damaged.

    It is in a folder whose name is its SHA-256.
    """
    for path in folder.glob("*/*.whl"):
        digest = path.parent.name
        if sha256_of(path) == digest:
            size = path.stat().st_size
            return replace(pin, filename=path.name, size=size, sha256=digest), path
    return None


# A compiler whose output has neither debug information, which has paths and options, nor the path
# of a folder: in place of one it writes /build. pip and others unpack into folders of random names.
COMPILER = """\
#!/bin/sh
for place in {places}; do
    set -- "$@" "-ffile-prefix-map=${{place%/}}=/build"
done
exec {program} {flags} "$@" -g0
"""
COMPILERS = {"CC": "gcc", "CXX": "g++"}


def _compile(prefix: Path, pin: IndexPin, archive: Path, target: Path) -> None:
    """Compile a source archive in the prefix; put the wheel into a folder, as `_cached` has it."""
    with (
        pip_install.aliased(prefix) as (folder, alias),
        # Beside the prefix, because programs can be run from there.
        temporary_folder(prefix.parent, ".compilers.", ".part") as compilers,
        fixed_umask(),
    ):
        source = folder / pin.filename
        pip_install.link_or_copy(archive, source)
        spellings = (f(place) for place in (folder, prefix) for f in (Path.absolute, Path.resolve))
        paths = list(dict.fromkeys(map(str, spellings)))
        # By a path without blanks: build tools split it.
        (folder / "compilers").symlink_to(compilers.absolute())
        _write_compilers(compilers, alias / "bin", paths)
        programs = {name: folder / "compilers" / each for name, each in COMPILERS.items()}
        environment = pip_install.environment(alias, folder)
        environment |= {name: shlex.quote(str(path)) for name, path in programs.items()}
        # The machine's would give the headers of its Python.
        environment["PKG_CONFIG"] = "/bin/false"
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
        _check_paths(pin, wheel, paths)
        (target / sha256_of(wheel)).mkdir(parents=True)
        shutil.copy(wheel, target / sha256_of(wheel))


def _write_compilers(folder: Path, programs: Path, paths: Sequence[str]) -> None:
    """Write a COMPILER for each of `programs` into a folder; paths: those of the folders."""
    for program in COMPILERS.values():
        text = COMPILER.format(
            places=" ".join(f"{shlex.quote(path)}/*/" for path in paths),
            program=shlex.quote(str(programs / program)),
            flags=shlex.join(f"-ffile-prefix-map={path}=/build" for path in paths),
        )
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)


def _check_paths(pin: IndexPin, wheel: Path, paths: Sequence[str]) -> None:
    """Raise UsageError if a compiled wheel has the path of a folder in it."""
    needles = [os.fsencode(path) for path in paths]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if any(needle in data for needle in needles):
                raise UsageError(
                    f"{pin.name} {pin.version} cannot be compiled reproducibly: {name} has the "
                    "path of the folder in it where it was compiled",
                    expected="a file that is the same in any folder",
                    fix="ask for a version with a wheel",
                )
