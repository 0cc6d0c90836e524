"""The files of an environment: what its packages install, what is on disk, and the list of them."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stacks.channel.settings_files import FOLDER
from stacks.core.disk import sha256_of, write_atomically
from stacks.core.errors import IntegrityError
from stacks.environments.folders import READY
from stacks.environments.make.packages import PackageToInstall
from stacks.sources.conda_archive import Entry
from stacks.sources.unpack import leads_out, parents
from verify.core import machine

# How rattler names the second of two packages' files with one path.
CLOBBERED = re.compile(r"(.+)__clobber-from-.+")
RECORDS = "conda-meta"
# What rattler writes beside the packages' files.
GENERATED = (f"{RECORDS}/history", "CACHEDIR.TAG")

# The environment's list of its files. Line 1: {"schema": 1, "sha256": that of all bytes below}.
# Line 2: {path: entry}, where an entry is ["file", mode in octal, size in bytes, SHA-256] or
# ["link", target]. verify/ reads it.
MANIFEST = f"{FOLDER}/files.json"
SCHEMA = 1
# What changes in an environment that is used: compiled modules, a conda client's log.
CHANGING = ("var/", f"{RECORDS}/history")

Row = list[str | int]
Result = TypeVar("Result")


# A file's inode, size and time of its last change: by them its SHA-256, unless written since.
Digests = dict[tuple[int, int, int], str]


@dataclass(frozen=True)
class Contents:
    """The files of all packages by path: more than one entry where packages have the same path.

    generated: the paths of files that an installation writes by itself.
    """

    files: Mapping[str, tuple[Entry, ...]]
    generated: Collection[str]


def contents_of(to_install: Sequence[PackageToInstall], python: str) -> Contents:
    """Return what the packages install together.

    Raises IntegrityError, before anything is written, for a package whose paths lead out of the
    environment, by themselves or through a link of another package.
    """
    files: dict[str, tuple[Entry, ...]] = {}
    owners: dict[str, str] = {}
    generated = set(GENERATED)
    links: dict[str, str] = {}
    for package in to_install:
        generated |= {f"{RECORDS}/{package.stem}.json", *package.archive.scripts}
        for name, entry in package.files(python).items():
            if entry.target is not None:
                links[name] = entry.target
            same = files.get(name, ())
            files[name] = same if entry in same else (*same, entry)
            owners[name] = package.file_name
    for name, entries in files.items():
        targets = [entry.target for entry in entries if entry.target is not None]
        if any(leads_out(name, {**links, name: target}) for target in targets):
            raise IntegrityError(
                f"{owners[name]} is refused: the link {name} leads out of the environment",
                expected="a target inside the environment",
                found=", ".join(targets),
                fix="lock another build of this package, or take it from another channel",
            )
    # rattler would write through a hard or symbolic link, into the cache.
    for name in sorted(generated & files.keys()):
        raise IntegrityError(
            f"{owners[name]} is refused: {name} is also written by the installation",
            expected="a path of its own",
            fix="lock another build of one of the packages that have it",
        )
    for name in (*files, *generated):
        for folder in parents(name):
            if folder in files:
                raise IntegrityError(
                    f"{owners.get(name, name)} is refused: {name} leads through {folder}",
                    expected="a folder",
                    found=f"a file or link of {owners[folder]}",
                    fix="lock another build of one of the two packages",
                )
    return Contents(files, generated)


def check(prefix: Path, contents: Contents) -> Digests:
    """Compare a folder with what its packages install, and make the packages' files read-only.

    The files may be hard links into the cache: an edit through one of them would change every
    environment. Returns the digests of the files whose bytes were compared: not of links, nor of
    files that the installation writes. Raises IntegrityError if a file is missing, differs, or is
    of no package.
    """
    present = dict(walk(prefix))
    checked: Digests = {}

    def fault(name: str) -> str:
        """Return what is wrong with a file; else empty."""
        status, clobbered = present[name], CLOBBERED.fullmatch(name)
        entries = contents.files.get(name) or (clobbered and contents.files.get(clobbered[1]))
        if not entries:
            if name in contents.generated:
                return "" if stat.S_ISREG(status.st_mode) else "not a file"
            return "in no package"
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(prefix / name)  # noqa: PTH115 - as it is written, not normalised
            return "" if target in [e.target for e in entries] else f"a link to {target}"
        candidates = [entry for entry in entries if entry.target is None]
        if not stat.S_ISREG(status.st_mode) or not candidates:
            return "another kind of file"
        if bool(status.st_mode & 0o111) not in [entry.executable for entry in candidates]:
            return f"mode {stat.S_IMODE(status.st_mode):o}"
        if not any(entry.is_rewritten for entry in candidates):
            digest = sha256_of(prefix / name)
            if digest not in [entry.sha256 for entry in candidates]:
                return f"sha256 {digest}, not {candidates[0].sha256}"
            checked[_identity(status)] = digest
        return ""

    faults = [f"{name}: missing" for name in sorted(contents.files.keys() - present.keys())]
    faults += sorted(f"{name}: {text}" for name, text in _each(fault, present) if text)
    if faults:
        raise IntegrityError(
            f"{len(faults)} files of {prefix.name} are not the locked ones",
            found="; ".join(faults[:3]),
            fix="run the command again; if it persists, check the disk and its file system",
        )
    for name in contents.files:
        status = present[name]
        mode = 0o555 if status.st_mode & 0o100 else 0o444
        if stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) != mode:
            (prefix / name).chmod(mode)
    return checked


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _each(function: Callable[[str], Result], names: Iterable[str]) -> Iterator[tuple[str, Result]]:
    """Yield names with what a function returns for them, which threads call: most of it is I/O."""
    every, count = list(names), machine.usable_cores()
    with ThreadPoolExecutor(count) as pool:
        shares = (every[i::count] for i in range(count))
        for results in pool.map(lambda share: [(n, function(n)) for n in share], shares):
            yield from results


def walk(prefix: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the path and status of everything below a folder that is no folder."""
    queue = [""]
    while queue:
        folder = queue.pop()
        with os.scandir(prefix / folder) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    queue.append(name)
                else:
                    yield name, entry.stat(follow_symlinks=False)


