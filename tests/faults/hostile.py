"""Hostile and broken archives in general, and what they must never do."""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from random import Random

from unit.helpers import archives as tools

from faults.room import Done, Room, check
from faults.trees import remove

# A file of this name may only be in an environment, in an unpacked package, or in an archive.
MARK = "pwned"
HOSTILE = "six-1.16.0-evil_0"
# A link to the folder beside the room, in a package that is installed with the hostile one.
SHARED_LINK = "share/shared"
PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3" * 3


@dataclass
class Contents:
    """The members of an archive, in order, and the entries of a conda package's paths.json."""

    members: list[tuple[tarfile.TarInfo, bytes]]
    paths: list[dict[str, object]]

    def add(
        self, name: str, data: bytes = b"x\n", kind: bytes = tarfile.REGTYPE, link: str = ""
    ) -> None:
        self.members.append((tools.member(name, kind, link, 0o755), data if not link else b""))

    def list(self, name: str, data: bytes = b"x\n", **more: object) -> None:
        digest = hashlib.sha256(data).hexdigest()
        entry = {"_path": name, "path_type": "hardlink", "sha256": digest}
        self.paths.append({**entry, "size_in_bytes": len(data), **more})


def outside(random: Random, room: Room) -> str:
    """Return the name of a path that is not in the folder that the archive is unpacked into."""
    up = "../" * random.randint(1, 9)
    return random.choice(
        (
            f"{up}{MARK}",
            f"{up}beside/{MARK}",
            f"a/../../{up}{MARK}",
            f"{room.beside}/{MARK}",
            f"/{room.beside}/{MARK}",
            f"./{up}beside/evil/{MARK}",
            f"lib/../{up}{MARK}",
        )
    )


def hostile(random: Random, room: Room, contents: Contents) -> str:
    """Add something hostile to the members and paths; return what it is."""
    name, target = outside(random, room), random.choice((str(room.beside), "../" * 12, "/", ".."))
    way = random.choice(
        ("member", "listed", "listed from its own folder", "listed from its own folder",
         "through another package's link", "through another package's link",
         "listed with prefix", "through a link", "through a listed link", "hard link",
         "read outside", "device", "file and folder", "link loop", "link is a file", "twice",
         "long name", "odd name", "script", "settings", "link out")
    )  # fmt: skip
    if way == "member":
        contents.add(name)
        contents.list(name)
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
        contents.add(f"{SHARED_LINK}/{MARK}")
        contents.list(f"{SHARED_LINK}/{MARK}")
    elif way == "listed with prefix":
        contents.add(f"lib/{MARK}", PLACEHOLDER.encode())
        contents.list(name, PLACEHOLDER.encode(), prefix_placeholder=PLACEHOLDER, file_mode="text")
    elif way in ("through a link", "through a listed link"):
        contents.add("share/out", kind=tarfile.SYMTYPE, link=target)
        if way == "through a listed link":
            contents.list("share/out", b"", path_type="softlink")
        contents.add(f"share/out/{MARK}")
        contents.list(f"share/out/{MARK}")
    elif way == "hard link":
        contents.add(f"share/{MARK}", kind=tarfile.LNKTYPE, link=f"{room.beside}/evil/kept")
        contents.list(f"share/{MARK}")
    elif way == "read outside":
        path = f"{'../' * random.randint(1, 9)}beside/evil/kept"
        contents.list(path, b"a person's\n")
    elif way == "device":
        kind = random.choice((tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE, b"S", b"Z"))
        contents.add("share/device", b"", kind=kind)
        contents.list("share/device")
    elif way == "file and folder":
        contents.add("share/both")
        contents.add("share/both/file")
        contents.list("share/both")
        contents.list("share/both/file")
    elif way == "link loop":
        contents.add("share/a", kind=tarfile.SYMTYPE, link="b")
        contents.add("share/b", kind=tarfile.SYMTYPE, link="a")
        contents.list("share/a", b"", path_type="softlink")
        contents.add("share/a/file")
    elif way == "link is a file":
        contents.add("share/x", kind=tarfile.SYMTYPE, link=f"{room.beside}/evil/kept")
        contents.add("share/x", b"pwned\n")
        contents.list("share/x", b"pwned\n")
    elif way == "twice":
        contents.add("share/x")
        contents.add("share/x", b"other\n")
        contents.list("share/x")
        contents.list("share/x", b"other\n")
    elif way == "long name":
        contents.add("share/" + "n" * 300)
        contents.list("share/" + "n" * 300)
    elif way == "odd name":
        odd = random.choice(("share/\x1b[31m", "share/a\nb", "share/\udcff", "share/ ", "", "."))
        contents.add(odd)
        contents.list(odd)
    elif way == "script":
        # conda's clients may run these at the installation; this project runs none.
        script = f"#!/bin/sh\ntouch {room.beside}/{MARK}\n".encode()
        for each in ("bin/.six-post-link.sh", "bin/.six-pre-link.sh"):
            contents.add(each, script)
            contents.list(each, script)
    elif way == "settings":
        each = random.choice(("conda-meta/history", "etc/theano-stacks/ready.json", "etc/theanorc"))
        contents.add(each)
        contents.list(each)
    else:
        contents.add("share/out", kind=tarfile.SYMTYPE, link=target)
        contents.list("share/out", b"", path_type="softlink")
    return f"{way}: {name} (links to {target})"


def spoiled(random: Random, data: bytes) -> tuple[bytes, str]:
    """Return damaged bytes of an archive, a quarter of the time; and what was done."""
    way = random.choice(("flip", "cut", "garbage")) if random.random() < 0.25 else ""
    if way == "flip":
        changed = bytearray(data)
        for _ in range(random.choice((1, 3, 30))):
            changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return bytes(changed), "and flipped bits"
    if way == "cut":
        return data[: random.randrange(len(data))], "and cut"
    if way == "garbage":
        return random.randbytes(1000), "and all garbage"
    return data, ""


def check_marks(room: Room, done: Done, label: str = "") -> None:
    """Check that nothing was written outside of where packages are unpacked and linked."""
    allowed = (room.cache / "unpacked", *([room.place(label)] if label else []))
    marks = [
        path
        for path in room.base.rglob(f"{MARK}*")
        if not any(path.is_relative_to(folder) for folder in allowed)
    ]
    check(done, not marks, f"written outside: {marks}")
    loose = list((room.cache / "unpacked").glob(f"{MARK}*"))
    check(done, not loose, f"written beside the unpacked packages: {loose}")


def forget(room: Room) -> None:
    """Remove what the cache rightly has of the trial's own packages."""
    for pattern in ("unpacked/*-evil_0*", "packages/*/hostile-*", "sources/*/*/*/*-evil_0*",
                    "sources/*/*/*/*hostile*"):  # fmt: skip
        for path in room.cache.glob(pattern):
            remove(path if pattern.startswith("unpacked") else path.parent)
    for path in (room.cache / "sources/sha256").iterdir():
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
