"""The locked base: a small root file system of pinned Debian packages, the same bytes everywhere.

No package's script runs, so making it needs neither the root user nor Debian. What a container
needs of the files that the scripts would write is written here.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import Field

from stacks.core import yamlfile
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically, scratch, sha256_of
from stacks.core.errors import IntegrityError
from stacks.core.models import Strict
from stacks.core.workspace import Workspace
from stacks.image import packing
from stacks.sources import unpack
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin, read_pins

# Folders of the root that are links into /usr, as in every Debian since 12.
MERGED = ("bin", "lib", "lib64", "sbin")
# Unused in a container. Copyright files stay, because the licences require them.
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
# Raised when the same packages give other bytes than before: a base in the cache is made again.
REVISION = 1
# In the cache: the base, and its SHA-256 when it was made.
ARCHIVE, DIGEST = "base.tar", "sha256"
# Its presence tells an image that it lies on this base.
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
    """The content of docker/base.yaml: packages of one suite of Debian's archive."""

    suite: str
    debs: tuple[str, ...] = Field(strict=False, min_length=1)


def read_base_file(workspace: Workspace) -> BaseFile:
    """Return the content of docker/base.yaml; UsageError if the file is invalid."""
    return yamlfile.load(workspace.root / "docker/base.yaml", BaseFile)


def pins(workspace: Workspace) -> tuple[DebPin, ...]:
    """Return the pins of the base's packages, sorted by name."""
    content, locked = read_base_file(workspace), read_pins(workspace.sources_lock)
    return tuple(locked.deb(content.suite, name) for name in sorted(content.debs))


