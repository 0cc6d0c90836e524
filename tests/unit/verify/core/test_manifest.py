"""The files of an environment against its manifest: each kind of damage is named."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from unit.helpers.environments import MANIFEST, SITE_PACKAGES, add, environment

manifest = importlib.import_module("verify.core.manifest")
checked = importlib.import_module("verify.core.sealed")
sealed = importlib.import_module("verify.core.sealed")

LIBRARY = "lib/libz.so.1"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return environment(tmp_path / "environment")


def differences(prefix: Path, full: bool = False) -> dict[str, str]:
    found = manifest.compare(str(prefix), full).differences
    return {manifest.display(path): problem for path, problem in found}


def extra(prefix: Path) -> list[str]:
    return [manifest.display(path) for path in manifest.compare(str(prefix)).extra]


def same_size(prefix: Path) -> None:
    add(prefix, LIBRARY, "A library", 0o555)


def appended(prefix: Path) -> None:
    add(prefix, LIBRARY, "a library!", 0o555)


def linked(prefix: Path) -> None:
    (prefix / LIBRARY).unlink()
    (prefix / LIBRARY).symlink_to("elsewhere")


def pipe(prefix: Path) -> None:
    (prefix / LIBRARY).unlink()
    os.mkfifo(prefix / LIBRARY)


def bound(prefix: Path) -> None:
    (prefix / LIBRARY).unlink()
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(prefix / "lib")
        server.bind("libz.so.1")
        os.chdir(before)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda p: (p / LIBRARY).unlink(), "missing"),
        (lambda p: (p / LIBRARY).chmod(0o755), "changed: mode 755, not 555"),
        (lambda p: (p / LIBRARY).chmod(0o4555), "changed: mode 4555, not 555"),
        (same_size, "changed: SHA-256 "),
        (appended, "changed: 10 bytes, not 9"),
        (linked, "changed: a link, not a file"),
        (pipe, "changed: a pipe, socket or device, not a file"),
        (bound, "changed: a pipe, socket or device, not a file"),
    ],
)
def test_a_damaged_file_is_named(
    damage: Callable[[Path], object], problem: str, prefix: Path
) -> None:
    assert differences(prefix) == {}
    damage(prefix)
    [(path, found)] = differences(prefix).items()
    assert path == LIBRARY and found.startswith(problem)


def test_a_file_with_other_bytes_and_another_mode_has_two_differences(prefix: Path) -> None:
    add(prefix, LIBRARY, "A library", 0o755)
    first, second = manifest.compare(str(prefix)).differences
    assert first.problem.startswith("changed: SHA-256 ")
    assert second.problem == "changed: mode 755, not 555"


def test_a_link_to_another_place_and_a_file_in_place_of_a_link_are_named(prefix: Path) -> None:
    link = prefix / "lib/libz.so"
    link.unlink()
    link.symlink_to("libz.so.2")
    assert differences(prefix) == {"lib/libz.so": "changed: a link to libz.so.2, not to libz.so.1"}
    link.unlink()
    link.write_text("a library")
    assert differences(prefix) == {"lib/libz.so": "changed: a file, not a link"}


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_replaced_folder_is_one_difference_and_a_link_is_not_followed(
    kind: str, prefix: Path, tmp_path: Path
) -> None:
    numpy = prefix / SITE_PACKAGES / "numpy"
    # The same files, by way of a link.
    shutil.move(numpy, tmp_path / "numpy")
    if kind == "link":
        numpy.symlink_to(tmp_path / "numpy")
    else:
        numpy.write_text("")
    assert differences(prefix) == {f"{SITE_PACKAGES}/numpy": f"changed: a {kind}, not a folder"}
    assert extra(prefix) == []


def test_files_that_the_manifest_lacks_are_extra_and_those_of_programs_are_ignored(
    prefix: Path,
) -> None:
    for name in ("var/log", "etc/theano-stacks/ready.json", "conda-meta/history"):
        add(prefix, name, "anything")
    assert (extra(prefix), differences(prefix)) == ([], {})
    add(prefix, "bin/more")
    (prefix / "lib/broken").symlink_to("nowhere")
    (prefix / "lib/empty").mkdir()
    assert extra(prefix) == ["bin/more", "lib/broken"]


def test_names_that_are_not_utf_8_are_named(prefix: Path) -> None:
    Path(os.fsdecode(os.fsencode(prefix) + b"/lib/\xff")).write_text("")
    assert extra(prefix) == ["lib/\ufffd"]


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
    monkeypatch.setattr(manifest.os, "scandir", refuse(os.scandir))
    assert differences(prefix) == {name: "cannot be read: Permission denied"}


def test_a_damaged_or_missing_manifest_is_an_error(prefix: Path) -> None:
    text = (prefix / MANIFEST).read_text()
    (prefix / MANIFEST).write_text(text.replace("libz.so.1", "libz.so.2"))
    with pytest.raises(manifest.ManifestError, match=f"^{MANIFEST} is damaged"):
        manifest.compare(str(prefix))
    (prefix / MANIFEST).unlink()
    with pytest.raises(manifest.ManifestError, match=f"^{MANIFEST} is missing$"):
        manifest.compare(str(prefix))


@pytest.fixture
def read_again(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Give a function that compares as a minute later, and returns the paths that were read."""
    monkeypatch.setattr(manifest.time, "time", lambda: 2.0**33)
    digests = manifest.digests

    def compared(prefix: Path, full: bool = False) -> list[str]:
        paths: list[str] = []

        def listed(prefix: bytes, chosen: list[bytes]) -> object:
            paths.extend(map(os.fsdecode, chosen))
            return digests(prefix, chosen)

        monkeypatch.setattr(manifest, "digests", listed)
        manifest.compare(str(prefix), full)
        return paths

    return compared


