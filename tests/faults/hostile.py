"""Hostile and broken archives, and conda packages of another channel that are such."""

import bz2
import hashlib
import json
import tarfile
from dataclasses import dataclass, field
from random import Random

from unit.helpers import archives as tools

from faults.room import Done, Room, Trial
from faults.trees import broken, remove
from stacks.core.workspace import Workspace
from stacks.locks import solution
from stacks.locks.lock import Lock
from stacks.sources.condarc import channel_address
from stacks.sources.pins import LockedPackage
from stacks.variants.load import load_variant
from stacks.variants.variant import on_other_channel

# A file of this name may only be in an environment, in an unpacked package, or in an archive.
MARK = "pwned"
HOSTILE = "six-1.16.0-evil_0"
# A link to the folder beside the room, in a package that is installed with the hostile one.
SHARED_LINK = "share/shared"
PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3" * 3
SIX = "lib/python2.7/site-packages/six.py"
# The other packages that the small flavour has, in the smallest form.
OTHERS = {
    "python": ("2.7.18", ("bin/python2.7", "lib/python2.7/site-packages/README")),
    "pip": ("20.3.4", ("lib/python2.7/site-packages/pip.py",)),
    "setuptools": ("44.1.1", ("lib/python2.7/site-packages/setuptools.py",)),
    "wheel": ("0.37.1", (SHARED_LINK,)),
}


@dataclass
class Contents:
    """The members of an archive, in order, and the entries of a conda package's paths.json."""

    members: list[tuple[tarfile.TarInfo, bytes]] = field(default_factory=list)
    paths: list[dict[str, object]] = field(default_factory=list)

    def add(
        self, name: str, data: bytes = b"x\n", kind: bytes = tarfile.REGTYPE, link: str = ""
    ) -> None:
        self.members.append((tools.member(name, kind, link, 0o755), data if not link else b""))

    def list(self, name: str, data: bytes = b"x\n", **more: object) -> None:
        digest = hashlib.sha256(data).hexdigest()
        entry = {"_path": name, "path_type": "hardlink", "sha256": digest}
        self.paths.append({**entry, "size_in_bytes": len(data), **more})

    def both(self, name: str, data: bytes = b"x\n", **more: object) -> None:
        self.add(name, data)
        self.list(name, data, **more)

    def link(self, name: str, target: str, *, listed: bool = True) -> None:
        self.add(name, kind=tarfile.SYMTYPE, link=target)
        if listed:
            self.list(name, b"", path_type="softlink")


def outside(random: Random, room: Room) -> str:
    """Return the name of a path that is not in the folder that the archive is unpacked into."""
    up = "../" * random.randint(1, 9)
    return random.choice(
        (f"{up}{MARK}", f"{up}beside/{MARK}", f"a/../../{up}{MARK}", f"{room.beside}/{MARK}",
         f"/{room.beside}/{MARK}", f"./{up}beside/evil/{MARK}", f"lib/../{up}{MARK}")
    )  # fmt: skip


def hostile(random: Random, room: Room, contents: Contents) -> str:
    """Add something hostile to the members and paths; return what it is."""
    name, target = outside(random, room), random.choice((str(room.beside), "../" * 12, "/", ".."))
    kept = f"{room.beside}/evil/kept"
    way = random.choice(
        ("member", "listed", "listed from its own folder", "listed from its own folder",
         "through another package's link", "through another package's link",
         "listed with prefix", "through a link", "through a listed link", "hard link",
         "read outside", "device", "file and folder", "link loop", "link is a file", "twice",
         "long name", "odd name", "script", "settings", "link out")
    )  # fmt: skip
    if way == "member":
        contents.both(name)
    elif way == "listed":
        contents.add(f"lib/{MARK}")
        contents.list(name)
    elif way == "listed from its own folder":
        # The file is found, because the path leads out of the unpacked package and back.
        contents.add(f"lib/{MARK}")
        folders = room.cache.joinpath(f"unpacked/{HOSTILE}").parts
        up = random.randint(2, 4)
        name = "/".join((*[".."] * up, *folders[-up:], f"lib/{MARK}"))
        contents.list(name)
    elif way == "through another package's link":
        contents.both(f"{SHARED_LINK}/{MARK}")
    elif way == "listed with prefix":
        contents.add(f"lib/{MARK}", PLACEHOLDER.encode())
        contents.list(name, PLACEHOLDER.encode(), prefix_placeholder=PLACEHOLDER, file_mode="text")
    elif way in ("through a link", "through a listed link", "link out"):
        contents.link("share/out", target, listed=way != "through a link")
        if way != "link out":
            contents.both(f"share/out/{MARK}")
    elif way == "hard link":
        contents.add(f"share/{MARK}", kind=tarfile.LNKTYPE, link=kept)
        contents.list(f"share/{MARK}")
    elif way == "read outside":
        contents.list(f"{'../' * random.randint(1, 9)}beside/evil/kept", b"a person's\n")
    elif way == "device":
        kind = random.choice((tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE, b"S", b"Z"))
        contents.add("share/device", b"", kind=kind)
        contents.list("share/device")
    elif way == "file and folder":
        contents.both("share/both")
        contents.both("share/both/file")
    elif way == "link loop":
        contents.link("share/a", "b")
        contents.link("share/b", "a", listed=False)
        contents.add("share/a/file")
    elif way == "link is a file":
        contents.link("share/x", kept, listed=False)
        contents.both("share/x", b"pwned\n")
    elif way == "twice":
        contents.both("share/x")
        contents.both("share/x", b"other\n")
    elif way == "long name":
        contents.both("share/" + "n" * 300)
    elif way == "odd name":
        odd = ("share/\x1b[31m", "share/a\nb", "share/\udcff", "share/ ", "", ".")
        contents.both(random.choice(odd))
    elif way == "script":
        # conda's clients may run these at the installation; this project runs none.
        script = f"#!/bin/sh\ntouch {room.beside}/{MARK}\n".encode()
        for each in ("bin/.six-post-link.sh", "bin/.six-pre-link.sh"):
            contents.both(each, script)
    else:
        files = ("conda-meta/history", "etc/theano-stacks/ready.json", "etc/theanorc")
        contents.both(random.choice(files))
    return f"{way}: {name} (links to {target})"


