"""The packages of an environment: those of its lock, and what a lock cannot have."""

import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.version import Version

from stacks.channel import package
from stacks.channel.build import MissingPackagesError, build_packages, check_bytes, obtain_packages
from stacks.channel.candidates import Channel, read_channel, with_settings
from stacks.channel.package import Built
from stacks.channel.recipe import Recipe
from stacks.channel.staging.binaries import EXPECTED, UserTarball
from stacks.channel.staging.tree import installed
from stacks.core.console import step
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import check_is_file, expanded
from stacks.core.workspace import Workspace
from stacks.core.yamlfile import load
from stacks.environments.folders import unlocked
from stacks.environments.make import settings
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources.conda_archive import Archive, Entry, read_archive
from stacks.sources.fetch import fetch
from stacks.sources.pins import LockedPackage, Pins
from stacks.variants.variant import AMDLIBM, Variant


@dataclass(frozen=True)
class PackageToInstall:
    """A conda package of an environment: its address in its channel, and its archive."""

    url: str
    built: Built

    @property
    def index(self) -> dict[str, Any]:
        """The package's index.json. Raises what `archive` raises."""
        return dict(self.archive.index)

    @property
    def name(self) -> str:
        """The package's name."""
        return str(self.index["name"])

    @property
    def file_name(self) -> str:
        """The archive's name in its channel."""
        return self.url.rsplit("/", 1)[-1]

    @property
    def stem(self) -> str:
        """The archive's name without suffix, as in the name of its conda-meta record."""
        return self.file_name.removesuffix(".conda").removesuffix(".tar.bz2")

    @cached_property
    def archive(self) -> Archive:
        """What the archive installs. Raises IntegrityError if it is not safe to install."""
        return read_archive(self.built.path)

    def unpack(self, folder: Path) -> None:
        """Unpack the archive into a new folder. Raises what `archive` raises, and DiskError."""
        # What was unpacked is what is checked later: one pass over the archive gives both.
        self.__dict__["archive"] = read_archive(self.built.path, folder)

    def files(self, python: str) -> dict[str, Entry]:
        """Return each file by its path in an environment with this version of Python.

        Raises IntegrityError if two files get one path.
        """
        if self.index.get("noarch") != "python":
            return dict(self.archive.files)
        files: dict[str, Entry] = {}
        for name, entry in self.archive.files.items():
            path = installed(name, python)
            if path in files:
                raise IntegrityError(
                    f"{self.file_name} is refused: two files are installed as {path}",
                    fix="lock another build of this package, or take it from another channel",
                )
            files[path] = entry
        return files


def packages_to_install(
    workspace: Workspace, variant: Variant, locked: Lock, *, from_sources: bool = False
) -> list[PackageToInstall]:
    """Return a lock's packages: from the cache, else from a place, else built from sources.

    from_sources: build all that this code has not built on this machine, and compare the bytes.
    What only our channel has comes after another channel's packages, whose lock does not have it.
    Files for pip are fetched too. Raises UsageError if this machine cannot run the packages, or if
    some are nowhere; FetchError or IntegrityError.
    """
    check_host(spec for package in locked.packages for spec in package.depends)
    channel = with_settings(read_channel(workspace), [variant])
    if variant.channel:
        with step("packages", f"{len(locked.packages)} from {locked.channel}"):
            found = _moved(locked)
            paths = fetch(workspace, found)
            to_install = [
                PackageToInstall(each.url, Built(paths[each], each.sha256)) for each in found
            ]
            return to_install + _unlocked(workspace, variant, channel.pins, to_install)
    packages, files = locked.packages, locked.requirements
    if from_sources:
        if unknown := [each for each in packages if each.filename not in channel.candidates]:
            raise MissingPackagesError(unknown, locked.made_by)
        candidates = [channel.candidates[package.filename] for package in packages]
        built = build_packages(workspace, channel, candidates, files)
        check_bytes(packages, built)
    else:
        built = obtain_packages(workspace, channel, packages, files, locked.made_by)
    _note_newer(variant, channel, locked)
    return [PackageToInstall(package.url, built[package.filename]) for package in packages]


