"""Images that another process makes: in a build by docker/Dockerfile, and twice to compare them.

The Dockerfile builds with a lock's packages and with what is written here: base, Python, tools and
this code. `python -m stacks.image.builder` then makes the layers as `./invoke build --to docker`
does: by the same code, and so of the same bytes.
"""

import gzip
import os
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

from stacks.core import records
from stacks.core.disk import (
    REPOSITORY,
    explain_disk_errors,
    fixed_umask,
    sha256_of,
    temporary_folder,
    tmp_folder,
)
from stacks.core.errors import IntegrityError, StacksError
from stacks.core.process import run_attached
from stacks.core.workspace import UNPACKED, Workspace, default_workspace, run_pip
from stacks.environments.make import install, packages
from stacks.image import base, files, layout, oci
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources import unpack
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import CHANNEL, VARIABLE
from stacks.sources.pins import read_pins
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

# In a channel: the folder, its files, and the list of their digests.
FOLDER, STATIC, BASE, TOOLS, DIGESTS = "image", "busybox", "base", "builder", "image.sha256"
FILES = frozenset(f"{FOLDER}/{name}" for name in (STATIC, BASE, TOOLS, DIGESTS))
# Where a build mounts the unpacked tools, and the folders in them.
TARGET = Path("/opt/theano-stacks")
LIBRARIES, CHECKOUT = "libraries", "checkout"
REQUIREMENTS = "requirements.lock"
# What of the checkout decides an image, and what of it is no input.
NEEDED = ("docker", "envs", "recipes", "stacks", "verify", "channels.yaml")
NOT_NEEDED = shutil.ignore_patterns("__pycache__", "*.py[co]", ".*_cache", "Dockerfile")


def write(workspace: Workspace, folder: Path) -> None:
    """Write the files into the new folder `folder`; the same checkout gives the same bytes.

    Raises FetchError or IntegrityError if a source is not available as pinned, CommandError with
    pip's message if a tool is not, DiskError.
    """
    folder.mkdir(parents=True)
    content = base.read_file(workspace)
    pin = read_pins(workspace.sources_lock).deb(content.suite, content.static)
    with tmp_folder() as temporary, fixed_umask():
        write_static(fetch(workspace, [pin])[pin], content.sha256, folder / STATIC)
        tools = temporary / "tools"
        variant = on_framework(workspace, content.framework)[0]
        locked = with_pip(lock.current(workspace, variant))
        to_install = packages.packages_to_install(workspace, variant, locked)
        install.install(workspace.cache / UNPACKED, variant, to_install, tools, TARGET)
        _install_libraries(tools)
        for name in NEEDED:
            copy_without_modes(workspace.root / name, tools / CHECKOUT / name)
        files.normalise(tools)
        files.compress({BASE: base.tar(workspace), TOOLS: tools}, folder)
        (folder / DIGESTS).write_text(records.list_folder(folder))


def write_static(deb: Path, expected: str, target: Path) -> None:
    """Write the static program of a deb; IntegrityError if `expected` is not its SHA-256."""
    with tmp_folder() as folder:
        unpack.unpack_deb(deb, folder)
        shutil.copyfile(folder / "bin" / STATIC, target)
    target.chmod(0o755)
    if (digest := sha256_of(target)) != expected:
        raise IntegrityError(
            f"{deb.name} has another {STATIC} than docker/images.yaml names",
            expected=f"sha256 {expected}",
            found=f"sha256 {digest}",
            fix="after a new pin write what was found into that file and into docker/Dockerfile",
        )


def with_pip(locked: Lock) -> Lock:
    """Return the part of a lock that pip needs: Python, pip, and what these depend on."""
    packages = {package.name: package for package in locked.packages}
    needed, names = set[str](), ["pip"]
    while names:
        name = names.pop()
        if name in packages and name not in needed:
            needed.add(name)
            names += [spec.split()[0] for spec in packages[name].depends]
    return replace(
        locked,
        packages=tuple(package for package in locked.packages if package.name in needed),
        framework_files=(),
        user_files=(),
    )


def _install_libraries(tools: Path) -> None:
    """Install requirements.lock with the pip of the tools' Python; pip checks the hashes."""
    target = tools / LIBRARIES
    run_pip(
        tools / "bin/python",
        ["install", "--no-compile", "--target", target],
        REPOSITORY / REQUIREMENTS,
    )
    # They contain the path of this folder.
    shutil.rmtree(target / "bin", ignore_errors=True)
    for path in target.glob("*.dist-info/RECORD"):
        path.unlink()


