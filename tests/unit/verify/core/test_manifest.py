"""The files of an environment: each kind of damage is named, and only what changed is read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.environments.make.contents import MANIFEST, write_manifest
from unit.helpers.environments import SITE_PACKAGES, add, environment, linked
from verify.core import expectation, manifest

LIBRARY, LINK, NUMPY = "lib/libz.so.1", "lib/libz.so", f"{SITE_PACKAGES}/numpy"
RECORD = "var/checked.json"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def differences(prefix: Path, full: bool = False) -> list[tuple[str, str]]:
    found = manifest.compare(str(prefix), full).differences
    return [(manifest.display(path), problem) for path, problem in found]


def extra(prefix: Path) -> list[str]:
    return [manifest.display(path) for path in manifest.compare(str(prefix)).extra]


def edited(text: str, mode: int = 0o555) -> Callable[[Path], object]:
    return lambda path: add(path.parent, path.name, text, mode)


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def moved(folder: Path, linked: bool) -> None:
    """The same files, by way of a link that is not followed; or a file in place of the folder."""
    away = folder.parents[5] / "away"
    shutil.move(folder, away)
    folder.symlink_to(away) if linked else folder.touch()


def test_whoever_shares_an_environment_may_make_it_read_only(prefix: Path) -> None:
    path = add(prefix, LIBRARY)
    write_manifest(prefix)
    path.chmod(0o444)
    assert differences(prefix) == []
    path.chmod(0o400)
    assert differences(prefix) == [(LIBRARY, "changed: mode 400, not 644")]


@pytest.mark.parametrize(
    ("path", "damage", "problems"),
    [
        (LIBRARY, Path.unlink, ["missing"]),
        (LIBRARY, lambda path: path.chmod(0o755), ["changed: mode 755, not 555"]),
        (LIBRARY, lambda path: path.chmod(0o4555), ["changed: mode 4555, not 555"]),
        (LIBRARY, edited("A library"), ["changed: SHA-256 "]),
        (LIBRARY, edited("A library", 0o755), ["changed: SHA-256 ", "changed: mode 755, not 555"]),
        (LIBRARY, edited("a library!"), ["changed: 10 bytes, not 9"]),
        (LIBRARY, lambda path: linked(path, "elsewhere"), ["changed: a link, not a file"]),
        (
            LIBRARY,
            lambda path: replaced(path, os.mkfifo),
            ["changed: a pipe, socket or device, not a file"],
        ),
        (LINK, lambda path: linked(path, "libz.so.2"), ["changed: a link to libz.so.2, not to li"]),
        (LINK, lambda path: replaced(path, Path.touch), ["changed: a file, not a link"]),
        (NUMPY, lambda path: moved(path, True), ["changed: a link, not a folder"]),
        (NUMPY, lambda path: moved(path, False), ["changed: a file, not a folder"]),
    ],
)
def test_each_damage_is_named(
    path: str, damage: Callable[[Path], object], problems: list[str], prefix: Path
) -> None:
    assert differences(prefix) == []
    damage(prefix / path)
    found = differences(prefix)
    assert [name for name, _ in found] == [path] * len(problems)
    assert all(text.startswith(start) for (_, text), start in zip(found, problems, strict=True))
    assert extra(prefix) == []


def test_files_that_the_manifest_lacks_are_extra_and_those_of_programs_are_ignored(
    prefix: Path,
) -> None:
    for name in ("var/log", "etc/theano-stacks/ready.json", "conda-meta/history"):
        add(prefix, name, "anything")
    assert (extra(prefix), differences(prefix)) == ([], [])
    add(prefix, "bin/more")
    (prefix / "lib/broken").symlink_to("nowhere")
    (prefix / "lib/empty").mkdir()
    Path(os.fsdecode(os.fsencode(prefix) + b"/lib/\xff")).touch()
    assert extra(prefix) == ["bin/more", "lib/broken", "lib/\ufffd"]
    # A name cannot write lines or colours to a terminal.
    assert manifest.display(b"lib/a\npass  files\x1b[2J\xc2\x9b\x7f") == "lib/a?pass  files?[2J??"


@pytest.mark.parametrize("name", [LIBRARY, "lib"])
def test_what_cannot_be_read_is_named(
    name: str, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(function: Callable[..., object]) -> Callable[..., object]:
        def call(path: object, *more: object) -> object:
            if path == os.fsencode(prefix / name):
                raise PermissionError(13, "Permission denied")
            return function(path, *more)

        return call

    monkeypatch.setattr(manifest.os, "open", refuse(os.open))
    monkeypatch.setattr(manifest.os, "listdir", refuse(os.listdir))
    assert differences(prefix) == [(name, "cannot be read: Permission denied")]


@pytest.fixture
def read_again(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Give a function that compares as a minute later, and returns the paths that were read."""
    monkeypatch.setattr(manifest.time, "time", lambda: 2.0**33)
    opened = os.open

    def compared(prefix: Path, full: bool = False) -> list[str]:
        paths: list[str] = []

        def listed(path: bytes, flags: int, mode: int = 0o777) -> int:
            if flags & os.O_ACCMODE == os.O_RDONLY:
                paths.append(os.path.relpath(os.fsdecode(path), prefix))
            return opened(path, flags, mode)

        monkeypatch.setattr(manifest.os, "open", listed)
        manifest.compare(str(prefix), full)
        return paths

    return compared


