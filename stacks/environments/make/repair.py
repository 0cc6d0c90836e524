"""Putting back the files of an environment that are not the locked ones."""

from __future__ import annotations

import glob
import itertools
import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.core.disk import fixed_umask, hold_lock, temporary_folder, write_atomically
from stacks.core.process import call
from stacks.core.workspace import Workspace
from stacks.environments.folders import READY
from stacks.environments.make import manifest, prefix
from stacks.environments.make.part import Part
from stacks.environments.suite import OWN_PYTHON, SUITE
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant


def folder_of_replaced(target: Path) -> Path:
    """Return the folder that keeps what a repair takes out of an environment."""
    # A link may lead to another file system.
    place = target.resolve()
    return place.with_name(f"{place.name}.replaced")


def repair(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    parts: Sequence[Part],
    target: Path,
    own: Mapping[str, Part],
) -> dict[str, str]:
    """Make the environment `target` equal to its lock again; leave what the user has added.

    A sound environment is made beside it, and only files that differ are moved from there. A kill
    leaves some of them for the next repair. Nothing is deleted but what Python has compiled: what
    stood in their place, and files that neither a package nor the user put there, go to
    folder_of_replaced().

    own: as for prefix.make. Returns what was wrong, by path: "changed", "missing" or "extra".
    """
    prefix.check_parts(lock, parts)
    with (
        hold_lock(target, f"the environment {variant.id}"),
        fixed_umask(),
        temporary_folder(target.resolve().parent, f".{target.name}.", ".part") as folder,
    ):
        sound = folder / target.name
        parts = [own.get(part.name, part) for part in parts]
        modules = workspace.cache / prefix.MODULES
        prefix.fill(workspace, variant, lock, parts, sound, target, modules)
        aside = folder_of_replaced(target)
        _open_folders(target)
        faults = manifest.differences(target, sound)
        for name in faults:
            _put_back(sound, target, name, aside)
        if not os.path.lexists(target / "var"):
            (sound / "var").rename(target / "var")
        _put_manifest(sound, target, aside)
        extra = _extra(target)
        for name in extra:
            _move_aside(target, name, aside)
        ready = prefix.marker(workspace, variant, lock, target, own)
        write_atomically(target / READY, ready)
    return faults | dict.fromkeys(extra, "extra")


def _put_back(sound: Path, target: Path, name: str, aside: Path) -> None:
    """Move a file from the sound environment to its place; first move aside what stands there."""
    outer = Path(name).parents
    for folder in [str(each) for each in reversed(outer) if each != Path()]:
        # Never write through a link that stands in a folder's place.
        if os.path.lexists(target / folder) and not _is_folder(target / folder):
            _move_aside(target, folder, aside)
        (target / folder).mkdir(exist_ok=True)
    if os.path.lexists(target / name):
        _move_aside(target, name, aside)
    (sound / name).rename(target / name)
    _drop_bytecode(target / name)


def _drop_bytecode(module: Path) -> None:
    """Remove what Python has compiled of a module: every file here has one time, so it stays valid.

    Python 2 compares the time alone, Python 3 the size too.
    """
    if module.suffix != ".py":
        return
    folder = module.parent / "__pycache__"
    compiled = [module.with_suffix(suffix) for suffix in (".pyc", ".pyo")]
    if _is_folder(folder):
        compiled += folder.glob(f"{glob.escape(module.stem)}.*.pyc")
    for path in compiled:
        if not _is_folder(path):
            path.unlink(missing_ok=True)


def _put_manifest(sound: Path, target: Path, aside: Path) -> None:
    """Replace the manifest; a kill leaves the old one or the new one."""
    (target / manifest.NAME).parent.mkdir(parents=True, exist_ok=True)
    if (target / manifest.NAME).is_dir():
        _move_aside(target, manifest.NAME, aside)
    (sound / manifest.NAME).replace(target / manifest.NAME)


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


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _move_aside(target: Path, name: str, aside: Path) -> None:
    roots = itertools.chain([aside], (aside / f"{number}" for number in itertools.count(2)))
    place = next(root / name for root in roots if _is_free(root, name))
    place.parent.mkdir(parents=True, exist_ok=True)
    (target / name).rename(place)


def _is_free(root: Path, name: str) -> bool:
    """Return whether a path can be put below a folder; a link there is never followed."""
    outer = [root / each for each in Path(name).parents]
    return not os.path.lexists(root / name) and all(
        _is_folder(each) or not os.path.lexists(each) for each in outer
    )


def _extra(target: Path) -> list[str]:
    """Return the paths of files that neither a package nor the user put into an environment."""
    words: list[str | Path] = [*OWN_PYTHON, SUITE, "files", "--prefix", target, "--list-extra"]
    names: list[str] = json.loads(call(words))
    return names
