"""Hostile and broken archives: conda packages of another channel, wheels and debs."""

from __future__ import annotations

import bz2
import hashlib
import io
import json
import lzma
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from unit.helpers import archives as tools

from faults.room import Done, Room, check, remove
from faults.trial import Trial
from stacks.core.workspace import Workspace
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.lock import make_of_other_channel
from stacks.sources.condarc import channel_address
from stacks.sources.pins import DebPin, IndexPin, Pins, read_pins, write_pins
from stacks.variants.load import load_variant
from stacks.variants.variant import on_other_channel

# A file of this name may only be in an environment, in an unpacked package, or in an archive.
MARK = "pwned"
HOSTILE = "six-1.16.0-evil_0"
# A link to the folder beside the room, in a package that is installed with the hostile one.
SHARED_LINK = "share/shared"
PLACEHOLDER = "/opt/anaconda1anaconda2anaconda3" * 3
# The other packages that the small flavour has, in the smallest form.
OTHERS = {
    "python": ("2.7.18", {"bin/python2.7": b"", "lib/python2.7/site-packages/README": b""}),
    "pip": ("20.3.4", {"lib/python2.7/site-packages/pip.py": b""}),
    "setuptools": ("44.1.1", {"lib/python2.7/site-packages/setuptools.py": b""}),
    "wheel": ("0.37.1", {"lib/python2.7/site-packages/wheel.py": b""}),
}
RECIPE = """\
package: {{name: hostile, version: 1.0}}
build: {{noarch: python}}
source:
  - {source}
requirements: {{run: [python]}}
about: {{license: MIT, summary: Hostile, republish: "yes"}}
extra: {extra}
"""
DEB_RECIPE = RECIPE.format(
    source="{suite: bullseye, debs: [hostile]}",
    extra='{stage: debian-files, files: {"usr/share/*": share}}',
).replace("build: {noarch: python}\n", "")
WHEEL_RECIPE = RECIPE.format(
    source="{project: hostile, version: 1.0, file: hostile-1.0-py3-none-any.whl}",
    extra="{stage: wheel}",
)


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


def play_conda(trial: Trial) -> None:
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
    locked, sizes = [], {}
    for name, (version, data) in packages.items():
        file_name = f"{name}-{version}-evil_0.tar.bz2"
        mirror.files[f"/evil/linux-64/{file_name}"] = data
        digests = (hashlib.sha256(data).hexdigest(), hashlib.md5(data).hexdigest())
        url = f"{address.url}/linux-64/{file_name}"
        locked.append(LockedPackage(name, version, "evil_0", url, *digests))
        sizes[file_name] = len(data)
    pins = read_pins(workspace.sources_lock)
    make_of_other_channel(workspace, variant, address.name, locked, sizes, pins)
    return variant.name


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


def play_deb(trial: Trial) -> None:
    """Build a package of a hostile deb."""
    room, random = trial.room, trial.random
    contents = Contents([], [])
    contents.add("./usr/share/thing/file")
    trial.tell(hostile(random, room, contents))
    trial.tell(hostile(random, room, contents))
    if random.random() < 0.5:
        contents.add("./usr/share/thing/last")
    control = tools.tar((tools.member("./control"), b"Package: hostile\nVersion: 1.0\n"))
    archive = tools.ar(
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", lzma.compress(control)),
        ("data.tar.xz", lzma.compress(tools.tar(*contents.members))),
    )
    data, what = spoiled(random, archive)
    trial.tell(what)
    digest = hashlib.sha256(data).hexdigest()
    pin = DebPin(
        suite="bullseye", name="hostile", version="1.0", size=len(data), sha256=digest,
        path="pool/main/h/hostile/hostile_1.0_amd64.deb",
    )  # fmt: skip
    build_hostile(trial, DEB_RECIPE, pin, data)


def play_wheel(trial: Trial) -> None:
    """Build a package of a hostile wheel."""
    room, random = trial.room, trial.random
    out = io.BytesIO()
    info = "hostile-1.0.dist-info"
    up = outside(random, room)
    nasty = random.choice(
        (
            f"[console_scripts]\n{up} = os:system\n",
            "[console_scripts]\nx = os:system('touch pwned')\n",
            "[console_scripts]\na b\nc = os\n",
            "[console_scripts]\nx = os\n :system\n",
            "no section = 1\n",
            "[console_scripts]\nx = a:b\nx = a:c\n",
            "\xff\xfe",
        )
    )
    name = random.choice(
        (up, f"hostile-1.0.data/scripts/{up}", f"hostile-1.0.data/data/{up}",
         f"hostile-1.0.data/headers/{up}", "hostile-1.0.data/data/bin/python", "hostile/\x00x",
         "hostile\\..\\x", "hostile", "hostile/a/b", f"hostile-1.0.data/purelib/{up}",
         f"{info}/METADATA", "hostile-1.0.data/data/site-packages/hostile/__init__.py")
    )  # fmt: skip
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as z:
        # Two members of one name are meant.
        warnings.simplefilter("ignore")
        z.writestr("hostile/__init__.py", "")
        z.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
        z.writestr(f"{info}/RECORD", "")
        if random.random() < 0.5:
            trial.tell(f"entry points {nasty!r}")
            z.writestr(f"{info}/entry_points.txt", nasty.encode("latin-1", "replace"))
        else:
            member = zipfile.ZipInfo(name)
            member.external_attr = random.choice((0o644, 0o4755, 0o120777, 0o20666)) << 16
            trial.tell(f"member {name!r}, mode {member.external_attr >> 16:o}")
            z.writestr(member, str(room.beside))
            z.writestr(f"{name}/{MARK}", "x")
    data, what = spoiled(random, out.getvalue())
    trial.tell(what)
    digest = hashlib.sha256(data).hexdigest()
    pin = IndexPin(
        name="hostile", version="1.0", filename="hostile-1.0-py3-none-any.whl", size=len(data),
        sha256=digest,
    )  # fmt: skip
    build_hostile(trial, WHEEL_RECIPE, pin, data)


def build_hostile(trial: Trial, recipe: str, pin: DebPin | IndexPin, data: bytes) -> None:
    room = trial.room
    folder, lock = room.root / "recipes/hostile", room.root / "recipes/sources.lock"
    before = lock.read_bytes()
    pins = read_pins(lock)
    debs = (*pins.debs, pin) if isinstance(pin, DebPin) else pins.debs
    files = (*pins.files, pin) if isinstance(pin, IndexPin) else pins.files
    write_pins(lock, Pins(debs, files))
    folder.mkdir()
    (folder / "recipe.yaml").write_text(recipe)
    cached = room.cache / "sources/sha256" / pin.sha256[:2] / pin.sha256 / pin.filename
    cached.parent.mkdir(parents=True)
    cached.write_bytes(data)
    done = room.run("package", "--name", "hostile")
    if done.status:
        room.check_error(done, "hostile")
    check_marks(room, done)
    for path in room.cached("packages/*/hostile-*.conda"):
        check_package(done, path)
    remove(folder)
    lock.write_bytes(before)
    forget(room)
    room.check_undisturbed("by-conda")


def check_package(done: Done, path: Path) -> None:
    """Check that a package that was built names no path outside."""
    import rattler

    names = [str(e.relative_path) for e in rattler.PathsJson.from_package_archive(path).paths]
    bad = [name for name in names if name.startswith("/") or ".." in name.split("/")]
    check(done, not bad, f"{path.name} has paths outside: {bad}")
