"""Packages of another channel: solved by its index, brought as locked, and ready to be installed.

Everything about them that is used afterwards is in the lock, or in the packages themselves, whose
SHA-256 the lock has.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import rattler
import zstandard

from stacks.channel import offers as offers_module
from stacks.channel import solve as solver
from stacks.core.disk import explained, scratch
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import make_of_other_channel
from stacks.sources.condarc import Place, conda_web, place_of
from stacks.sources.download import download
from stacks.sources.mirrors import shown
from stacks.sources.web import MissingError, Web
from stacks.variants.variant import Variant, on_other_channel

SUBDIRS = ("linux-64", "noarch")


@dataclass(frozen=True)
class Solution:
    """The packages that satisfy a variant, sorted by name, and the bytes of each by file name."""

    packages: tuple[LockedPackage, ...]
    sizes: dict[str, int]


@dataclass(frozen=True)
class Index:
    """What a channel offers: its repodata.json files, in a folder."""

    place: Place
    folder: Path

    def solve(self, variant: Variant) -> Solution:
        """Return what satisfies a variant; UsageError with the solver's words where nothing can."""
        specs, glibc = variant.conda_specs(), variant.framework.glibc
        records = solver.solve_index(
            self.folder,
            specs,
            glibc,
            f"{variant.id}: {self.place.name}",
            "it may have dropped these versions, or call them otherwise: take another channel",
        )
        packages = tuple(self._locked(record) for record in records)
        sizes = {
            package.file_name: record.size or 0
            for package, record in zip(packages, records, strict=True)
        }
        return Solution(packages, sizes)

    def _locked(self, record: rattler.RepoDataRecord) -> LockedPackage:
        if not (record.sha256 and record.md5 and record.size):
            raise UsageError(
                f"{record.file_name} of {self.place.name} cannot be locked",
                expected="its SHA-256, MD5 and size in the channel's index",
            )
        return LockedPackage(
            name=record.name.normalized,
            version=str(record.version),
            build=str(record.build),
            url=record.url.replace(self.folder.as_uri(), self.place.url, 1),
            sha256=record.sha256.hex(),
            md5=record.md5.hex(),
            depends=tuple(record.depends),
        )


@contextmanager
def index_of(place: Place) -> Iterator[Index]:
    """Bring a channel's index for the time of the block; UsageError where there is none."""
    with scratch() as folder:
        web = conda_web(threading.Event(), place.url)
        for subdir in SUBDIRS:
            (folder / subdir).mkdir()
            _bring_index(web, f"{place.url}/{subdir}", folder / subdir)
        yield Index(place, folder)


def _bring_index(web: Web, url: str, folder: Path) -> None:
    """Bring one subdir's repodata.json, compressed where the server has it so."""
    target, packed = folder / "repodata.json", folder / "repodata.json.zst"
    try:
        try:
            download(web, f"{url}/{packed.name}", packed, None, lambda gained: None)
        except MissingError:
            download(web, f"{url}/{target.name}", target, None, lambda gained: None)
            return
    except MissingError as error:
        raise UsageError(
            f"{shown(url)}: not a conda channel",
            expected=f"{packed.name} or {target.name} there",
            fix="look at the channel's address",
        ) from error
    with explained(target):
        try:
            with packed.open("rb") as source, target.open("wb") as file:
                zstandard.ZstdDecompressor().copy_stream(source, file)
        except zstandard.ZstdError as error:
            raise UsageError(
                f"{shown(url)}/{packed.name}: not a file of zstd's", found=str(error)
            ) from error
    packed.unlink()


def relock(
    workspace: Workspace,
    variants: Sequence[Variant],
    channel: str,
) -> None:
    """Solve the variants on another channel, by its name or address, and write their locks.

    What can be solved is locked. Raises UsageError in the end for each variant that cannot.
    """
    place = place_of(channel)
    pins = offers_module.read_channel(workspace).pins
    refused = []
    with index_of(place) as index:
        for ours in variants:
            try:
                variant = on_other_channel(ours, place.label)
                solution = index.solve(variant)
            except UsageError as error:
                refused.append(error)
                continue
            make_of_other_channel(
                workspace, variant, place.name, solution.packages, solution.sizes, pins
            )
            print(f"  {'locked':<9}{variant.id}", file=sys.stderr)
    if len(refused) == 1:
        raise refused[0]
    if refused:
        raise UsageError("\n".join(error.what for error in refused), fix=refused[0].fix)