def key(workspace: Workspace) -> str:
    """Return the hash of everything that decides the base's bytes."""
    inputs = [REVISION, [pin.sha256 for pin in pins(workspace)]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def name(workspace: Workspace) -> str:
    """Return the base's name in an engine, which changes with its content."""
    return f"theano-stacks-base:{key(workspace)[:12]}"


def tar(workspace: Workspace) -> Path:
    """Return the base as a tar archive in the cache, made if it is missing or damaged.

    Raises FetchError or IntegrityError if a package is not available as pinned, DiskError.
    """
    return _stored(workspace, lambda target: write(workspace, target))


def put(workspace: Workspace, archive: io.BufferedIOBase) -> None:
    """Put the base, a tar archive that this code made elsewhere, into the cache."""

    def copy(target: Path) -> None:
        with target.open("wb") as file:
            shutil.copyfileobj(archive, file, 1 << 20)

    _stored(workspace, copy)


def _stored(workspace: Workspace, write_to: Callable[[Path], None]) -> Path:
    folder = workspace.cache / "bases" / key(workspace)
    with hold_lock(folder, "the base of images"):
        if not _is_sound(folder):
            with replace_atomically(folder) as new:
                new.mkdir(parents=True)
                write_to(new / ARCHIVE)
                (new / DIGEST).write_text(sha256_of(new / ARCHIVE))
    return folder / ARCHIVE


def _is_sound(folder: Path) -> bool:
    """Return whether a folder of the cache has a base with the digest that was noted for it."""
    try:
        return sha256_of(folder / ARCHIVE) == (folder / DIGEST).read_text()
    except (OSError, ValueError):
        return False


def write(workspace: Workspace, target: Path) -> None:
    """Make the base and write it to the tar archive `target`."""
    files = fetch(workspace, pins(workspace))
    with scratch() as folder, fixed_umask():
        root = folder / "root"
        make(root, {pin.name: path for pin, path in files.items()})
        with target.open("wb") as out:
            packing.write(root, out)


def licences(workspace: Workspace) -> dict[DebPin, tuple[str, ...]]:
    """Return the licences that each package's copyright file names in a machine-readable way."""
    licences_by_pin = {}
    with tarfile.open(tar(workspace)) as archive:
        names = set(archive.getnames())
        for pin in pins(workspace):
            path = f"usr/share/doc/{pin.name}/copyright"
            file = archive.extractfile(path) if path in names else None
            text = file.read().decode("utf-8", "replace") if file else ""
            # Debian's machine-readable format (DEP 5) begins so.
            readable = text if text.startswith("Format:") else ""
            named = re.findall(r"^License: *(\S.*?) *$", readable, re.MULTILINE)
            licences_by_pin[pin] = tuple(sorted(set(named)))
    return licences_by_pin


def make(root: Path, debs: Mapping[str, Path]) -> None:
    """Make the base in the folder `root` from debs, by package name.

    A link of a package stands for a path below `root`, never for one of this machine. Raises
    IntegrityError for debs that do not fit together or lack a file that the base needs.
    """
    for folder in MERGED:
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for name in sorted(debs):
        unpacked = root.with_name(name)
        unpack.unpack_deb(debs[name], unpacked)
        _merge(unpacked, root, debs[name])
        unpack.make_relative(root)
        shutil.rmtree(unpacked)
        # Scanners look here for the packages of an image without dpkg.
        _write(root, f"var/lib/dpkg/status.d/{name}", unpack.read_control(debs[name]))
    for copy, source in COPIES.items():
        _write(root, copy, _content(root, source))
    mozilla = "usr/share/ca-certificates/mozilla"
    certificates = sorted(path.name for path in _inside(root, mozilla).glob("*.crt"))
    bundle = b"".join(_content(root, f"{mozilla}/{name}") for name in certificates)
    for folder in FOLDERS:
        _inside(root, folder).mkdir(parents=True, exist_ok=True)
    for name, data in ((MARKER, b""), ("etc/ssl/certs/ca-certificates.crt", bundle)):
        _write(root, name, data)
    for link, destination in LINKS.items():
        path = _inside(root, str(Path(link).parent)) / Path(link).name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.symlink_to(destination)
    for folder in LEFT_OUT:
        shutil.rmtree(_inside(root, folder), ignore_errors=True)
    for path in _inside(root, "usr/share/doc").rglob("*"):
        if path.is_symlink() or (path.is_file() and path.name != "copyright"):
            path.unlink()
    packing.normalise(root, FOLDERS)


def _inside(root: Path, name: str) -> Path:
    """Return the path without links that a name stands for in a root whose links are relative."""
    path = Path(os.path.realpath(root / name))
    # A circle is left as it is.
    if path.is_symlink() or not path.is_relative_to(root.resolve()):
        raise IntegrityError(
            f"the base cannot be made: {name} is not inside of its root",
            expected="links of its packages that lead to what is in the root",
            found=path,
            fix="pin other versions of the packages: ./invoke pin",
        )
    return path


def _write(root: Path, name: str, data: bytes) -> None:
    path = _inside(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _content(root: Path, name: str) -> bytes:
    path = _inside(root, name)
    if not path.is_file():
        raise IntegrityError(
            f"the base cannot be made: its packages have no {name}",
            fix="add the package that has it to docker/base.yaml, or pin another version",
        )
    return path.read_bytes()


def _merge(unpacked: Path, root: Path, deb: Path) -> None:
    """Move an unpacked package's files into the root, those of /bin into /usr/bin."""
    for folder, folders, names in os.walk(unpacked):
        relative = Path(folder).relative_to(unpacked)
        above = "usr" if relative.parts and relative.parts[0] in MERGED else ""
        target = _inside(root, str(Path(above, relative)))
        symlinks = [name for name in folders if (Path(folder) / name).is_symlink()]
        try:
            target.mkdir(parents=True, exist_ok=True)
            for name in (*names, *symlinks):
                (Path(folder) / name).replace(target / name)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            raise IntegrityError(
                f"{deb.name} does not fit the packages before it: "
                f"{Path(error.filename2 or error.filename).relative_to(root.resolve())}",
                expected="a file where they have a file, a folder where they have a folder",
                found=error.strerror,
                fix="pin another version of this package: ./invoke pin",
            ) from error
