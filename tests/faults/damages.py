"""Changed, shortened, lengthened and missing files in the cache, in locks and in environments."""

import subprocess
import sys
from pathlib import Path
from random import Random

from faults.room import MARKER, Done, Room, Trial
from faults.trees import broken, remove
from stacks.core.disk import REPOSITORY
from verify.core.manifest import MANIFEST

WAYS = ("flip", "flip", "cut", "delete", "append", "empty", "mode", "folder", "link")
# Each area: the files that may be damaged, and the variant to make.
AREAS = {
    "sources": (("sources/*/*/*/six-*",), "by-pip"),
    "packages": (("packages/*/*.conda",), "by-conda"),
    "unpacked": (("unpacked/*/*/**/*",), "by-conda"),
    "paths": (("unpacked/*/info/*.json",), "by-conda"),
}


def damage(random: Random, path: Path, ways: tuple[str, ...] = WAYS) -> str:
    """Damage one file, with no effect on other hard links; return what was done."""
    way = random.choice(ways)
    mode, data = path.stat().st_mode & 0o7777, path.read_bytes()
    path.unlink()
    if way == "mode":
        mode ^= random.choice((0o111, 0o200, 0o022, 0o4000))
        way = f"mode {mode:o}"
    elif way in ("flip", "cut", "append", "empty"):
        data = broken(random, data, way)
    if way == "delete":
        return way
    if way == "folder":
        path.mkdir()
    elif way == "link":
        path.symlink_to("/etc/hostname")
    else:
        path.write_bytes(data)
        path.chmod(mode)
    return way


def play_cache(trial: Trial, area: str) -> None:
    """Damage a file of the cache; the environment made from it has the right bytes, or none is."""
    room, random = trial.room, trial.random
    patterns, variant = AREAS[area]
    room.without()
    files = [path for pattern in patterns for path in room.cached(pattern)]
    assert files, f"the cache has no {area}"
    if area == "packages":
        # Python takes seconds to build again.
        small = [path for path in files if not any(path.parent.glob("python-*"))]
        files = small if random.random() < 0.8 else files
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        path = random.choice(files)
        if path.is_file():
            ways = tuple(w for w in WAYS if w != "mode") if area == "sources" else WAYS
            way = damage(random, path, ways)
            trial.tell(f"{way}: {path.relative_to(room.root)}")
    if area == "paths" and random.random() < 0.3:
        add_entry(trial, variant)
    done = room.run("make", "--variant", variant)
    room.check_result(done, variant)
    room.check_undisturbed(variant)


def add_entry(trial: Trial, variant: str) -> None:
    """Name one more file in a paths.json of a variant's: it must not be installed."""
    [other] = {"by-conda", "by-pip"} - {variant}
    found = [
        path
        for path in trial.room.cached("unpacked/*/info/paths.json")
        if path.is_file() and not path.parent.parent.name.endswith(other.replace("-", "_"))
    ]
    if not found:
        return
    paths = trial.random.choice(found)
    extra = paths.parent.parent / "bin/extra"
    extra.parent.mkdir(exist_ok=True)
    extra.write_text("#!/bin/sh\n")
    text = paths.read_text(errors="replace")
    entry = '{"_path": "bin/extra", "path_type": "hardlink", "sha256": "", "size_in_bytes": 10},'
    data = text.replace('"paths": [', f'"paths": [{entry}', 1)
    paths.unlink()
    paths.write_text(data)
    trial.tell(f"bin/extra added to {paths.relative_to(trial.room.root)}")


def edit(path: Path) -> str:
    """Write into a file as an editor does that keeps the inode: the cache may have it too."""
    path.chmod(0o644)
    with path.open("ab") as file:
        file.write(b"edited")
    return "edit in place"


def play_environment(trial: Trial) -> None:
    """Damage a finished environment; `files` names it, and a repair puts it right."""
    room, random = trial.room, trial.random
    variant = random.choice(("by-conda", "by-pip"))
    place = room.place(variant)
    files = sorted(
        path
        for path in place.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.suffix not in (".pyc", ".pyo")
        and path.relative_to(place).parts[0] != "var"
        # Not in the manifest: a conda client writes the one, the builder the other after it.
        and str(path.relative_to(place)) not in ("conda-meta/history", MARKER)
    )
    path = random.choice(files)
    # A tenth hits what the rest depends on.
    if random.random() < 0.1:
        path = place / random.choice(
            ("bin/python2.7", "etc/theanorc", "etc/theano-stacks/expect.json")
        )
        path = path if path.is_file() else files[0]
    name = str(path.relative_to(place))
    way = edit(path) if random.random() < 0.3 else damage(random, path)
    trial.tell(f"{way}: {variant}/{name}")
    (place / "left-over.so").write_bytes(b"\x7fELF")
    done = verify_files(room, variant)
    done.check(done.status == 1, "`verify files` does not fail")
    done.check(path.name in done.out + done.err, f"`verify files` does not name {name}")
    if name != MANIFEST:
        names = "left-over.so" in done.out + done.err
        done.check(names, "`verify files` does not name an extra file")
    repaired = room.run("make", "--variant", variant, "--repair")
    repaired.check(repaired.status == 0, "the repair fails")
    room.check_tree(repaired, variant)
    done = verify_files(room, variant)
    done.check(done.status == 0, "`verify files` fails after the repair")
    room.check_undisturbed(variant)


def verify_files(room: Room, variant: str) -> Done:
    """Run the suite's comparison of an environment with its manifest."""
    words = (str(REPOSITORY / "verify"), "files", "--prefix", str(room.place(variant)))
    ended = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=room.root,
        errors="backslashreplace",
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(room.temporary)},
    )  # fmt: skip
    done = Done(words, ended.returncode, ended.stdout, ended.stderr)
    room.runs.append(done)
    done.check("Traceback" not in done.out + done.err, "a traceback")
    return done


def play_lock(trial: Trial) -> None:
    """Damage a committed lock; the environment is the locked one, or the lock is named."""
    room, random = trial.room, trial.random
    variant = random.choice(("by-conda", "by-pip"))
    folder = room.root / "envs/locks/tiny" / variant
    path = random.choice(sorted(p for p in folder.iterdir() if p.is_file()))
    data = path.read_bytes()
    ways = tuple(way for way in WAYS if way != "mode")
    trial.tell(f"{damage(random, path, ways)}: {path.relative_to(room.root)}")
    room.without()
    done = room.run("make", "--variant", variant)
    room.check_result(done, variant, variant, path.name)
    remove(path)
    path.write_bytes(data)
    room.check_undisturbed(variant)
