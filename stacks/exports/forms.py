"""The forms by name, and writing one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors, write_atomically
from stacks.core.errors import UsageError
from stacks.exports import (
    apptainer,
    compose,
    conda_lock,
    devcontainer,
    easyconfig,
    environment,
    kernelspec,
    modulefile,
    pixi,
    pylock,
    requirements,
)
from stacks.exports.subject import Export, Subject

FORMS: Mapping[str, Callable[[Subject], Export]] = {
    "conda-lock": conda_lock.export,
    "environment": environment.export,
    "pixi": pixi.export,
    "pylock": pylock.export,
    "requirements": requirements.export,
    "devcontainer": devcontainer.export,
    "apptainer": apptainer.export,
    "modulefile": modulefile.export,
    "easyconfig": easyconfig.export,
    "kernelspec": kernelspec.export,
    "compose": compose.export,
}


def write(export: Export, target: Path) -> Path:
    """Write an export's files and return its path; files with the same bytes stay.

    target: the file; an existing folder for it; for a form of several files the folder. Raises
    UsageError, and writes nothing, if another file is there.
    """
    if export.is_folder:
        paths = {target / name: text for name, text in export.files.items()}
    else:
        [(name, text)] = export.files.items()
        target = target / name if target.is_dir() else target
        paths = {target: text}
    with explain_disk_errors(target):
        for path, text in paths.items():
            same = path.is_file() and path.read_bytes() == text.encode()
            if not same and (path.exists() or path.is_symlink()):
                raise UsageError(
                    f"{display_path(path)} is there already and differs",
                    fix="remove it, or choose another path: --to PATH",
                )
        for path, text in paths.items():
            if not path.exists():
                write_atomically(path, text)
    return target
