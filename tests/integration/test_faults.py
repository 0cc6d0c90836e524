"""Builds of environments that run at once, may not write, or read damaged files.

What builds that are killed or lack space leave, and any other damage: tests/faults.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from integration.tiny import Builder, Tiny, flip, obeying, tree
from stacks.core.errors import DiskError
from stacks.environments import folders
from stacks.environments.folders import READY
from stacks.environments.make import build as pipeline
from stacks.environments.make import contents


def ended(builder: Builder) -> tuple[int, str, str]:
    with builder:
        out, error = builder.communicate()
    assert "Traceback" not in error, error
    return builder.returncode, out, error


def assert_sound(tiny: Tiny, name: str) -> None:
    """Check that the environment is ready, works, and has no partial files beside it."""
    place = tiny.place(name)
    assert tiny.is_ready(name)
    code = "import six; print(six.__file__)"
    output = subprocess.check_output([place / "bin/python", "-c", code])
    assert str(place) in output.decode()
    assert sorted(p.name for p in place.parent.iterdir()) == [f".{name}.lock", name]
    assert not list(tiny.cache.glob("*/.*.part"))


def test_concurrent_builds(tiny: Tiny) -> None:
    first = tiny.builder("by-pip", hold=True)
    assert first.stdout and first.stdout.readline() == "held\n"
    second = tiny.builder("by-pip")
    assert second.stderr
    line = next(line for line in second.stderr if "waiting" in line)
    holder = f"waiting: the environment tiny/by-pip is being made by process {first.pid}: "
    assert line.startswith(holder)
    with first:
        out, _ = first.communicate("go on\n")
    made = tiny.place("by-pip").stat()
    assert (first.returncode, out) == (0, f"{tiny.place('by-pip')}\n")
    assert ended(second)[:2] == (0, f"{tiny.place('by-pip')}\n")
    assert tiny.place("by-pip").stat() == made
    assert_sound(tiny, "by-pip")


@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        ("packages/*/python-2.7*.conda", ""),
        ("packages/*/six-*.conda", ""),
        # Another package in the place of the locked one.
        ("packages/*/six-*.conda", "packages/*/wheel-*.conda"),
        ("sources/*/*/*/six-*.whl", ""),
    ],
)
def test_a_damaged_cache_without_a_network(tiny: Tiny, pattern: str, other: str) -> None:
    damaged = tiny.cached(pattern)
    if other:
        shutil.copy(tiny.cached(other), damaged.with_name("other"))
        damaged.with_name("other").replace(damaged)
    else:
        flip(damaged)
    name = "by-pip" if "sources" in pattern else "by-conda"
    if "six-*.conda" in pattern:
        shutil.rmtree(tiny.cache / "sources")
    status, out, error = ended(tiny.builder(name))
    assert (status, out) == (1, "")
    assert "127.0.0.1" in error and "fix:" in error
    assert not tiny.place(name).exists()


def damage(place: Path) -> None:
    """Change, remove and add files, as an accident or pip would."""
    (place / "bin/python2.7").chmod(0o755)
    with (place / "bin/python2.7").open("r+b") as file:
        file.write(b"\0")
    (place / "bin/python").unlink()
    shutil.move(place / "lib/python2.7/json", place / "elsewhere")
    (place / "lib/python2.7/json").symlink_to(place / "elsewhere")
    (place / "lib/odd.so").touch()
    (place / contents.MANIFEST).write_text("damaged")
    (place / READY).unlink()


@pytest.mark.parametrize("name", ["by-conda", "by-pip"])
def test_a_damaged_environment_is_repaired(
    name: str, tiny: Tiny, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tiny.make(name)
    sound = tree(place)
    other = tiny.root / "prefixes" / "other"
    pipeline.make_environment(tiny.workspace, tiny.variant(name), other)
    before = tree(other)
    mine = place / "lib/python2.7/site-packages/mine-1.dist-info"
    mine.mkdir()
    (mine / "INSTALLER").write_text("pip\n")
    (mine / "RECORD").write_text("mine-1.dist-info/RECORD,,\n")
    # Else the files are reflinks, and an edit stays where it is made.
    has_hard_links = (place / "bin/python2.7").stat().st_nlink > 1
    damage(place)
    assert (tree(other) != before) == has_hard_links
    pipeline.make_environment(tiny.workspace, tiny.variant(name), place, repair=True)
    error = capfd.readouterr().err
    for line in (
        "put back: bin/python (missing)",
        "put back: bin/python2.7 (changed)",
        "moved away: lib/odd.so (extra)",
    ):
        assert line in error
    assert (mine / "INSTALLER").is_file()
    shutil.rmtree(mine)
    assert tree(place) == sound
    assert tiny.is_ready(name)
    aside = folders.replaced_folder(place)
    assert (aside / "1/bin/python2.7").read_bytes()[:1] == b"\0"
    assert (aside / "1/lib/python2.7/json").is_symlink()
    pipeline.make_environment(tiny.workspace, tiny.variant(name), other, repair=True)
    assert tree(other) == before
    # A sound one needs no repair.
    inode = (place / "lib/python2.7/os.py").stat().st_ino
    pipeline.make_environment(tiny.workspace, tiny.variant(name), place, repair=True)
    assert "nothing differed" in capfd.readouterr().err
    assert (place / "lib/python2.7/os.py").stat().st_ino == inode


@pytest.mark.parametrize("folder", ["cache", "prefixes"])
def test_a_folder_without_write_permission(tiny: Tiny, folder: str) -> None:
    place = tiny.root / folder
    place.mkdir(exist_ok=True)
    place.chmod(0o555)
    try:
        status, _, error = ended(tiny.builder("by-pip", wrapper=obeying()))
    finally:
        place.chmod(0o755)
    assert status == 1
    assert f"{place}" in error and "Permission denied" in error
    assert ("THEANO_STACKS_CACHE" in error) == (folder == "cache")
    assert not tiny.place("by-pip").exists()


def test_a_file_in_place_of_the_environment(tiny: Tiny) -> None:
    place = tiny.place("by-conda")
    place.parent.mkdir()
    place.write_text("a person's")
    with pytest.raises(DiskError, match="a file stands where a folder is needed"):
        tiny.make("by-conda")
    assert place.read_text() == "a person's"