def copy_without_modes(source: Path, target: Path) -> None:
    """Copy a file, or a folder's inputs of images: modes of a checkout depend on who made it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(
            source, target, symlinks=True, ignore=NOT_NEEDED, copy_function=shutil.copyfile
        )
    else:
        shutil.copyfile(source, target)


class DifferenceError(StacksError):
    """Two images of the same commit differ."""


# {folder: umask, number of processors (None: all), variables} of the two.
BOTH: dict[str, tuple[int, int | None, dict[str, str]]] = {
    "one": (0o022, None, {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "1"}),
    "another folder ü": (
        0o077,
        1,
        {"LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2", "PYTHONUTF8": "1"},
    ),
}


def reproduce(workspace: Workspace, variant: Variant) -> str:
    """Make a variant's image twice from scratch and return the digest of both.

    Folder, umask, locale, time zone, hash seed and number of processors differ; the channel's
    packages come from the cache. Raises DifferenceError with the first file that differs, and how.
    """
    with explain_disk_errors(workspace.build):
        workspace.build.mkdir(exist_ok=True)
        with temporary_folder(workspace.build, "reproduce-") as temporary:
            one, other = (temporary / name for name in BOTH)
            digest, second = make(variant, one), make(variant, other)
            if digest != second:
                found = difference(one / "image", other / "image")
                raise DifferenceError(
                    f"{variant.id}: two images of the same commit differ",
                    expected=digest,
                    found=f"{second}; {found or 'the base, or the form of the archives'}",
                    fix="please report this file: it must not depend on the machine",
                )
    return digest


def make(variant: Variant, folder: Path) -> str:
    """Make an image in a process of its own, in a new folder named in BOTH; return its digest."""
    folder.mkdir()
    program = [sys.executable, "-m", "stacks.image.builder"]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), **BOTH[folder.name][-1]}
    words = [*program, str(folder), str(variant.file or variant.id)]
    if run_attached(words, cwd=folder, env=env) != 0:
        raise StacksError(f"the image of {variant.id} failed", fix="see the message above")
    return (folder / "digest").read_text()


def difference(one: Path, other: Path) -> str:
    """Return the first path that differs between two folders, and how; "" if none does."""
    names = {path.relative_to(top) for top in (one, other) for path in top.rglob("*")}
    # The record is no part of an image.
    for name in sorted(names - {Path(layout.RECORD)}):
        for fact, another in zip(_facts(one / name), _facts(other / name), strict=False):
            if fact != another:
                return f"{name}: {fact} and {another}"
    return ""


def _facts(path: Path) -> list[str]:
    if not os.path.lexists(path):
        return ["missing"]
    status = path.lstat()
    target = f"link to {path.readlink()}" if path.is_symlink() else "no link"
    facts = [f"mode {status.st_mode:o}", f"time {status.st_mtime}", target]
    return [*facts, f"SHA-256 {sha256_of(path)}"] if stat.S_ISREG(status.st_mode) else facts


def make_layers(workspace: Workspace, name: str, framework: str, context: str, target: str) -> None:
    """Make the layers of a variant in the folder `target`.

    context: a vendored folder with the files of write() in its channel.
    """

    def unpack_base(_: Workspace, path: Path) -> None:
        packed = Path(context) / CHANNEL / FOLDER / BASE
        with gzip.open(packed) as archive, path.open("wb") as file:
            shutil.copyfileobj(archive, file, 1 << 20)

    os.environ[VARIABLE] = context
    base.tar(workspace, unpack_base)
    layout.lay_out(workspace, load_variant(workspace, name, framework), Path(target))


def make_one(workspace: Workspace, path: str, name: str) -> None:
    """Make one of the two images to compare; write its digest beside it."""
    folder, variant = Path(path), load_variant(workspace, name)
    umask, cores, _ = BOTH[folder.name]
    os.umask(umask)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    layers = layout.lay_out(workspace, variant, folder / "image")
    base.write(workspace, folder / "base.tar")
    config = config_of(workspace, variant)
    digest, _ = oci.pack(config, folder / "base.tar", layers, folder / "image.tar")
    (folder / "digest").write_text(digest)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    try:
        (make_layers if len(arguments) == 4 else make_one)(default_workspace(), *arguments)
    except StacksError as error:
        sys.exit(str(error))
