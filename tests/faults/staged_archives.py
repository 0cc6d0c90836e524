"""Hostile debs and wheels, of which packages are built."""

from __future__ import annotations

import hashlib
import io
import lzma
import warnings
import zipfile
from pathlib import Path

from unit.helpers import archives as tools

from faults.hostile import MARK, Contents, check_marks, forget, hostile, outside, spoiled
from faults.room import Done, check
from faults.trees import remove
from faults.trial import Trial
from stacks.sources.pins import DebPin, IndexPin, Pins, read_pins, write_pins

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
