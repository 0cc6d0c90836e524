"""Locks of another channel's packages, solved with its index."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import rattler
import zstandard

from stacks.channel import solve as solver
from stacks.channel.offers import read_channel
from stacks.core.disk import explain_disk_errors, scratch
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import make_of_other_channel
from stacks.sources.condarc import ChannelAddress, channel_address, conda_web
from stacks.sources.download import LARGEST_FILE, download
from stacks.sources.mirrors import public_url
from stacks.sources.web import MissingError, Web
from stacks.variants.variant import Variant, on_other_channel

SUBDIRS = ("linux-64", "noarch")


@dataclass(frozen=True)
class Solution:
    """The packages for a variant, sorted by name, and the size of each by file name."""

    packages: tuple[LockedPackage, ...]
    sizes: dict[str, int]


@dataclass(frozen=True)
class Index:
    """The index of a channel: a folder with its repodata.json files."""

    address: ChannelAddress
    folder: Path

    def solve(self, variant: Variant) -> Solution:
        """Return the packages for a variant; UsageError if there is no solution."""
        specs, glibc = variant.conda_specs(), variant.framework.glibc
        records = solver.solve_index(
            self.folder,
            specs,
            glibc,
            f"{variant.id}: {self.address.name}",
            "the channel may lack these versions, or use other names: choose another channel",
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
                f"{record.file_name} of {self.address.name} cannot be locked",
                expected="its SHA-256, MD5 and size in the channel's index",
            )
        return LockedPackage(
            name=record.name.normalized,
            version=str(record.version),
            build=str(record.build),
            url=record.url.replace(self.folder.as_uri(), self.address.url, 1),
            sha256=record.sha256.hex(),
            md5=record.md5.hex(),
            depends=tuple(record.depends),
        )


@contextmanager
def index_of(address: ChannelAddress) -> Iterator[Index]:
    """Download a channel's index for the block; UsageError if there is none."""
    with scratch() as folder:
        web = conda_web(threading.Event(), address.url)
        for subdir in SUBDIRS:
            (folder / subdir).mkdir()
            _download_index(web, f"{address.url}/{subdir}", folder / subdir)
        yield Index(address, folder)


def _download_index(web: Web, url: str, folder: Path) -> None:
    """Download a subdir's repodata.json, compressed if the server has that."""
    target, packed = folder / "repodata.json", folder / "repodata.json.zst"
    try:
        try:
            download(web, f"{url}/{packed.name}", packed, None, lambda bytes_gained: None)
        except MissingError:
            download(web, f"{url}/{target.name}", target, None, lambda bytes_gained: None)
            return
    except MissingError as error:
        raise UsageError(
            f"{public_url(url)} is not a conda channel",
            expected=f"{packed.name} or {target.name} there",
            fix="check the channel's address",
        ) from error
    with explain_disk_errors(target):
        try:
            with packed.open("rb") as source, target.open("wb") as file:
                blocks = zstandard.ZstdDecompressor().read_to_iter(source)
                for block in blocks:
                    file.write(block)
                    if file.tell() > LARGEST_FILE:
                        raise UsageError(
                            f"{public_url(url)}/{packed.name} is too large",
                            expected=f"at most {LARGEST_FILE} bytes, decompressed",
                            fix="choose another channel",
                        )
        except zstandard.ZstdError as error:
            raise UsageError(
                f"{public_url(url)}/{packed.name} is not a zstd file", found=str(error)
            ) from error
    packed.unlink()


def relock(workspace: Workspace, variants: Sequence[Variant], channel: str) -> None:
    """Solve variants on another channel, by its name or address, and write their locks.

    Raises UsageError in the end with all variants that have no solution.
    """
    address = channel_address(channel)
    pins = read_channel(workspace).pins
    errors = []
    with index_of(address) as index:
        for own in variants:
            try:
                variant = on_other_channel(own, address.label)
                solution = index.solve(variant)
            except UsageError as error:
                errors.append(error)
                continue
            make_of_other_channel(
                workspace, variant, address.name, solution.packages, solution.sizes, pins
            )
            print(f"  {'locked':<9}{variant.id}", file=sys.stderr)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise UsageError("\n".join(error.what for error in errors), fix=errors[0].fix)
