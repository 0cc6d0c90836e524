"""The locked base: a small root made of pinned Debian packages, the same bytes everywhere.

No script of a package is run, so neither root nor Debian is needed to make it. What those scripts
would have written and a container needs is written here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from stacks.core import yamlfile
from stacks.core.disk import REPOSITORY, aside, locked, same_modes, scratch, sha256_of
from stacks.core.models import Strict
from stacks.core.workspace import Workspace
from stacks.image import normalised
from stacks.sources import unpack
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin, read_pins

FILE = REPOSITORY / "docker" / "base.yaml"
# Folders of the root that are links into /usr, as in every Debian since 12.
MERGED = ("bin", "lib", "lib64", "sbin")
# What nobody reads in a container; copyright files stay, as licences demand.
LEFT_OUT = (
    "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian", "usr/share/bug",
    "usr/share/bash-completion", "usr/share/menu", "usr/share/base-files", "usr/share/base-passwd",
    "usr/share/ca-certificates", "usr/share/debianutils", "usr/lib/systemd", "etc/init.d",
    "etc/default", "etc/update-motd.d", "etc/dpkg", "usr/lib/tmpfiles.d", "usr/lib/mime",
)  # fmt: skip
FOLDERS = {
    "boot": 0o755, "dev": 0o755, "etc/ssl/certs": 0o755, "home": 0o755, "media": 0o755,
    "mnt": 0o755, "opt": 0o755, "proc": 0o755, "root": 0o700, "run/lock": 0o755, "srv": 0o755,
    "sys": 0o755, "tmp": 0o1777, "usr/local/bin": 0o755, "var/cache": 0o755, "var/lib": 0o755,
    "var/log": 0o755, "var/tmp": 0o1777,
}  # fmt: skip
# By this an image knows that it lies on this base.
MARKER = "etc/theano-stacks-base"
LINKS = {
    "usr/bin/awk": "mawk",
    "usr/bin/which": "which.debianutils",
    "usr/lib/ssl/cert.pem": "/etc/ssl/certs/ca-certificates.crt",
    "usr/lib/ssl/certs": "/etc/ssl/certs",
    "var/lock": "/run/lock",
    "var/run": "/run",
}
COPIES = {
    "etc/group": "usr/share/base-passwd/group.master",
    "etc/nsswitch.conf": "usr/share/libc-bin/nsswitch.conf",
    "etc/passwd": "usr/share/base-passwd/passwd.master",
    "etc/profile": "usr/share/base-files/profile",
    "root/.bashrc": "usr/share/base-files/dot.bashrc",
    "root/.profile": "usr/share/base-files/dot.profile",
}


class BaseFile(Strict):
    """What docker/base.yaml says: packages of one suite of Debian's archive."""

    suite: str
    debs: tuple[str, ...] = Field(strict=False, min_length=1)


def read() -> BaseFile:
    """Return what the locked base is made of; UsageError where the file is wrong."""
    return yamlfile.load(FILE, BaseFile)


def pins(workspace: Workspace) -> tuple[DebPin, ...]:
    """Return the pins of its packages, in the order of their names."""
    wanted, known = read(), read_pins(workspace.sources_lock)
    return tuple(known.deb(wanted.suite, name) for name in sorted(wanted.debs))


def key(workspace: Workspace) -> str:
    """Return the hash of all that decides its bytes."""
    code = [sha256_of(Path(module)) for module in (__file__, str(normalised.__file__))]
    inputs = [code, [pin.sha256 for pin in pins(workspace)]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def name(workspace: Workspace) -> str:
    """Return the name that the locked base has in an engine; it changes with its content."""
    return f"theano-stacks-base:{key(workspace)[:12]}"


def tar(workspace: Workspace) -> Path:
    """Return the locked base as a tar archive in the cache, made where it is not there.

    Raises FetchError or IntegrityError where a package cannot be had as pinned, DiskError.
    """
    target = workspace.cache / "bases" / f"{key(workspace)}.tar"
    with locked(target, "the base of images"):
        if target.is_file():
            return target
        with aside(target) as made:
            write(workspace, made)
    return target


def write(workspace: Workspace, target: Path) -> None:
    """Make the locked base and write it to the file `target`."""
    wanted = pins(workspace)
    files = fetch(workspace, wanted)
    with scratch() as room, same_modes():
        root = room / "root"
        make(workspace, root, {pin.name: files[pin] for pin in wanted})
        with target.open("wb") as out:
            normalised.write(root, out)


def licences(workspace: Workspace) -> dict[DebPin, tuple[str, ...]]:
    """Return the licences that the copyright file of each of its packages names, if it does."""
    found = {}
    with tarfile.open(tar(workspace)) as archive:
        names = set(archive.getnames())
        for pin in pins(workspace):
            path = f"usr/share/doc/{pin.name}/copyright"
            file = archive.extractfile(path) if path in names else None
            text = file.read().decode("utf-8", "replace") if file else ""
            # Only this format is made for programs to read.
            form = text.startswith("Format:")
            named = re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE) if form else []
            found[pin] = tuple(sorted(set(named)))
    return found


def make(workspace: Workspace, root: Path, debs: Mapping[str, Path]) -> None:
    """Make the base in the folder `root` from debs by their names."""
    for folder in MERGED:
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for name in sorted(debs):
        part = root.with_name(name)
        unpack.unpack_deb(debs[name], part)
        _merge(workspace, part, root)
        shutil.rmtree(part)
        status = root / "var/lib/dpkg/status.d" / name
        status.parent.mkdir(parents=True, exist_ok=True)
        # Where scanners look for the packages of an image that has no dpkg.
        status.write_bytes(unpack.read_control(debs[name]))
    for copy, source in COPIES.items():
        (root / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / source, root / copy)
    certificates = sorted((root / "usr/share/ca-certificates/mozilla").glob("*.crt"))
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / MARKER).touch()
    bundle = b"".join(path.read_bytes() for path in certificates)
    (root / "etc/ssl/certs/ca-certificates.crt").write_bytes(bundle)
    for link, leads_to in LINKS.items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        if (root / link).is_dir():
            (root / link).rmdir()
        (root / link).symlink_to(leads_to)
    for left in LEFT_OUT:
        shutil.rmtree(root / left, ignore_errors=True)
    for path in (root / "usr/share/doc").rglob("*"):
        if path.is_symlink() or (path.is_file() and path.name != "copyright"):
            path.unlink()
    normalised.normalise(root, FOLDERS)


def _merge(workspace: Workspace, part: Path, root: Path) -> None:
    """Move the files of an unpacked package into the root, those of /bin into /usr/bin."""
    for folder, folders, names in os.walk(part):
        here = Path(folder).relative_to(part)
        place = root / ("usr" if here.parts[:1] and here.parts[0] in MERGED else "") / here
        place.mkdir(parents=True, exist_ok=True)
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in (*names, *links):
            (Path(folder) / name).replace(place / name)
