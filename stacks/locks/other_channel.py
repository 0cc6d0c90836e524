"""Locks of another channel's packages, solved with its index."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import rattler
import zstandard

from stacks.channel import solve as solver
from stacks.channel.locked_package import LockedPackage
from stacks.core.disk import explain_disk_errors, scratch
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import solution
from stacks.locks.solution import Contents
from stacks.locks.texts import requirements_of
from stacks.sources.condarc import ChannelAddress, channel_address, conda_web
from stacks.sources.download import LARGEST_FILE, download
from stacks.sources.mirrors import public_url
from stacks.sources.pins import read_pins
from stacks.sources.web import MissingError, Web
from stacks.variants.variant import Variant, on_other_channel

SUBDIRS = ("linux-64", "noarch")


@dataclass(frozen=True)
class Index:
    """The index of a channel: a folder with its repodata.json files."""

    address: ChannelAddress
    folder: Path

    def solve(self, variant: Variant) -> tuple[LockedPackage, ...]:
        """Return the packages for a variant, sorted by name; UsageError if there is no solution."""
        specs, glibc = variant.conda_specs(), variant.framework.glibc
        records = solver.solve_index(
            self.folder,
            specs,
            glibc,
            f"{variant.id}: {self.address.name}",
            "the channel may lack these versions, or use other names: choose another channel",
        )
        return tuple(self._locked(record) for record in records)

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
            size=record.size,
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
    pins = read_pins(workspace.sources_lock)
    errors = []
    with index_of(address) as index:
        for own in variants:
            try:
                variant = on_other_channel(own, address.label)
                packages = index.solve(variant)
            except UsageError as error:
                errors.append(error)
                continue
            requirements = requirements_of(variant, pins)
            contents = Contents(packages, requirements, channel=address.name)
            solution.write(workspace, variant, contents)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise UsageError("\n".join(error.what for error in errors), fix=errors[0].fix)