def test_only_changed_files_are_read_again(
    prefix: Path, read_again: Callable[..., list[str]]
) -> None:
    every = read_again(prefix)
    assert LIBRARY in every and LINK not in every
    assert read_again(prefix) == []
    # The same size and modification time: another file first, then another byte in the same file.
    path = prefix / LIBRARY
    status = path.stat()
    add(prefix, LIBRARY, "a library", 0o555)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (read_again(prefix), read_again(prefix)) == ([LIBRARY], [])
    assert read_again(prefix, full=True) == every
    with path.open("r+") as file:
        file.write("A")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    # What is damaged is not recorded.
    assert (read_again(prefix), read_again(prefix)) == ([LIBRARY], [LIBRARY])
    assert [name for name, _ in differences(prefix)] == [LIBRARY]


def test_a_file_that_changed_just_now_is_not_recorded(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = (prefix / LIBRARY).stat().st_ctime
    monkeypatch.setattr(manifest.time, "time", lambda: now + 0.9)
    assert differences(prefix) == []
    assert not (prefix / RECORD).exists()


def test_a_record_is_that_of_one_manifest_and_an_empty_one_where_it_is_damaged(
    tmp_path: Path,
) -> None:
    path, prefix, content = tmp_path / RECORD, os.fsencode(tmp_path), {b"lib/a": "1 2"}
    path.parent.mkdir()
    manifest.store_record(prefix, "00", content)
    assert manifest.load_record(prefix, "00") == content
    assert manifest.load_record(prefix, "01") == {}
    assert [path.name for path in path.parent.iterdir()] == [path.name]
    path.write_bytes(path.read_bytes().replace(b"1 2", b"1 3"))
    assert manifest.load_record(prefix, "00") == {}
    # A user may write anything there.
    forms: list[object] = [[], {"manifest": "00"}, {"manifest": "00", "files": {"a": {}}}]
    for form in forms:
        path.write_bytes(expectation.sealed_text(form))
        assert manifest.load_record(prefix, "00") == {}
    replaced(path, os.mkfifo)
    assert manifest.load_record(prefix, "00") == {}


def test_no_record_is_written_outside_the_environment(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("kept")
    (tmp_path / "var").symlink_to("outside")
    manifest.store_record(os.fsencode(tmp_path), "00", {})
    (tmp_path / "var").unlink()
    (tmp_path / "var").mkdir()
    # Its new file, before it is renamed.
    (tmp_path / f"{RECORD}.part").symlink_to(tmp_path / "outside/file")
    manifest.store_record(os.fsencode(tmp_path), "00", {})
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["file"]
    assert (tmp_path / "outside/file").read_text() == "kept"


def test_the_name_of_the_python_files_changes_with_each_of_them_alone(tmp_path: Path) -> None:
    names = []
    for number, source in enumerate(("x = 1", "x = 2", "x = 2")):
        place = tmp_path / str(number)
        add(place, "lib/a.py", source)
        add(place, "lib/data", str(number))
        write_manifest(place)
        names.append(manifest.sources_digest(str(place)))
    assert names[0] != names[1] == names[2]
    (tmp_path / "2" / MANIFEST).unlink()
    assert manifest.sources_digest(str(tmp_path / "2")) is None