def write_manifest(*folders: Path, checked: Digests | None = None) -> None:
    """Write the list of the files that are now in an environment, into the last of its folders.

    An image's environment lies in several folders, one for each layer. checked: digests of files
    that were compared with their packages just now; they are not read again.
    """
    found = {
        name: (folder, status)
        for folder in folders
        for name, status in walk(folder)
        if not name.startswith(CHANGING) and name not in (MANIFEST, READY)
    }

    def row(name: str) -> Row:
        folder, status = found[name]
        return _row(folder / name, status, checked or {})

    body = json.dumps(dict(_each(row, found)), sort_keys=True) + "\n"
    head = json.dumps({"schema": SCHEMA, "sha256": hashlib.sha256(body.encode()).hexdigest()})
    write_atomically(folders[-1] / MANIFEST, f"{head}\n{body}")


def differences(prefix: Path, sound: Path) -> dict[str, str]:
    """Return what is wrong with the files of a folder that the manifest of another one lists.

    "missing" or "changed", by path.
    """
    listed: dict[str, Row] = json.loads((sound / MANIFEST).read_bytes().split(b"\n")[1])
    present = dict(walk(prefix))

    def fault(name: str) -> str:
        if name not in present:
            return "missing"
        try:
            return "" if _row(prefix / name, present[name], {}) == listed[name] else "changed"
        except OSError:
            # A repair replaces what cannot be read.
            return "changed"

    return {name: text for name, text in _each(fault, listed) if text}


def _row(path: Path, status: os.stat_result, known: Digests) -> Row:
    if stat.S_ISLNK(status.st_mode):
        return ["link", os.readlink(path)]  # noqa: PTH115 - as it is written, not normalised
    if not stat.S_ISREG(status.st_mode):
        return ["other"]
    digest = known.get(_identity(status)) or sha256_of(path)
    return ["file", f"{stat.S_IMODE(status.st_mode):o}", status.st_size, digest]
