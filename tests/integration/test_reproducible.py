"""The same commit makes the same packages and environments on every machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR

import pytest

from integration.tiny import share_packages, tree
from stacks.channel import build
from stacks.channel import offers as offers_module
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.make import build as pipeline
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks import lock
from stacks.sources.fetch import fetch
from stacks.variants.load import all_variants, load_variant

# Builds every package, and prints its hash by its name.
PROGRAM = """
import json, os, sys
from stacks.channel import build, offers
from stacks.channel.offers import with_settings
from stacks.core.workspace import default_workspace
from stacks.variants.load import all_variants
if __name__ == "__main__":
    os.umask(int(sys.argv[1], 8))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[2])])
    workspace = default_workspace()
    channel = with_settings(offers.read_channel(workspace), all_variants(workspace))
    built = build.build_packages(workspace, channel, channel.offers.values(), quiet=True)
    print(json.dumps({name: found.sha256 for name, found in built.items()}))
"""


def build_all(workspace: Workspace, room: Path) -> dict[str, str]:
    """Build every package of the channel elsewhere, with a cache that has the sources alone."""
    room.mkdir()
    (room / "program.py").write_text(PROGRAM)
    channel = offers_module.read_channel(workspace)
    sources = {pin for o in channel.offers.values() for pin in o.recipe.pins(channel.pins)}
    for path in fetch(workspace, sources).values():
        place = room / "cache" / path.relative_to(workspace.cache)
        place.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(path, place)
    output = subprocess.check_output(
        [sys.executable, room / "program.py", "077", "1"],
        cwd=room,
        env={
            **os.environ,
            "THEANO_STACKS_CACHE": str(room / "cache"),
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(room),
            "LC_ALL": "C",
            "TZ": "Pacific/Kiritimati",
            "PYTHONHASHSEED": "7",
            "SOURCE_DATE_EPOCH": "1",
        },
    )
    built: dict[str, str] = json.loads(output)
    return built


def test_every_package_is_identical_however_it_is_built(
    workspace: Workspace, tmp_path: Path
) -> None:
    """The locks have what was built on another machine; only what is in none is built here too."""
    channel = offers_module.read_channel(workspace)
    expected = {
        package.file_name: package.sha256
        for variant in all_variants(workspace)
        for package in lock.read(workspace, variant).packages
    }
    others = [offer for name, offer in channel.offers.items() if name not in expected]
    here = build.build_packages(workspace, channel, others, quiet=True)
    expected |= {name: package.sha256 for name, package in here.items()}
    assert build_all(workspace, tmp_path / "a folder, naïve é") == expected


# The only files that contain the environment's own path, and the list with their hashes.
OWN_PATH = {
    "etc/theanorc",
    "etc/theano-stacks/expect.json",
    "etc/theano-stacks/files.json",
    "etc/theano-stacks/modules",
    "etc/theano-stacks/ready.json",
    "pip.conf",
}


@pytest.mark.parametrize("framework", ["theano-1.0.5", "theano-0.8.2"])
def test_two_environments_differ_only_in_their_paths(
    workspace: Workspace, framework: str, tmp_path: Path
) -> None:
    """This holds for what pip installs too."""
    variant = load_variant(workspace, "pip-openblas", framework)
    channel = offers_module.read_channel(workspace)
    trees = []
    for name, umask in (("one", 0o022), ("an other, é", 0o077)):
        own = replace(workspace, cache=tmp_path / name / "cache")
        share_packages(workspace, channel, variant, own.cache)
        before = os.umask(umask)
        try:
            made = pipeline.make_environment(own, variant, tmp_path / name / "prefix")
        finally:
            os.umask(before)
        trees.append(tree(made))
    one, other = trees
    assert one.keys() == other.keys()
    # conda's record has the SHA-256 of theanorc as it was installed.
    [record] = made.glob("conda-meta/theano-settings-*.json")
    assert {name for name in one if one[name][0] != other[name][0]} == {
        *OWN_PATH,
        f"conda-meta/{record.name}",
    }
    assert {
        name: (one[name][1], other[name][1]) for name in one if one[name][1] != other[name][1]
    } == {}


def test_a_second_environment_is_hard_links_into_the_cache(workspace: Workspace) -> None:
    """At most 5 MB are new files; what pip installs is not shared."""
    variant = load_variant(workspace, "openblas")
    workspace.cache.mkdir(parents=True, exist_ok=True)
    # Certainly on the cache's file system, whatever is mounted where.
    with tempfile.TemporaryDirectory(prefix=".test-", dir=workspace.cache) as folder:
        for name in ("first", "second"):
            made = pipeline.make_environment(workspace, variant, Path(folder) / name)
        if (made / "bin/python3.9").stat().st_nlink == 1:
            pytest.skip("the cache's file system has reflinks: nothing tells which blocks are new")
        statuses = [path.lstat() for path in made.rglob("*")]
        new = [each for each in statuses if S_ISDIR(each.st_mode) or each.st_nlink == 1]
        assert sum(each.st_blocks * 512 for each in new) <= 5_000_000
        locked = lock.current(workspace, variant)
        assert folders.key_in(made) == folders.key_of(workspace, variant, locked, made)
