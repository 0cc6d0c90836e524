import os
from collections.abc import Iterator
from pathlib import Path

import common  # noqa: F401
import pytest

from stacks.core import process
from stacks.core.disk import REPOSITORY
from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources import debian_mirrors, download
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.serving import BODY, POOL, Site, serving


@pytest.fixture(autouse=True)
def lives_on() -> Iterator[None]:
    """Let a process that a test has ended run the programs of the next test's threads."""
    yield
    process._ENDING.clear()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Give this checkout with a cache of the test's own."""
    return Workspace(REPOSITORY, tmp_path / "cache")


@pytest.fixture
def own_workspace(tmp_path: Path) -> Workspace:
    """Give a root of the test's own, with links to what a person edits in this checkout."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in ("envs", "recipes", "docker", "verify"):
        (root / name).symlink_to(REPOSITORY / name)
    return Workspace(root, tmp_path / "cache")


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    """Give the default framework with OpenBLAS."""
    return load_variant(workspace, "openblas", "theano-1.0.5")


@pytest.fixture
def prefix(tmp_path: Path, variant: Variant) -> Path:
    """Give the folder of an environment that has nothing but the folder of Python's packages."""
    place = tmp_path / "prefix"
    (place / f"lib/python{variant.framework.python}/site-packages").mkdir(parents=True)
    return place


@pytest.fixture
def site() -> Iterator[Site]:
    """Give a web server on this machine that has nothing yet."""
    with serving() as site:
        yield site


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Have no wait between tries; give the waits that there would have been."""
    waits: list[float] = []
    monkeypatch.setattr(download, "pause", lambda stop, seconds: waits.append(seconds))
    return waits


@pytest.fixture
def room(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> Path:
    """Give the folder that the cache of `workspace` is in; hide the host's configuration."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("DEBIAN_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("THEANO_STACKS_CACHE", str(workspace.cache))
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", no_ended_mirrors)
    return tmp_path


def no_ended_mirrors(wheel: debian_mirrors.Wheel) -> tuple[str, ...]:
    """Stand for a machine on which the archive of ended releases is not known."""
    raise FetchError("no test may ask for it")


@pytest.fixture
def mirror(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Give a mirror of Debian's archive, in use, with one deb."""
    monkeypatch.setenv("DEBIAN_MIRROR", f"{site.url}/debian")
    site.files[f"/debian{POOL}"] = BODY
    return site
