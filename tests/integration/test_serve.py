"""The channel as a conda client uses it: over HTTP, with its own solution of environment.yml."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rattler
import yaml
from rattler.exceptions import InstallerError
from rattler.networking import Client

from integration.tiny import Tiny, flip
from integration.workspaces import workspace_below
from stacks.channel.locked_package import URL
from stacks.channel.offers import read_channel
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.use.serve import Make, maker, server_of, write_channel
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.locks.publication import entries_of
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant

VARIANTS = all_variants(default_workspace())


@contextmanager
def serving_folder(folder: Path, make: Make = lambda path: None) -> Iterator[str]:
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


@pytest.fixture(scope="module")
def address(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    own = workspace_below(tmp_path_factory.mktemp("channel"), workspace.cache)
    with serving(own, VARIANTS) as address:
        yield address


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the cache of a client that all tests share."""
    return tmp_path_factory.mktemp("client")


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


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_a_new_solution_equals_the_lock(
    workspace: Workspace, variant: Variant, address: str, client: Path
) -> None:
    records = solve(address, lock_folder(workspace, variant) / "environment.yml", client)
    locked = lock.read(workspace, variant).packages
    assert {(r.file_name, r.sha256.hex()) for r in records if r.sha256} == {
        (p.file_name, p.sha256) for p in locked
    }
    assert {r.url for r in records} == {p.url.replace(URL, address) for p in locked}


def install(
    records: list[rattler.RepoDataRecord], place: Path, cache: Path, client: Client | None = None
) -> None:
    installed = rattler.install(records, place, cache_dir=cache, show_progress=False, client=client)
    asyncio.run(installed)


def test_a_client_installs_and_checks_the_bytes(tiny: Tiny, tmp_path: Path) -> None:
    environment = tiny.locks / "tiny/by-conda/environment.yml"
    folder = tiny.workspace.build / "channel"
    with serving(tiny.workspace, [tiny.variant("by-conda")]) as address:
        records = solve(address, environment, tmp_path / "client")
        assert list(folder.glob("*/*.conda")) == [], "built when asked for"
        install(records, tmp_path / "sound", tmp_path / "one")
        assert (tmp_path / "sound/lib/python2.7/site-packages/six.py").is_file()
        assert len(list(folder.glob("*/*.conda"))) == len(records)
        [package] = folder.glob("noarch/six-*.conda")
        flip(package)
        with pytest.raises(InstallerError, match="six"):
            install(records, tmp_path / "other", tmp_path / "two")
