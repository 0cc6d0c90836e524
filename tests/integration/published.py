"""Channels as tests write, serve and read them, above all of the small framework."""

import asyncio
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import rattler
import yaml
from rattler.networking import Client

from integration.tiny import Tiny
from stacks.channel import package
from stacks.channel.candidates import read_channel
from stacks.core.workspace import Workspace
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.use.serve import Make, maker, server_of, write_channel
from stacks.locks.solution import entries_of
from stacks.sources import places
from stacks.sources.debian_mirrors import current_mirrors, ended_releases
from stacks.sources.pins import DebPin, cached_path, digest_at
from stacks.sources.places import mirror_place
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import environment_web
from stacks.variants.variant import Variant


@contextmanager
def serving_folder(folder: Path, make: Make = lambda path: None) -> Iterator[str]:
    """Serve the files of a folder; give the address."""
    with server_of(folder, 0, make=make) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}/theano-stacks"
        finally:
            server.shutdown()


@contextmanager
def serving(workspace: Workspace, variants: Iterable[Variant]) -> Iterator[str]:
    """Serve the locked packages of some variants, as `./invoke serve` does."""
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, variants)
    folder = workspace.build / "channel"
    write_channel(folder, entries)
    with serving_folder(folder, maker(workspace, folder, channel, entries)) as address:
        yield address


def solve(
    address: str, environment: Path, cache: Path, client: Client | None = None
) -> list[rattler.RepoDataRecord]:
    """Solve an environment.yml as conda does, from the channel at an address."""
    specs = yaml.safe_load(environment.read_text())["dependencies"]
    return asyncio.run(
        rattler.solve(
            sources=[rattler.Channel(address)],
            specs=[rattler.MatchSpec(s, strict=False) for s in specs if isinstance(s, str)],
            platforms=["linux-64", "noarch"],
            gateway=rattler.Gateway(cache_dir=cache, client=client),
            virtual_packages=rattler.VirtualPackage.detect(),
        )
    )


def install(
    records: list[rattler.RepoDataRecord], place: Path, cache: Path, client: Client | None = None
) -> None:
    """Install what was solved, as conda's clients that are written in Rust do."""
    installed = rattler.install(records, place, cache_dir=cache, show_progress=False, client=client)
    asyncio.run(installed)


def write_packages(workspace: Workspace, variants: Sequence[Variant], folder: Path) -> Path:
    """Write a static channel with the packages of some locks, which the cache has; no sources."""
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, variants)
    write_channel(folder, entries)
    for entry in entries:
        built = package.cached(workspace, entry.package.filename, entry.package.sha256)
        assert built
        link_or_copy(built.path, folder / entry.path)
    return folder


def move_packages(tiny: Tiny, folder: Path) -> Path:
    """Write a channel with the packages of `tiny`, which its cache no longer has."""
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    write_packages(tiny.workspace, variants, folder)
    shutil.rmtree(tiny.cache / "packages")
    return folder


def not_at_mirrors(workspace: Workspace, pins: Sequence[DebPin]) -> frozenset[DebPin]:
    """Return the files that neither the cache nor any archive has; each archive is asked.

    An archive of ended releases may be out of reach. A mirror that does not answer counts as
    having them: the fetch then fails and says why.
    """
    wanted = [pin for pin in pins if digest_at(cached_path(workspace.cache, pin)) != pin.sha256]
    if not wanted:
        return frozenset()
    stop, wheel = threading.Event(), address_wheel(workspace)
    mirrors = current_mirrors(wheel)
    roots = [*mirrors, *ended_releases(wheel)[0]]
    web = environment_web(stop)
    answers = places.survey([mirror_place(web, root) for root in roots], wanted, stop)
    if any(answer.failure for answer in answers[: len(mirrors)]):
        return frozenset()
    held = {pin for answer in answers for pin in (*answer.held, *answer.problems)}
    return frozenset(pin for pin in wanted if pin not in held)
