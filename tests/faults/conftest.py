"""The options of the injector, and the finished checkout that each trial gets a copy of."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import common  # noqa: F401
import pytest
from integration.tiny import Tiny, prepare

from faults.mirror import BODIES, INVENTED, serving
from faults.room import VARIANTS, Reference, Room
from faults.trees import names_in, remove, tree
from stacks.channel.offers import Channel, read_channel
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import default_workspace
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
from stacks.sources.pins import cached_path

# What the trials of all workers need in memory, in bytes.
NEEDED = 2 << 30


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("faults")
    group.addoption("--fault-trials", type=int, default=60, help="number of trials")
    group.addoption("--fault-seed", type=int, default=1, help="seed of the random choices")
    group.addoption("--fault-trial", type=int, default=-1, help="run only the trial of this number")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" not in metafunc.fixturenames:
        return
    seed, one = metafunc.config.getoption("fault_seed"), metafunc.config.getoption("fault_trial")
    numbers = [one] if one >= 0 else range(metafunc.config.getoption("fault_trials"))
    metafunc.parametrize(("seed", "number"), [(seed, number) for number in numbers])


@pytest.fixture(scope="session")
def reference() -> Iterator[Reference]:
    """Make the two small environments once, at the path that each copy gets."""
    base = Path(tempfile.mkdtemp(prefix="fault-trials-", dir=memory()))
    # Another user must reach it, too.
    base.chmod(0o755)
    try:
        with serving(default_workspace()) as mirror:
            made = Reference(base, mirror, {}, frozenset())
            room = Room(made)
            tiny = prepare(default_workspace(), room.root)
            break_links(tiny.cache)
            keep_sources(tiny, room)
            (room.root / "verify").symlink_to(REPOSITORY / "verify")
            for folder in (room.temporary, room.beside / "home"):
                folder.mkdir(parents=True)
            for variant in VARIANTS:
                done = room.run("make", "--variant", variant)
                assert done.status == 0, str(done)
            trees = {variant: tree(room.place(variant)) for variant in VARIANTS}
            cached = names_in(room.cache)
            room.root.rename(made.pristine)
            yield Reference(base, mirror, trees, cached)
    finally:
        remove(base)


def memory() -> str | None:
    """Return the folder in memory if it can hold the trials; else None, the usual folder.

    A copy of 4,600 files, which each trial begins with, takes a tenth of the time there.
    """
    folder = "/dev/shm"
    if not os.access(folder, os.W_OK | os.X_OK):
        return None
    status = os.statvfs(folder)
    # Containers often have a small one, from which nothing may be run.
    fits = status.f_bavail * status.f_frsize >= NEEDED and not status.f_flag & os.ST_NOEXEC
    return folder if fits else None


def keep_sources(tiny: Tiny, room: Room) -> None:
    """Put all sources of the small packages into the cache, and the trials' own files."""
    channel = read_channel(tiny.workspace)
    names = {package.file_name for package in lock_of(tiny, channel).packages}
    pins = [
        pin
        for offer in channel.offers.values()
        if offer.file_name in names
        for pin in offer.recipe.pins(channel.pins)
    ]
    for pin, path in fetch(default_workspace(), pins).items():
        target = cached_path(tiny.workspace, pin)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for pin in INVENTED:
        target = cached_path(tiny.workspace, pin)
        target.parent.mkdir(parents=True)
        target.write_bytes(BODIES[pin.filename])


def lock_of(tiny: Tiny, channel: Channel) -> Lock:
    return lock.read(tiny.workspace, tiny.variant("by-conda"))


def break_links(cache: Path) -> None:
    """Give the trials files of their own: those of the user's cache must not change."""
    for path in [p for p in cache.rglob("*") if p.is_file() and not p.is_symlink()]:
        if path.stat().st_nlink > 1:
            copy = path.with_name(f"{path.name}.copy")
            shutil.copy2(path, copy)
            os.replace(copy, path)  # noqa: PTH105
