"""The options of the injector, and the finished checkout that each trial gets a copy of."""

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
from stacks.channel.candidates import read_channel
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import default_workspace
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
            keep_sources(tiny)
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


def keep_sources(tiny: Tiny) -> None:
    """Put all sources of the small packages into the cache, and the trials' own files.

    The trials get files of their own: those of the user's cache must not change.
    """
    copy = tiny.cache.with_name("copy")
    shutil.copytree(tiny.cache, copy, symlinks=True)
    shutil.rmtree(tiny.cache)
    copy.rename(tiny.cache)
    channel = read_channel(tiny.workspace)
    names = {package.filename for package in tiny.lock("by-conda").packages}
    candidates = [
        candidate for candidate in channel.candidates.values() if candidate.file_name in names
    ]
    pins = [pin for candidate in candidates for pin in candidate.recipe.pins(channel.pins)]
    sources = {cached_path(tiny.workspace.cache, pin): BODIES[pin.filename] for pin in INVENTED}
    for pin, path in fetch(default_workspace(), pins).items():
        sources[cached_path(tiny.workspace.cache, pin)] = path.read_bytes()
    for target, body in sources.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