def spoiled(trial: Trial, data: bytes) -> bytes:
    """Return damaged bytes of an archive, a quarter of the time."""
    random = trial.random
    way = random.choice(("flip", "cut", "garbage")) if random.random() < 0.25 else ""
    trial.tell(way and f"and {way}")
    return broken(random, data, way) if way else data


def finish(trial: Trial, done: Done, label: str = "") -> None:
    """Check that nothing was written outside of where packages are unpacked and linked.

    What the cache rightly has of the trial's own packages is removed.
    """
    room = trial.room
    allowed = (room.cache / "unpacked", *([room.place(label)] if label else []))
    marks = [
        path
        for path in room.base.rglob(f"{MARK}*")
        if not any(path.is_relative_to(folder) for folder in allowed)
    ]
    done.check(not marks, f"written outside: {marks}")
    loose = list((room.cache / "unpacked").glob(f"{MARK}*"))
    done.check(not loose, f"written beside the unpacked packages: {loose}")
    for pattern in ("unpacked/*-evil_0*", "packages/*/hostile-*", "sources/*/*/*/*-evil_0*",
                    "sources/*/*/*/*hostile*"):  # fmt: skip
        for path in room.cache.glob(pattern):
            remove(path if pattern.startswith("unpacked") else path.parent)
    for path in (room.cache / "sources/sha256").iterdir():
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    room.check_undisturbed("by-conda")


def conda_archive(name: str, version: str, contents: Contents, *, noarch: bool = False) -> bytes:
    """Return the bytes of a package."""
    index: dict[str, object] = {
        "name": name, "version": version, "build": "evil_0", "build_number": 0, "depends": [],
        "subdir": "noarch" if noarch else "linux-64", "license": "MIT", "timestamp": 1,
        **({"noarch": "python"} if noarch else {}),
    }  # fmt: skip
    paths = {"paths": contents.paths, "paths_version": 1}
    for file, value in (("info/index.json", index), ("info/paths.json", paths)):
        contents.add(file, json.dumps(value).encode())
    return bz2.compress(tools.tar(*contents.members), 1)


def play_conda(trial: Trial) -> None:
    """Install a hostile package of another channel."""
    room, random = trial.room, trial.random
    packages = {}
    for name, (version, files) in OTHERS.items():
        contents = Contents()
        for file in files:
            if file == SHARED_LINK:
                contents.link(file, str(room.beside))
            else:
                contents.both(file, b"")
        packages[name] = (version, conda_archive(name, version, contents))
    contents = Contents()
    contents.both(SIX)
    for _ in range(random.choice((1, 1, 2))):
        trial.tell(hostile(random, room, contents))
    data = conda_archive("six", "1.16.0", contents, noarch=random.random() < 0.3)
    label = lock_packages(room, {**packages, "six": ("1.16.0", spoiled(trial, data))})
    done = room.run("make", "--variant", label)
    if done.status:
        room.check_error(done, "six", "wheel", label)
        done.check(not room.place(label).exists(), "a refused package left an environment")
    remove(room.root / "envs/locks/tiny" / label)
    finish(trial, done, label)


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
    solution.write(workspace, variant, Lock(tuple(locked), channel=address.name))
    return variant.name
