"""What docker/Dockerfile builds with, besides a lock's packages: base, Python, tools, this code.

In a build by BuildKit alone, `python -m stacks.image.builder` makes the layers as `./invoke build
--to docker` does: by the same code, and so of the same bytes.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from stacks.core import digest_list, yamlfile
from stacks.core.disk import REPOSITORY, fixed_umask, scratch, sha256_of
from stacks.core.errors import IntegrityError, StacksError
from stacks.core.models import Sha256, Strict
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import install, packages
from stacks.image import base, layout, packing
from stacks.image.packing import compress
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources import unpack
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import CHANNEL, VARIABLE
from stacks.sources.pins import DebPin, read_pins
from stacks.variants.load import load_variant, on_framework
from verify.core import surroundings

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


class BuilderFile(Strict):
    """The content of docker/builder.yaml. sha256: that of the deb's program."""

    suite: str
    deb: str
    sha256: Sha256
    framework: str


def read_builder_file(workspace: Workspace) -> BuilderFile:
    """Return the content of docker/builder.yaml; UsageError if the file is invalid."""
    return yamlfile.load(workspace.root / "docker/builder.yaml", BuilderFile)


def static_pin(workspace: Workspace) -> DebPin:
    """Return the pin of the deb with the static program."""
    content = read_builder_file(workspace)
    return read_pins(workspace.sources_lock).deb(content.suite, content.deb)


def write(workspace: Workspace, folder: Path) -> None:
    """Write the files into the new folder `folder`; the same checkout gives the same bytes.

    Raises FetchError or IntegrityError if a source is not available as pinned, CommandError with
    pip's message if a tool is not, DiskError.
    """
    folder.mkdir(parents=True)
    with scratch() as temporary, fixed_umask():
        _write_static(workspace, folder / STATIC, temporary / "deb")
        tools = temporary / "tools"
        _install_python(workspace, tools)
        _install_libraries(tools)
        for name in NEEDED:
            _copy(workspace.root / name, tools / CHECKOUT / name)
        packing.normalise(tools)
        compress(base.tar(workspace), {TOOLS: tools}, folder)
        (folder / DIGESTS).write_text(digest_list.list_folder(folder))


def _write_static(workspace: Workspace, target: Path, unpacked: Path) -> None:
    """Write the static program; IntegrityError if it is not the one of docker/builder.yaml."""
    pin, expected = static_pin(workspace), read_builder_file(workspace).sha256
    unpack.unpack_deb(fetch(workspace, [pin])[pin], unpacked)
    shutil.copyfile(unpacked / "bin" / STATIC, target)
    target.chmod(0o755)
    if (digest := sha256_of(target)) != expected:
        raise IntegrityError(
            f"{pin.filename} has another {STATIC} than docker/builder.yaml names",
            expected=f"sha256 {expected}",
            found=f"sha256 {digest}",
            fix="after a new pin write what was found into that file and into docker/Dockerfile",
        )


def _install_python(workspace: Workspace, tools: Path) -> None:
    variant = on_framework(workspace, read_builder_file(workspace).framework)[0]
    locked = with_pip(lock.current(workspace, variant))
    parts = packages.parts_of(workspace, variant, locked)
    install.install(workspace.cache / "unpacked", variant, parts, tools, TARGET)


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
        locked, packages=tuple(p for p in locked.packages if p.name in needed), requirements=()
    )


def _install_libraries(tools: Path) -> None:
    """Install requirements.lock with the pip of the tools' Python; pip checks the hashes."""
    pip = ["-I", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile"]
    target, requirements = tools / LIBRARIES, REPOSITORY / REQUIREMENTS
    try:
        call(
            [tools / "bin/python", *pip, *rules, "--target", target, "-r", requirements],
            env=surroundings.pip(os.environ),
        )
    except CommandError as error:
        raise CommandError(
            f"pip could not install the tools for images: {error.what}",
            fix="see pip's message: it takes the index, proxy and CA bundle from your own "
            "configuration (pip config list)",
        ) from error
    # They contain the path of this folder.
    shutil.rmtree(tools / LIBRARIES / "bin", ignore_errors=True)
    for path in (tools / LIBRARIES).glob("*.dist-info/RECORD"):
        path.unlink()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        # Without modes: those of a checkout depend on who made it.
        shutil.copytree(
            source, target, symlinks=True, ignore=NOT_NEEDED, copy_function=shutil.copyfile
        )
    else:
        shutil.copyfile(source, target)


def main(workspace: Workspace, arguments: list[str]) -> None:
    """Make the layers of an image: VARIANT FRAMEWORK CONTEXT TARGET.

    CONTEXT: a vendored folder with the files of write() in its channel.
    """
    name, framework, context, target = arguments
    os.environ[VARIABLE] = context
    with gzip.open(Path(context) / CHANNEL / FOLDER / BASE) as archive:
        base.put(workspace, archive)
    layout.lay_out(workspace, load_variant(workspace, name, framework), Path(target))


if __name__ == "__main__":
    try:
        main(default_workspace(), sys.argv[1:])
    except StacksError as error:
        sys.exit(str(error))
