"""An environment on disk: made from its lock in a temporary folder, checked, renamed."""

import itertools
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from stacks.core.console import as_typed
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically
from stacks.core.errors import DiskError
from stacks.core.process import quoted
from stacks.core.workspace import UNPACKED, Workspace
from stacks.environments import folders
from stacks.environments.folders import READY
from stacks.environments.make import (
    additions,
    contents,
    install,
    pip_install,
    settings,
    user_packages,
)
from stacks.environments.make.contents import RECORDS, walk
from stacks.environments.make.packages import PackageToInstall
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
from stacks.variants.variant import Variant

# What Python makes again: a repair keeps none of it.
BYTECODE = (".pyc", ".pyo")
# A conda client's log of what it has installed: no package has it.
HISTORY = f"{RECORDS}/history"


@dataclass(frozen=True)
class Making:
    """What an environment is made from, and the folder where it is to be.

    to_install: the locked packages in the lock's order, and what a lock cannot have. own: the
    user's packages, by the names of the locked packages that they replace.
    """

    workspace: Workspace
    variant: Variant
    lock: Lock
    to_install: Sequence[PackageToInstall]
    target: Path
    own: Mapping[str, PackageToInstall] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The environment's key."""
        return folders.key_of(self.workspace, self.variant, self.lock, self.target)


def make(making: Making, *, clean: bool = False) -> list[str]:
    """Make an environment in its folder, in place of the old one.

    clean: make it again if it is ready, and leave out what the user has added by pip or uv. Returns
    lines that say what of that is kept, and what is not. Raises IntegrityError if a file is not the
    locked one; then the folder stays as it was.
    """
    variant, target = making.variant, making.target
    with hold_lock(target, f"the environment {variant.id}"):
        if not clean and folders.is_made(target, making.key, digests(making.own)):
            return []
        with _made_anew(making) as new:
            if clean:
                return []
            command = as_typed(f"./invoke run {variant.option} -- pip install")
            return additions.carry_over(target, new, variant.framework.python, command)


def repair(making: Making) -> dict[str, str]:
    """Make an environment anew, with all that the user has added and compiled in it.

    Nothing is deleted but what Python has compiled: files that are not the locked ones, and those
    that neither a package nor the user put there, go to a new folder in folders.replaced_folder().
    Returns what was wrong, by path: "changed", "missing" or "extra".
    """
    variant, target = making.variant, making.target
    with hold_lock(target, f"the environment {variant.id}"), _made_anew(making) as new:
        _open_folders(target)
        numbered = (folders.replaced_folder(target) / str(n) for n in itertools.count(1))
        aside = next(folder for folder in numbered if not os.path.lexists(folder))
        blocking = _in_place_of_folders(target)
        _move_aside(target, blocking, aside)
        faults = contents.differences(target, new) | dict.fromkeys(blocking, "extra")
        for name in _users_files(target, new, variant.framework.python):
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).unlink(missing_ok=True)
            pip_install.link_or_copy(target / name, new / name)
        expected = {name for name, _ in walk(new)}
        for name, status in list(walk(target)):
            is_var = name.startswith("var/") or (name == "var" and stat.S_ISLNK(status.st_mode))
            if not (name in expected or name.endswith(BYTECODE) or is_var):
                faults[name] = "extra"
        _move_aside(target, faults, aside)
        _keep_compiled(target / "var", new / "var")
    return faults


@contextmanager
def _made_anew(making: Making) -> Iterator[Path]:
    """Give a new, complete environment for the block, which then replaces the one at its folder."""
    # A link to a larger disk stays.
    with fixed_umask(), replace_atomically(Path(os.path.realpath(making.target))) as new:
        fill(making, new, making.workspace.cache)
        (new / READY).write_text(folders.mark(making.key, digests(making.own)))
        yield new


def _in_place_of_folders(target: Path) -> list[str]:
    """Return what is no folder where the manifest needs one: links would lead to other files."""
    outer = {str(folder) for folder in Path(contents.MANIFEST).parents}
    below = f"{contents.MANIFEST}/"
    return [name for name, _ in walk(target) if name in outer or name.startswith(below)]


