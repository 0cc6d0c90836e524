"""A test that an image does not depend on where and how it is made: two, made differently."""

from __future__ import annotations

import filecmp
import os
import sys
import tempfile
from pathlib import Path

from stacks.core.disk import REPOSITORY, explain_disk_errors
from stacks.core.errors import StacksError
from stacks.core.process import run_attached
from stacks.core.workspace import Workspace, default_workspace
from stacks.image import base, layout, oci
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant


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
        with tempfile.TemporaryDirectory(prefix="reproduce-", dir=workspace.build) as temporary:
            one, other = (Path(temporary) / name for name in BOTH)
            digests = [make(variant, folder, *BOTH[folder.name]) for folder in (one, other)]
            if digests[0] != digests[1]:
                where = difference(one / "image", other / "image")
                if not where:
                    same = filecmp.cmp(one / "base.tar", other / "base.tar", shallow=False)
                    where = "the form of the archives" if same else "the base"
                raise DifferenceError(
                    f"{variant.id}: two images of the same commit differ",
                    expected=digests[0],
                    found=f"{digests[1]}; {where}",
                    fix="please report this file: it must not depend on the machine",
                )
    return digests[0]


def make(
    variant: Variant, folder: Path, umask: int, cores: int | None, variables: dict[str, str]
) -> str:
    """Make an image in a process and a new folder of its own and return its digest."""
    folder.mkdir()
    cores = cores or len(os.sched_getaffinity(0))
    arguments = [str(variant.file or variant.id), f"{umask:o}", str(cores)]
    status = run_attached(
        [sys.executable, "-m", "stacks.image.reproduce", folder, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **variables},
    )
    if status != 0:
        raise StacksError(f"the image of {variant.id} failed", fix="see the message above")
    return (folder / "digest").read_text()


def main(workspace: Workspace, arguments: list[str]) -> None:
    """Make one image: FOLDER VARIANT UMASK CORES."""
    path, name, umask, cores = arguments
    os.umask(int(umask, 8))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    variant, folder = load_variant(workspace, name), Path(path)
    made = layout.lay_out(workspace, variant, folder / "image")
    base.write(workspace, folder / "base.tar")
    below = oci.Lower(base.name(workspace), folder / "base.tar", is_locked=True)
    digests = oci.pack(workspace, variant, made, folder / "image.tar", below)
    (folder / "digest").write_text(digests.manifest)


def difference(one: Path, other: Path) -> str | None:
    """Return the first path that differs between two folders, and how; None if none does."""
    names = {str(path.relative_to(top)) for top in (one, other) for path in top.rglob("*")}
    # The record is no part of an image.
    for name in sorted(names - {layout.RECORD}):
        first, second = one / name, other / name
        if not os.path.lexists(first) or not os.path.lexists(second):
            return f"{name}: only in one"
        before, after = (_properties(path) for path in (first, second))
        for what, value in before.items():
            if value != after[what]:
                return f"{name}: {what}: {value} and {after[what]}"
        if first.is_file() and not filecmp.cmp(first, second, shallow=False):
            pairs = enumerate(zip(first.read_bytes(), second.read_bytes(), strict=False))
            return f"{name}: byte {next((n for n, (a, b) in pairs if a != b), 'at its end')}"
    return None


def _properties(path: Path) -> dict[str, object]:
    status = path.lstat()
    target = path.readlink() if path.is_symlink() else None
    return {"its mode": status.st_mode, "its time": status.st_mtime, "its target": target}


if __name__ == "__main__":
    try:
        main(default_workspace(), sys.argv[1:])
    except StacksError as error:
        sys.exit(str(error))
