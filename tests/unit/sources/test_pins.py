from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.sources.pins import DebPin, IndexPin, Pins, read_pins, write_pins

DEB = DebPin(
    suite="bullseye",
    name="libfoo1",
    version="1:1.10-2+deb11u1~x",
    path="pool/main/f/foo/libfoo1_1.10-2_amd64.deb",
    size=7,
    sha256="12345678" * 8,
)
WHEEL = IndexPin(
    name="Foo_Bar",
    version="1.10",
    filename="Foo_Bar-1.10-py3-none-any.whl",
    size=8,
    sha256="0123abcd" * 8,
)
SDIST = IndexPin(
    name="foo-bar", version="1.10", filename="foo-bar-1.10.tar.gz", size=9, sha256="0" * 64
)


def test_written_pins_are_read_again_and_stand_one_in_a_line(tmp_path: Path) -> None:
    for name, files in (("lock", (SDIST, WHEEL)), ("b", (WHEEL, SDIST))):
        write_pins(tmp_path / name, Pins((DEB,), files))
        assert read_pins(tmp_path / name) == Pins((DEB,), (WHEEL, SDIST))
    assert (tmp_path / "lock").read_bytes() == (tmp_path / "b").read_bytes()
    text = (tmp_path / "lock").read_text()
    assert text.startswith("#")
    assert "Made by `./invoke pin`" in text.partition("debs:")[0]
    pins = [line for line in text.splitlines() if line.startswith("- ")]
    assert [DEB.name in pins[0], WHEEL.filename in pins[1], SDIST.filename in pins[2]] == [True] * 3
    write_pins(tmp_path / "empty", Pins())
    assert read_pins(tmp_path / "empty") == Pins()


def test_all_files_of_a_source_package_are_written_and_read(tmp_path: Path) -> None:
    files = (DEB, replace(DEB, path="pool/main/f/foo/foo.dsc", size=3))
    write_pins(tmp_path / "lock", Pins((DEB,), (WHEEL,), files))
    pins = read_pins(tmp_path / "lock")
    assert pins == Pins((DEB,), (WHEEL,), tuple(sorted(files)))
    assert pins.source("bullseye", "libfoo1") == tuple(sorted(files))
    for suite, name in (("bookworm", "libfoo1"), ("bullseye", "foo")):
        with pytest.raises(UsageError, match=f"no source package {name} of {suite} is pinned"):
            pins.source(suite, name)


def test_lookups() -> None:
    pins = Pins((DEB,), (WHEEL, SDIST))
    assert pins.deb("bullseye", "libfoo1") is DEB
    assert pins.file(SDIST.filename) is SDIST
    assert pins.version("FOO.bar", "1.10") == (WHEEL, SDIST)
    with pytest.raises(UsageError, match=r"(?s)libfoo1 of trixie.*\./invoke pin"):
        pins.deb("trixie", "libfoo1")
    with pytest.raises(UsageError, match=r"(?s)nosuch\.whl.*\./invoke pin"):
        pins.file("nosuch.whl")
    with pytest.raises(UsageError, match=r"(?s)foo-bar 1\.11.*\./invoke pin"):
        pins.version("foo-bar", "1.11")


GOOD_DEB = (
    "- {suite: bullseye, name: a, version: '1.0', path: pool/a.deb, size: 1, sha256: "
    + "a" * 64
    + "}"
)
GOOD_FILE = "- {name: a, version: '1.0', filename: a.whl, size: 1, sha256: " + "a" * 64 + "}"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "expected the key 'debs', found none"),
        ("debs: []\nfiles: }", 2, "expected YAML"),
        ("- 1", 1, "expected a mapping, found a list"),
        ("debs: []", 1, "expected the key 'files', found none"),
        (
            "debs: []\nfiles: []\nwheels: []",
            3,
            "expected one of the keys debs, files, sources; found 'wheels'",
        ),
        ("debs: []\nfiles: []\ndebs: []", 3, "debs: expected each key once"),
        ("debs: 3\nfiles: []", 1, "debs: expected a list"),
        ("debs:\n- 3\nfiles: []", 2, r"debs\[0\]: expected a mapping"),
        (
            f"debs:\n{GOOD_DEB.replace('size: 1, ', '')}\nfiles: []",
            2,
            "expected the key 'size', found none",
        ),
        (f"debs:\n{GOOD_DEB.replace('size: 1', 'seize: 1')}\nfiles: []", 2, "seize"),
        (f"debs:\n{GOOD_DEB.replace('size: 1', 'size: x')}\nfiles: []", 2, "size: expected"),
        (f"debs:\n{GOOD_DEB.replace('size: 1', 'size: -1')}\nfiles: []", 2, "size: expected"),
        (f"debs:\n{GOOD_DEB.replace('size: 1', 'size: [1]')}\nfiles: []", 2, "size: expected"),
        (f"debs:\n{GOOD_DEB.replace(chr(39), '')}\nfiles: []", 2, "version: expected"),
        (f"debs:\n{GOOD_DEB.replace('a' * 64, 'a' * 63)}\nfiles: []", 2, "sha256: expected"),
        (f"debs:\n{GOOD_DEB.replace('a' * 64, 'A' * 64)}\nfiles: []", 2, "sha256: expected"),
        (f"debs:\n{GOOD_DEB.replace('pool/a', '/etc/a')}\nfiles: []", 2, "path: expected"),
        (f"debs:\n{GOOD_DEB.replace('pool/a', 'pool/../a')}\nfiles: []", 2, "path: expected"),
        (f"debs:\n{GOOD_DEB.replace('bullseye', '../x')}\nfiles: []", 2, "suite: expected"),
        (
            f"debs:\n{GOOD_DEB}\n{GOOD_DEB}\nfiles: []",
            3,
            r"a of bullseye is pinned twice, first at .*:2:3",
        ),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('a.whl', 'b/a.whl')}", 3, "filename: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('a.whl', '..')}", 3, "filename: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('a.whl', '-a.whl')}", 3, "filename: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('a.whl', '~a b')}", 3, "filename: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('name: a', 'name: -r')}", 3, "name: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('name: a', 'name: src:a')}", 3, "name: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('1.0', '1 --hash=x')}", 3, "version: expected"),
        (f"debs: []\nfiles:\n{GOOD_FILE.replace('1.0', '1;x')}", 3, "version: expected"),
        (
            "debs: []\nfiles:\n" + GOOD_FILE.replace("'1.0'", '"1\\n--index-url http://x"'),
            3,
            "version: expected a version, found",
        ),
        (f"debs: []\nfiles:\n{GOOD_FILE}\n{GOOD_FILE}", 4, "a.whl is pinned twice"),
    ],
)
def test_the_error_for_a_wrong_pin_names_its_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = tmp_path / "sources.lock"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"(?s){words}.*./invoke pin") as caught:
        read_pins(path)
    assert str(caught.value).startswith(f"{path}:{line}:")


def test_a_missing_file_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)sources\.lock: no such file.*\./invoke pin"):
        read_pins(tmp_path / "sources.lock")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"\xff\xfe\x00", "UTF-8"),
        (b"debs: !!python/object/apply:os.system ['true']\nfiles: []\n", "the tag"),
    ],
)
def test_bytes_that_are_no_text_and_tags_are_refused(
    tmp_path: Path, content: bytes, match: str
) -> None:
    (tmp_path / "sources.lock").write_bytes(content)
    with pytest.raises(UsageError, match=match):
        read_pins(tmp_path / "sources.lock")