def _note_newer(variant: Variant, channel: Channel, locked: Lock) -> None:
    """Print the names of locked packages that the recipes give in another version or build."""
    names = {candidate.recipe.package.name for candidate in channel.candidates.values()}
    other = [
        package.name
        for package in locked.packages
        if package.name in names and package.filename not in channel.candidates
    ]
    if other:
        command = f"{lock.command_of(variant)}{' --upgrade' if variant.file else ''}"
        print(
            f"note: this version has other builds of {', '.join(other)}; `{command}` takes them",
            file=sys.stderr,
        )


def _moved(lock: Lock) -> list[LockedPackage]:
    """Return a lock's packages with the addresses to which the channel's name leads today."""
    # Loaded here: it imports an HTTP library and conda's own code.
    from stacks.sources.condarc import channel_address

    channel = channel_address(lock.channel).url
    urls = {each: f"{channel}/{each.subdir}/{each.filename}" for each in lock.packages}
    return [replace(each, moved=url if url != each.url else "") for each, url in urls.items()]


def _unlocked(
    workspace: Workspace, variant: Variant, pins: Pins, locked: Sequence[PackageToInstall]
) -> list[PackageToInstall]:
    """Return the unlocked packages for an environment of locked ones, built where not cached."""
    files = (name for package in locked for name in package.files(variant.framework.python))
    compiler = settings.compiler_among(files)
    return [
        PackageToInstall(candidate.url, package.build(workspace, candidate, pins))
        for candidate in unlocked(workspace, variant, compiler)
    ]


def user_packages(workspace: Workspace, variant: Variant) -> dict[str, PackageToInstall]:
    """Return the user's own packages by the names of the locked packages that they replace.

    That is AMD's library for the compatible one, if the variant has that and the variable names
    AMD's archive. Raises UsageError if the file is not that archive.
    """
    if variant.libm != "amdlibm":
        return {}
    recipe = load(workspace.recipes / "amdlibm" / "recipe.yaml", Recipe)
    assert isinstance(recipe.extra, UserTarball)
    variable = recipe.extra.variable
    archive = os.environ.get(variable)
    if not archive:
        return {}
    tarball = expanded(archive).absolute()
    check_is_file(tarball, f"{variable}: {tarball}")
    try:
        sha256 = sha256_of(tarball)
    except OSError as error:
        raise UsageError(
            f"{variable}: {tarball}: {error.strerror}",
            expected=EXPECTED,
            fix=f"correct {variable}, or unset it to use {AMDLIBM}",
        ) from error
    named = recipe.package.model_copy(update={"version": _version_of(tarball.name)})
    recipe = recipe.model_copy(update={"package": named})
    candidate, built = package.build_user_package(workspace, recipe, tarball)
    print(
        f"  {'unlocked':<9}{named.name} {named.version} from {variable} in place of "
        f"{AMDLIBM}; sha256 {sha256}",
        file=sys.stderr,
    )
    return {AMDLIBM: PackageToInstall(candidate.url, built)}


def _version_of(name: str) -> str:
    """Return the version in an archive's name, 0 if there is none."""
    match = re.search(r"[-_](\d+(?:[.-]\d+)*)(?=[._-]|$)", name)
    return match[1].replace("-", ".") if match else "0"


def check_host(needs: Iterable[str]) -> None:
    """Raise UsageError if the machine's CPU, system or C library cannot run packages.

    needs: the match specs of their dependencies.
    """
    machine = f"{platform.system()} on {platform.machine()}"
    if machine != "Linux on x86_64":
        raise UsageError(
            "environments run only on Linux on x86_64",
            found=machine,
            fix="use such a machine, a virtual machine or a container of that kind",
        )
    name, version = platform.libc_ver()
    found = (re.match(r"__glibc >=([\d.]+)(,|$)", spec) for spec in needs)
    floor = max((match[1] for match in found if match), key=Version, default="0")
    if name != "glibc" or Version(version) < Version(floor):
        raise UsageError(
            "the environment cannot run on this system's C library",
            expected=f"glibc {floor} or newer",
            found=f"{name} {version}".strip() or "another C library (musl?)",
            fix="use a newer system, or a container with one",
        )