def test_only_changed_files_are_read_again(
    prefix: Path, read_again: Callable[..., list[str]]
) -> None:
    every = read_again(prefix)
    assert LIBRARY in every and "lib/libz.so" not in every
    assert read_again(prefix) == []
    # The same bytes, size and modification time, and another file.
    status = (prefix / LIBRARY).stat()
    add(prefix, LIBRARY, "a library", 0o555)
    os.utime(prefix / LIBRARY, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert read_again(prefix) == [LIBRARY]
    assert read_again(prefix) == []
    assert read_again(prefix, full=True) == every


def test_a_changed_byte_with_the_old_times_is_named(
    prefix: Path, read_again: Callable[..., list[str]]
) -> None:
    read_again(prefix)
    path = prefix / LIBRARY
    status = path.stat()
    with path.open("r+") as file:
        file.write("A")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert list(differences(prefix)) == [LIBRARY]
    # What is damaged is not recorded.
    assert list(differences(prefix)) == [LIBRARY]


def test_a_file_that_changed_just_now_is_not_recorded(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = (prefix / LIBRARY).stat().st_ctime
    monkeypatch.setattr(manifest.time, "time", lambda: now + 0.9)
    assert differences(prefix) == {}
    assert not (prefix / checked.RECORD.decode()).exists()


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"a": []},
        {"a": ["file"]},
        {"a": ["file", "855", 3, "00"]},
        {"a": ["file", 555, 3, "00"]},
        {"a": ["file", "555", "3", "00"]},
        {"a": ["file", "555", 3, None]},
        {"a": ["link", 1]},
        {"a": ["other"]},
        {"a": {"file": 1}},
        {"\ud800": ["link", "a"]},
        {"a": ["link", "\ud800"]},
    ],
)
def test_a_manifest_of_another_form_is_an_error(content: object, prefix: Path) -> None:
    add(prefix, "a")
    (prefix / MANIFEST).write_bytes(sealed.text(content))
    with pytest.raises(manifest.ManifestError, match=f"^{MANIFEST} is damaged"):
        manifest.compare(str(prefix))


def test_a_name_cannot_write_lines_or_colours_to_a_terminal() -> None:
    assert manifest.display(b"lib/a\npass  files\x1b[2J\xc2\x9b\x7f") == "lib/a?pass  files?[2J??"
