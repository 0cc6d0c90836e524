"""The locked base: a small root file system of pinned Debian packages, the same bytes everywhere.

No package's script runs, so making it needs neither the root user nor Debian. What a container
needs of the files that the scripts would write is written here.
"""

import hashlib
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from stacks.core import yamlfile
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically, sha256_of, tmp_folder
from stacks.core.errors import IntegrityError
from stacks.core.models import Sha256, Strict
from stacks.core.workspace import Workspace
from stacks.image import files
from stacks.sources import unpack
from stacks.sources.archives import HARD_LINK, deb_section, tar_members
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


class ImagesFile(Strict):
    """The content of docker/images.yaml.

    debs: packages of a suite of Debian's archive, which the base is made of. static: the one with
    the program that docker/Dockerfile starts with. sha256: of that program. framework: its Python
    runs the Dockerfile's tools.
    """

    suite: str
    debs: tuple[str, ...] = Field(strict=False, min_length=1)
    static: str
    sha256: Sha256
    framework: str


def read_file(workspace: Workspace) -> ImagesFile:
    """Return the content of docker/images.yaml; UsageError if the file is invalid."""
    return yamlfile.load(workspace.root / "docker/images.yaml", ImagesFile)


def pins(workspace: Workspace) -> tuple[DebPin, ...]:
    """Return the pins of the base's packages, sorted by name."""
    content, locked = read_file(workspace), read_pins(workspace.sources_lock)
    return tuple(locked.deb(content.suite, name) for name in sorted(content.debs))


def key(workspace: Workspace) -> str:
    """Return the hash of everything that decides the base's bytes."""
    inputs = [REVISION, [pin.sha256 for pin in pins(workspace)]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def name(workspace: Workspace) -> str:
    """Return the base's name in an engine, which changes with its content."""
    return f"theano-stacks-base:{key(workspace)[:12]}"


def write(workspace: Workspace, target: Path) -> None:
    """Make the base and write it to the tar archive `target`.

    Raises FetchError or IntegrityError if a package is not available as pinned, DiskError.
    """
    debs = fetch(workspace, pins(workspace))
    with tmp_folder() as folder, fixed_umask():
        make(folder / "root", {pin.name: path for pin, path in debs.items()})
        with target.open("wb") as out:
            files.write(folder / "root", out)


def tar(workspace: Workspace, writer: Callable[[Workspace, Path], None] = write) -> Path:
    """Return the base as a tar archive in the cache.

    writer: writes it to a path if it is missing or damaged; what this raises is raised.
    """
    folder = workspace.cache / "bases" / key(workspace)
    archive, digest = folder / "base.tar", folder / "sha256"
    with hold_lock(folder, "the base of images"):
        try:
            is_sound = sha256_of(archive) == digest.read_text()
        except (OSError, ValueError):
            is_sound = False
        if not is_sound:
            with replace_atomically(folder) as new:
                new.mkdir(parents=True)
                writer(workspace, new / archive.name)
                (new / digest.name).write_text(sha256_of(new / archive.name))
    return archive


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

    A link of a package stands for a path below `root`, never for one of this machine, and nothing
    is written behind one. Raises IntegrityError for debs that do not fit together or lack a file
    that the base needs.
    """
    for folder in MERGED:
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for name in sorted(debs):
        _unpack(debs[name], root)
    for wrong in unpack.leading_out(root, absolute=True):
        raise IntegrityError(
            f"the base cannot be made: {wrong.relative_to(root)} leads out of it, or in a circle",
            expected="links of its packages that lead to what is in the root",
            found=wrong.readlink(),
            fix="pin other versions of the packages: ./invoke pin",
        )
    unpack.make_relative(root)
    for name in debs:
        # Scanners look here for the packages of an image without dpkg.
        _write(root, f"var/lib/dpkg/status.d/{name}", unpack.read_control(debs[name]))
    for copy, source in COPIES.items():
        _write(root, copy, _content(root, source))
    mozilla = "usr/share/ca-certificates/mozilla"
    certificates = sorted(path.name for path in _inside(root, mozilla).glob("*.crt"))
    bundle = b"".join(_content(root, f"{mozilla}/{name}") for name in certificates)
    _write(root, "etc/ssl/certs/ca-certificates.crt", bundle)
    _write(root, MARKER, b"")
    for folder in FOLDERS:
        _inside(root, folder).mkdir(parents=True, exist_ok=True)
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
    files.normalise(root, FOLDERS)


def _unpack(deb: Path, root: Path) -> None:
    """Unpack a deb by the rules of unpack.py, but its files of /bin into /usr/bin."""

    def merged(path: str) -> str:
        name = unpack.checked_path(path)
        return f"usr/{name}" if name.partition("/")[0] in MERGED else name

    with unpack.reported(f"{deb.name} does not fit the packages before it"), deb.open("rb") as file:
        tree = unpack.Tree(root, replaces=True)
        for member in tar_members(deb_section(file, "data.tar"), unpack.limit_of(deb)):
            # A symbolic link names a path of the root, in which /bin is a link.
            target = merged(member.target) if member.kind == HARD_LINK else member.target
            tree.add(replace(member, name=merged(member.name), target=target))


def _inside(root: Path, name: str) -> Path:
    """Return the path without links that a name stands for in a root whose links are relative."""
    return Path(os.path.realpath(root / name))


def _write(root: Path, name: str, data: bytes) -> None:
    path = _inside(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _content(root: Path, name: str) -> bytes:
    path = _inside(root, name)
    if not path.is_file():
        raise IntegrityError(
            f"the base cannot be made: its packages have no {name}",
            fix="add the package that has it to docker/images.yaml, or pin another version",
        )
    return path.read_bytes()
