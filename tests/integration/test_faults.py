"""Environments in the making that are killed, raced, starved, and fed with damaged files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from integration.tiny import Builder, Tiny, flip, tree
from stacks.core.disk import DiskError
from stacks.core.errors import FetchError, IntegrityError
from stacks.environments import prefix

KILLED = -9
POINTS = ("unpacking", "linking", "checking", "pip begins", "pip runs", "pip ended", "settings")


def ended(builder: Builder) -> tuple[int, str, str]:
    with builder:
        out, error = builder.communicate()
    assert "Traceback" not in error, error
    return builder.returncode, out, error


def assert_sound(tiny: Tiny, name: str) -> None:
    """The environment is ready, works, and nothing half-made lies beside it."""
    place = tiny.place(name)
    assert tiny.is_ready(name)
    said = subprocess.check_output([place / "bin/python", "-c", "import six; print(six.__file__)"])
    assert str(place) in said.decode()
    assert sorted(p.name for p in place.parent.iterdir()) == [f".{name}.lock", name]
    assert not list(tiny.cache.glob("*/.*.part"))


@pytest.mark.parametrize("point", POINTS)
def test_killed_in_the_middle(tiny: Tiny, point: str) -> None:
    status, out, _ = ended(tiny.builder("by-pip", point))
    assert (status, out) == (KILLED, "")
    assert not tiny.place("by-pip").exists()
    tiny.make("by-pip")
    assert_sound(tiny, "by-pip")


def test_killed_while_a_new_environment_takes_the_place_of_an_old_one(tiny: Tiny) -> None:
    place = tiny.make("by-conda")
    (place / prefix.READY).write_text("{}")
    assert ended(tiny.builder("by-conda", "swapping"))[0] == KILLED
    assert not tiny.is_ready("by-conda")
    tiny.make("by-conda")
    assert_sound(tiny, "by-conda")


def test_two_builds_at_once(tiny: Tiny) -> None:
    first = tiny.builder("by-pip", "hold")
    assert first.stdout and first.stdout.readline() == "held\n"
    second = tiny.builder("by-pip")
    assert second.stderr
    for line in second.stderr:
        if "waiting" in line:
            break
    assert line == "waiting: the environment tiny/by-pip is being made\n"
    with first:
        out, _ = first.communicate("go on\n")
    made = tiny.place("by-pip").stat()
    assert (first.returncode, out) == (0, f"{tiny.place('by-pip')}\n")
    assert ended(second)[:2] == (0, f"{tiny.place('by-pip')}\n")
    assert tiny.place("by-pip").stat() == made
    assert_sound(tiny, "by-pip")


@pytest.mark.parametrize(
    "pattern",
    ["packages/*/python-2.7*.conda", "packages/*/six-*.conda", "sources/*/*/*/six-*.whl"],
)
def test_a_flipped_byte_is_not_used_even_where_nothing_can_be_fetched(
    tiny: Tiny, pattern: str
) -> None:
    flip(tiny.cached(pattern))
    name = "by-pip" if "sources" in pattern else "by-conda"
    if "six-*.conda" in pattern:
        shutil.rmtree(tiny.cache / "sources")
    status, out, error = ended(tiny.builder(name))
    assert (status, out) == (1, "")
    assert "127.0.0.1" in error and "fix:" in error
    assert not tiny.place(name).exists()


def test_a_flipped_byte_in_a_package_has_it_built_again(tiny: Tiny) -> None:
    package = tiny.cached("packages/*/six-*.conda")
    sound = package.read_bytes()
    flip(package)
    status, _, error = ended(tiny.builder("by-conda"))
    assert "damaged in the cache; building it again" in error
    assert (status, package.read_bytes()) == (0, sound)
    assert_sound(tiny, "by-conda")


@pytest.mark.parametrize(
    ("damage", "pattern"),
    [
        ("flipped", "lib/python2.7/os.py"),
        ("missing", "lib/python2.7/os.py"),
        ("longer", "lib/python2.7/os.py"),
        ("flipped", "lib/libbz2.so.1"),
        ("empty", "bin/python"),
        ("flipped", "info/paths.json"),
        ("missing", "info/paths.json"),
        ("flipped", "info/index.json"),
    ],
)
def test_a_damaged_unpacked_package_is_unpacked_again(
    tiny: Tiny, damage: str, pattern: str
) -> None:
    tiny.make("by-conda")
    sound = tree(tiny.place("by-conda"))
    shutil.rmtree(tiny.place("by-conda"))
    path = tiny.cached(f"unpacked/python-2.7*/{pattern}")
    data = path.read_bytes()
    path.unlink()
    if damage == "flipped":
        path.write_bytes(data)
        flip(path)
    elif damage == "longer":
        path.write_bytes(data + b"\n\0")
    elif damage == "empty":
        path.write_bytes(b"")
    tiny.make("by-conda")
    assert tree(tiny.place("by-conda")) == sound
    assert_sound(tiny, "by-conda")


@pytest.mark.parametrize("where", ["file", "manifest", "no manifest", "a line fewer"])
def test_a_damaged_layer_is_made_again(
    tiny: Tiny, where: str, capfd: pytest.CaptureFixture[str]
) -> None:
    tiny.make("by-pip")
    sound = tree(tiny.place("by-pip"))
    shutil.rmtree(tiny.place("by-pip"))
    manifest = tiny.cached("layers/*/manifest.json")
    if where == "file":
        flip(tiny.cached("layers/*/files/lib/python2.7/site-packages/six.py"))
    elif where == "manifest":
        flip(manifest)
    elif where == "no manifest":
        manifest.unlink()
    else:
        lines = json.loads(manifest.read_bytes())
        del lines["lib/python2.7/site-packages/six.py"]
        manifest.write_text(json.dumps(lines))
    tiny.make("by-pip")
    assert "damaged in the cache; installing with pip again" in capfd.readouterr().err
    assert tree(tiny.place("by-pip")) == sound


def test_a_program_that_writes_into_its_environment_does_no_harm_to_the_next(tiny: Tiny) -> None:
    place = tiny.make("by-pip")
    sound = tree(place)
    for name in ("lib/python2.7/os.py", "lib/python2.7/site-packages/six.py"):
        with (place / name).open("a") as file:
            file.write("changed = True\n")
    shutil.rmtree(place)
    tiny.make("by-pip")
    assert tree(place) == sound


@pytest.mark.parametrize("marker", [b"", b"{}", b'{"key": "of another lock"}', b"\xff"])
def test_a_marker_of_another_lock_does_not_pass_for_ready(tiny: Tiny, marker: bytes) -> None:
    place = tiny.make("by-conda")
    (place / prefix.READY).write_bytes(marker)
    (place / "left-over").touch()
    tiny.make("by-conda")
    assert not (place / "left-over").exists()
    assert_sound(tiny, "by-conda")


def test_a_package_that_is_not_the_locked_one_is_not_installed(tiny: Tiny) -> None:
    """The cache is consistent in itself, but it is not what the lock says."""
    package = tiny.cached("packages/*/six-*.conda")
    other = tiny.cached("packages/*/wheel-*.conda")
    shutil.copy(other, package)
    built = json.loads((other.parent / "built.json").read_bytes())
    (package.parent / "built.json").write_text(json.dumps(built))
    with pytest.raises(IntegrityError) as caught:
        tiny.make("by-conda")
    assert caught.value.found == f"sha256 {built['sha256']}"
    assert "six-1.16.0" in caught.value.what
    assert not tiny.place("by-conda").exists()


# Takes root's right to write where nobody may, so that modes are obeyed.
OBEYING = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")


def obeying() -> tuple[str, ...]:
    return OBEYING if os.geteuid() == 0 else ()


@pytest.mark.parametrize("folder", ["cache", "prefixes"])
def test_a_folder_that_may_not_be_written(tiny: Tiny, folder: str) -> None:
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


@pytest.mark.parametrize("size", [1_000, 300_000, 3_000_000])
def test_a_disk_that_takes_no_more(tiny: Tiny, size: int) -> None:
    shutil.rmtree(tiny.cached("packages/*/six-*.conda").parent)
    status, _, error = ended(tiny.builder("by-conda", f"largest file {size}"))
    assert status == 1
    assert "fix:" in error
    assert not tiny.place("by-conda").exists()


def test_without_a_network_and_with_nothing_fetched(tiny: Tiny) -> None:
    shutil.rmtree(tiny.cache)
    status, out, error = ended(tiny.builder("by-conda"))
    assert (status, out) == (1, "")
    assert "127.0.0.1" in error and "fix:" in error


def test_a_layer_without_its_wheel(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(tiny.cache / "sources")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(FetchError):
        tiny.make("by-pip")
    assert not tiny.place("by-pip").exists()


def test_a_file_stands_where_the_environment_should(tiny: Tiny) -> None:
    place = tiny.place("by-conda")
    place.parent.mkdir()
    place.write_text("a person's")
    with pytest.raises(DiskError, match="a file stands where a folder is needed"):
        tiny.make("by-conda")
    assert place.read_text() == "a person's"
