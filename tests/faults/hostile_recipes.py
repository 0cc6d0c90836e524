"""Hostile debs and wheels, which recipes make packages of."""

import hashlib
import io
import lzma
import warnings
import zipfile

import rattler
from unit.helpers import archives as tools
from unit.helpers.environments import add

from faults.hostile import MARK, Contents, finish, hostile, outside, spoiled
from faults.room import Trial
from faults.trees import remove
from stacks.sources.pins import DebPin, IndexPin, Pins, read_pins, write_pins

RECIPE = """\
package: {{name: hostile, version: 1.0}}
{build}source:
  - {source}
requirements: {{run: [python]}}
about: {{license: MIT, summary: Hostile, republish: "yes"}}
extra: {extra}
"""
DEB_RECIPE = RECIPE.format(
    build="",
    source="{suite: bullseye, debs: [hostile]}",
    extra='{stage: debian-files, files: {"usr/share/*": share}}',
)
WHEEL_RECIPE = RECIPE.format(
    build="build: {noarch: python}\n",
    source="{project: hostile, version: 1.0, file: hostile-1.0-py3-none-any.whl}",
    extra="{stage: wheel}",
)


def play_deb(trial: Trial) -> None:
    """Build a package of a hostile deb."""
    random, contents = trial.random, Contents()
    contents.add("./usr/share/thing/file")
    for _ in range(2):
        trial.tell(hostile(random, trial.room, contents))
    if random.random() < 0.5:
        contents.add("./usr/share/thing/last")
    control = tools.tar((tools.member("./control"), b"Package: hostile\nVersion: 1.0\n"))
    archive = tools.ar(
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", lzma.compress(control)),
        ("data.tar.xz", lzma.compress(tools.tar(*contents.members))),
    )
    build_hostile(trial, DEB_RECIPE, spoiled(trial, archive))


def play_wheel(trial: Trial) -> None:
    """Build a package of a hostile wheel."""
    room, random = trial.room, trial.random
    out, info, up = io.BytesIO(), "hostile-1.0.dist-info", outside(random, room)
    scripts = "[console_scripts]\n"
    nasty = random.choice(
        (f"{scripts}{up} = os:system\n", f"{scripts}x = os:system('touch pwned')\n",
         f"{scripts}a b\nc = os\n", f"{scripts}x = os\n :system\n", "no section = 1\n",
         f"{scripts}x = a:b\nx = a:c\n", "\xff\xfe")
    )  # fmt: skip
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
    build_hostile(trial, WHEEL_RECIPE, spoiled(trial, out.getvalue()))


def build_hostile(trial: Trial, recipe: str, data: bytes) -> None:
    """Build a package by a recipe from an archive, whatever its bytes are."""
    room = trial.room
    folder, lock = room.root / "recipes/hostile", room.root / "recipes/sources.lock"
    before, pins = lock.read_bytes(), read_pins(lock)
    digest, size = hashlib.sha256(data).hexdigest(), len(data)
    pin: DebPin | IndexPin
    if recipe == DEB_RECIPE:
        path = "pool/main/h/hostile/hostile_1.0_amd64.deb"
        pin = DebPin(
            suite="bullseye", name="hostile", version="1.0", size=size, sha256=digest, path=path
        )
        write_pins(lock, Pins((*pins.debs, pin), pins.files))
    else:
        file = "hostile-1.0-py3-none-any.whl"
        pin = IndexPin(name="hostile", version="1.0", filename=file, size=size, sha256=digest)
        write_pins(lock, Pins(pins.debs, (*pins.files, pin)))
    folder.mkdir()
    (folder / "recipe.yaml").write_text(recipe)
    add(room.cache / "sources/sha256" / digest[:2] / digest, pin.filename, data)
    done = room.run("package", "--name", "hostile")
    if done.status:
        room.check_error(done, "hostile")
    for made in room.cached("packages/*/hostile-*.conda"):
        entries = rattler.PathsJson.from_package_archive(made).paths
        names = [str(entry.relative_path) for entry in entries]
        bad = [name for name in names if name.startswith("/") or ".." in name.split("/")]
        done.check(not bad, f"{made.name} has paths outside: {bad}")
    remove(folder)
    lock.write_bytes(before)
    finish(trial, done)
