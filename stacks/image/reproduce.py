"""Proof that an image does not depend on where and how it is made: two, made differently."""

from __future__ import annotations

import filecmp
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import REPOSITORY, explained
from stacks.core.errors import StacksError
from stacks.core.process import attached
from stacks.core.workspace import Workspace, default_workspace
from stacks.image import base as bases
from stacks.image import compressed, layout, manifest, oci
from stacks.image.config import config_of
from stacks.variants.variant import Variant, load_variant


class DifferenceError(StacksError):
    """Two images of the same commit are not the same."""


@dataclass(frozen=True)
class Circumstances:
    """How one of the two is made."""

    folder: str
    umask: int
    cores: int | None
    variables: dict[str, str]


BOTH = (
    Circumstances("one", 0o022, None, {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "1"}),
    Circumstances(
        "the other, elsewhere ü",
        0o077,
        1,
        {"LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2", "PYTHONUTF8": "1"},
    ),
)


def reproduce(workspace: Workspace, variant: Variant) -> str:
    """Make a variant's image twice, each time anew, and return the digest that both have.

    They differ in folder, umask, locale, time zone, hash seed and number of processors; the
    channel's packages come from the cache. Raises DifferenceError naming the first file that
    differs, and how.
    """
    with explained(workspace.build):
        workspace.build.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="reproduce-", dir=workspace.build) as room:
            digests = [make(variant, Path(room), how) for how in BOTH]
            one, other = (Path(room) / how.folder for how in BOTH)
            if digests[0] != digests[1]:
                raise DifferenceError(
                    f"{variant.id}: two images of the same commit differ",
                    expected=digests[0],
                    found=f"{digests[1]}; {_where(one, other)}",
                    fix="what makes this file must not depend on the machine: please report it",
                )
    return digests[0]


def _where(one: Path, other: Path) -> str:
    found = difference(one / "image", other / "image")
    same_base = filecmp.cmp(one / "base.tar", other / "base.tar", shallow=False)
    return found or ("the archives' own form" if same_base else "the base")


def make(variant: Variant, room: Path, how: Circumstances) -> str:
    """Make an image in a process and a folder of its own and return its digest."""
    place = room / how.folder
    place.mkdir()
    cores = how.cores or len(os.sched_getaffinity(0))
    arguments = [variant.name, variant.framework.name, f"{how.umask:o}", str(cores)]
    status = attached(
        [sys.executable, "-m", "stacks.image.reproduce", place, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **how.variables},
    )
    if status != 0:
        raise StacksError(f"{variant.id} could not be made", fix="see its own message above")
    return (place / "digest").read_text()


def main(workspace: Workspace, words: list[str]) -> None:
    """Make one image: FOLDER VARIANT FRAMEWORK UMASK CORES."""
    place, name, framework, umask, cores = words
    os.umask(int(umask, 8))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    variant, folder = load_variant(workspace, name, framework), Path(place)
    layers = layout.lay_out(workspace, variant, folder / "image")
    bases.write(workspace, folder / "base.tar")
    (folder / "packed").mkdir()
    made = compressed.pack(folder / "base.tar", layers, folder / "packed")
    digest = oci.archive(
        folder / "image.tar",
        folder / "packed",
        made,
        config_of(workspace, variant),
        layout.sbom_in(layers),
    )
    (folder / "digest").write_text(digest)


def difference(one: Path, other: Path) -> str | None:
    """Return the first path below two folders that is not the same in both, and what differs."""
    # The marker of readiness is no part of an image.
    for name in sorted({*_names(one), *_names(other)} - {"ready.json", manifest.NAME}):
        first, second = one / name, other / name
        if not os.path.lexists(first) or not os.path.lexists(second):
            return f"{name}: only one has it"
        for what, of_first, of_second in (
            ("its mode", first.lstat().st_mode, second.lstat().st_mode),
            ("its time", first.lstat().st_mtime, second.lstat().st_mtime),
            ("what it leads to", _leads_to(first), _leads_to(second)),
        ):
            if of_first != of_second:
                return f"{name}: {what}: {of_first} and {of_second}"
        if first.is_file() and not filecmp.cmp(first, second, shallow=False):
            return f"{name}: byte {_first_difference(first.read_bytes(), second.read_bytes())}"
    return None


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _leads_to(path: Path) -> Path | None:
    return path.readlink() if path.is_symlink() else None


def _first_difference(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


if __name__ == "__main__":
    try:
        main(default_workspace(), sys.argv[1:])
    except StacksError as error:
        sys.exit(str(error))