def _users_files(target: Path, new: Path, python: str) -> Iterator[str]:
    """Yield the files of the packages that the user has added, and a conda client's log.

    Where the environment's list of locked files is missing or damaged, the new one's replaces it.
    """
    status = dict(walk(target)).get(HISTORY)
    if status and stat.S_ISREG(status.st_mode):
        yield HISTORY
    listed = target / contents.MANIFEST
    added = None if listed.is_symlink() or not listed.is_file() else additions.added_to(target)
    if added is None:
        listed.parent.mkdir(parents=True, exist_ok=True)
        if listed.is_dir() and not listed.is_symlink():
            shutil.rmtree(listed)
        listed.unlink(missing_ok=True)
        shutil.copy2(new / contents.MANIFEST, listed)
        added = additions.added_to(target) or []
    expected = json.loads((new / settings.EXPECTATION).read_bytes())
    names = [package["name"] for package in expected["packages"]]
    names += settings.installed(new / f"lib/python{python}/site-packages")
    locked = set(map(canonicalize_name, names))
    for name in (name for each in added if each.key not in locked for name in each.files):
        if not os.path.lexists(new / name):
            yield name


def _keep_compiled(old: Path, new: Path) -> None:
    """Put what the user's programs have compiled into the new environment.

    It stays in the old one too: that one is deleted only once the new one is in its place.
    """
    if not os.path.lexists(old):
        return
    shutil.rmtree(new, ignore_errors=True)
    if old.is_symlink():
        new.symlink_to(old.readlink())
    else:
        try:
            shutil.copytree(old, new, symlinks=True, copy_function=pip_install.link_or_copy)
        except shutil.Error as error:
            # A running program may remove a file meanwhile.
            if left := [source for source, *_ in error.args[0] if os.path.lexists(source)]:
                raise DiskError(
                    f"{old}: what you have compiled cannot be kept: {left[0]} cannot be read",
                    fix=f"give yourself access: chmod -R u+rwX {quoted([old])}",
                ) from error


def _move_aside(target: Path, names: Iterable[str], aside: Path) -> None:
    """Move those of the files that an environment has to a folder."""
    present = {name for name, _ in walk(target)}
    for name in present.intersection(names):
        (aside / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).rename(aside / name)


def _open_folders(target: Path) -> None:
    """Give the owner access to the folders of an environment; not below var, the user's."""
    target.chmod(target.stat().st_mode | stat.S_IRWXU)
    for parent, names, _ in os.walk(target):
        if Path(parent) == target and "var" in names:
            names.remove("var")
        for name in names:
            folder = Path(parent, name)
            mode = folder.lstat().st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                folder.chmod(mode | stat.S_IRWXU)


def digests(own: Mapping[str, PackageToInstall]) -> dict[str, str]:
    """Return the SHA-256 of each of the user's packages."""
    return {name: package.built.sha256 for name, package in own.items()}


def fill(making: Making, prefix: Path, cache: Path | None = None) -> None:
    """Make an environment in the new folder `prefix`, to be renamed to its own.

    To be called under a fixed umask.

    cache: where it shares with others what is compiled, if it does. Raises
    IntegrityError if a file is not the locked one, or a package is not safe to install.
    """
    workspace, variant, lock = making.workspace, making.variant, making.lock
    to_install = [making.own.get(package.name, package) for package in making.to_install]
    checked = install.install(
        workspace.cache / UNPACKED, variant, to_install, prefix, making.target
    )
    files = fetch(workspace, lock.framework_files)
    pip_install.install(prefix, {pin: files[pin] for pin in lock.framework_files})
    if lock.user_files:
        user_packages.add(workspace, prefix, lock, variant.framework.python)
    listed = [
        (package.name, package.index["version"], package.built.sha256, "conda")
        for package in to_install
    ] + [(pin.name, pin.version, pin.sha256, "pip") for pin in lock.requirements]
    keys = ("name", "version", "sha256", "manager")
    packages = [dict(zip(keys, each, strict=True)) for each in listed]
    settings.write(variant, prefix, making.target, packages, cache)
    contents.write_manifest(prefix, checked=checked)
