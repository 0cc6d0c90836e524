"""Published channels, above all of the small framework, and the sources of its copyleft parts."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from integration.test_serve import serving_folder
from integration.tiny import Tiny
from stacks.channel import package
from stacks.channel.locked_package import URL
from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace
from stacks.distribution.channel import publish_to_folder
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.use.serve import write_channel
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.locks.publication import entries_of, publication
from stacks.sources import places
from stacks.sources.debian_mirrors import EndedReleases, current_mirrors
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin, cached_path, cached_sha256
from stacks.sources.places import mirror_place
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import environment_web
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant


@dataclass(frozen=True)
class Published:
    """A folder that `./invoke publish-channel` wrote, and the address where it is served."""

    folder: Path
    address: str

    def package(self, name: str) -> Path:
        """Return the one package of a name."""
        [path] = self.folder.glob(f"*/{name}-*.conda")
        return path

    def explicit(self, locked: Lock) -> str:
        """Return a lock as conda's list of addresses and MD5 sums."""
        lines = [
            f"{package.url.replace(URL, self.address)}#{package.md5}" for package in locked.packages
        ]
        return "\n".join(("@EXPLICIT", *lines, ""))


@contextmanager
def published(tiny: Tiny, folder: Path) -> Iterator[Published]:
    """Publish the packages of the small framework's locks in a folder and serve them."""
    publish_to_folder(tiny.workspace, folder)
    with serving_folder(folder) as address:
        yield Published(folder, address)


def locked_by(tiny: Tiny, name: str) -> Lock:
    """Return the lock of a small variant."""
    return lock.read(tiny.workspace, tiny.variant(name))


def write_packages(workspace: Workspace, variants: Sequence[Variant], folder: Path) -> Path:
    """Write a static channel with the packages of some locks, which the cache has; no sources."""
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, variants)
    write_channel(folder, entries)
    for entry in entries:
        built = package.cached(workspace, entry.package.file_name, entry.package.sha256)
        assert built
        link_or_copy(built.path, folder / entry.path)
    return folder


def move_packages(tiny: Tiny, folder: Path) -> Path:
    """Write a channel with the packages of `tiny`, which its cache no longer has."""
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    write_packages(tiny.workspace, variants, folder)
    shutil.rmtree(tiny.cache / "packages")
    return folder


def share_sources(source: Workspace, tiny: Tiny) -> None:
    """Link the sources of the packages of `tiny` into its cache."""
    channel = read_channel(tiny.workspace)
    entries = entries_of(tiny.workspace, channel, [tiny.variant("by-conda")])
    pins = {pin for each in entries for pin in each.recipe.pins(channel.pins)}
    for path in fetch(Workspace(tiny.root, source.cache), pins, offline=True).values():
        target = tiny.cache / path.relative_to(source.cache)
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(path, target)


def packages(folder: Path) -> dict[str, bytes]:
    """Return the packages of `by-conda` below a folder: `by-pip` has settings of its own."""
    paths = (path for path in folder.rglob("*.conda") if "_by_pip." not in path.name)
    return {path.name: path.read_bytes() for path in paths}


def copyleft_sources(tiny: Tiny) -> tuple[DebPin, ...]:
    """Return the pins of the source files that are published with the small framework."""
    channel = read_channel(tiny.workspace)
    return publication(tiny.workspace, channel, all_variants(tiny.workspace)).sources


def not_at_mirrors(workspace: Workspace, pins: Sequence[DebPin]) -> frozenset[DebPin]:
    """Return the files that neither the cache nor any archive has; each archive is asked.

    An archive of ended releases may be out of reach. A mirror that does not answer counts as
    having them: the fetch then fails and says why.
    """
    wanted = [pin for pin in pins if cached_sha256(workspace, pin) != pin.sha256]
    if not wanted:
        return frozenset()
    stop, wheel = threading.Event(), address_wheel(workspace)
    mirrors = [mirror.url for mirror in current_mirrors(wheel)]
    roots = [*mirrors, *EndedReleases(wheel).roots()]
    web = environment_web(stop)
    answers = places.survey([mirror_place(web, root) for root in roots], wanted, stop)
    if any(answer.failure for answer in answers[: len(mirrors)]):
        return frozenset()
    held = {pin for answer in answers for pin in (*answer.held, *answer.problems)}
    return frozenset(pin for pin in wanted if pin not in held)


def share_copyleft(workspace: Workspace, tiny: Tiny, lacking: Collection[DebPin]) -> None:
    """Link the sources, but for those that are `lacking`, into the small framework's cache."""
    for pin in copyleft_sources(tiny):
        if pin not in lacking:
            target = cached_path(tiny.workspace, pin)
            target.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(cached_path(workspace, pin), target)
