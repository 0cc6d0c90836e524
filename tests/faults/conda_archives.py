"""Hostile conda packages of another channel."""

from __future__ import annotations

import bz2
import hashlib
import json
import tarfile
from collections.abc import Callable
from functools import partial

from unit.helpers import archives as tools

from faults.hostile import SHARED_LINK, Contents, check_marks, forget, hostile, spoiled
from faults.room import Room, check
from faults.trees import remove
from faults.trial import Trial
from stacks.channel.locked_package import LockedPackage
from stacks.core.workspace import Workspace
from stacks.locks import solution
from stacks.sources.condarc import channel_address
from stacks.variants.load import load_variant
from stacks.variants.variant import on_other_channel

# The other packages that the small flavour has, in the smallest form.
OTHERS = {
    "python": ("2.7.18", {"bin/python2.7": b"", "lib/python2.7/site-packages/README": b""}),
    "pip": ("20.3.4", {"lib/python2.7/site-packages/pip.py": b""}),
    "setuptools": ("44.1.1", {"lib/python2.7/site-packages/setuptools.py": b""}),
    "wheel": ("0.37.1", {"lib/python2.7/site-packages/wheel.py": b""}),
}


def conda_archive(
    name: str, version: str, fill: Callable[[Contents], None], *, noarch: bool = False
) -> bytes:
    """Return the bytes of a package; `fill` adds what it has."""
    contents = Contents([], [])
    fill(contents)
    subdir = "noarch" if noarch else "linux-64"
    index = {
        "name": name, "version": version, "build": "evil_0", "build_number": 0, "depends": [],
        "subdir": subdir, "license": "MIT", "timestamp": 1,
        **({"noarch": "python"} if noarch else {}),
    }  # fmt: skip
    paths = {"paths": contents.paths, "paths_version": 1}
    for file, value in (("info/index.json", index), ("info/paths.json", paths)):
        contents.add(file, json.dumps(value).encode())
    return bz2.compress(tools.tar(*contents.members), 1)


def _fill_other(files: dict[str, bytes], contents: Contents) -> None:
    for name, data in files.items():
        contents.add(name, data)
        contents.list(name, data)


def _fill_link(target: str, contents: Contents) -> None:
    contents.add(SHARED_LINK, kind=tarfile.SYMTYPE, link=target)
    contents.list(SHARED_LINK, b"", path_type="softlink")


def play(trial: Trial) -> None:
    """Install a hostile package of another channel."""
    room, random = trial.room, trial.random

    def fill(contents: Contents) -> None:
        contents.add("lib/python2.7/site-packages/six.py")
        contents.list("lib/python2.7/site-packages/six.py")
        for _ in range(random.choice((1, 1, 2))):
            trial.tell(hostile(random, room, contents))

    packages = {
        name: (version, conda_archive(name, version, partial(_fill_other, files)))
        for name, (version, files) in OTHERS.items()
    }
    link = partial(_fill_link, str(room.beside))
    packages["wheel"] = ("0.37.1", conda_archive("wheel", "0.37.1", link))
    data, what = spoiled(random, conda_archive("six", "1.16.0", fill, noarch=random.random() < 0.3))
    trial.tell(what)
    label = lock_packages(room, {**packages, "six": ("1.16.0", data)})
    done = room.run("make", "--variant", label)
    if done.status:
        room.check_error(done, "six", "wheel", label)
    check_marks(room, done, label)
    if done.status:
        check(done, not room.place(label).exists(), "a refused package left an environment")
    remove(room.root / "envs/locks/tiny" / label)
    forget(room)
    room.check_undisturbed("by-conda")


def lock_packages(room: Room, packages: dict[str, tuple[str, bytes]]) -> str:
    """Serve the packages as a channel, and lock by-conda on it; return the variant's name."""
    mirror, workspace = room.reference.mirror, Workspace(room.root, room.cache)
    address = channel_address(f"{mirror.url}/evil")
    variant = on_other_channel(load_variant(workspace, "by-conda", "tiny"), address.label)
    mirror.files.clear()
    locked = []
    for name, (version, data) in packages.items():
        file_name = f"{name}-{version}-evil_0.tar.bz2"
        mirror.files[f"/evil/linux-64/{file_name}"] = data
        digests = (hashlib.sha256(data).hexdigest(), hashlib.md5(data).hexdigest(), len(data))
        url = f"{address.url}/linux-64/{file_name}"
        locked.append(LockedPackage(name, version, "evil_0", url, *digests))
    contents = solution.Contents(locked, channel=address.name)
    solution.write(workspace, variant, contents)
    return variant.name
