"""Pins: their file, and new ones of index files."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources import repin as repin_module
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import IndexFile, IndexPin, Pins, cached_path, read_pins, write_pins
from stacks.sources.repin import difference, repin
from unit.helpers.serving import BODY, SECRET, Site, deb, index_file, sha256

DEB = replace(deb(), name="libfoo1", version="1:1.10-2+deb11u1~x")
WHEEL = index_file(b"wheel", "Foo_Bar-1.10-py3-none-any.whl", "Foo_Bar", "1.10")
SDIST = index_file(b"sdist", "foo-bar-1.10.tar.gz", "foo-bar", "1.10")


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


def test_a_pin_is_found_by_its_name_and_a_source_package_has_all_its_files(tmp_path: Path) -> None:
    files = (DEB, replace(DEB, path="pool/main/f/foo/foo.dsc", size=3))
    write_pins(tmp_path / "lock", Pins((DEB,), (WHEEL, SDIST), files))
    pins = read_pins(tmp_path / "lock")
    assert pins.source("bullseye", "libfoo1") == tuple(sorted(files))
    for suite, name in (("bookworm", "libfoo1"), ("bullseye", "foo")):
        with pytest.raises(UsageError, match=f"no source package {name} of {suite} is pinned"):
            pins.source(suite, name)
    assert pins.deb("bullseye", "libfoo1") == DEB
    assert pins.file(SDIST.filename) == SDIST
    assert pins.version("FOO.bar", "1.10") == (WHEEL, SDIST)
    with pytest.raises(UsageError, match=r"(?s)libfoo1 of trixie.*\./invoke pin"):
        pins.deb("trixie", "libfoo1")
    with pytest.raises(UsageError, match=r"(?s)nosuch\.whl.*\./invoke pin"):
        pins.file("nosuch.whl")
    with pytest.raises(UsageError, match=r"(?s)foo-bar 1\.11.*\./invoke pin"):
        pins.version("foo-bar", "1.11")


END = ", size: 1, sha256: " + "a" * 64 + "}"
GOOD_DEB = "{suite: bullseye, name: a, version: '1.0', path: pool/a.deb" + END
GOOD_FILE = "{name: a, version: '1.0', filename: a.whl" + END


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "expected the key 'debs', found none"),
        ("debs: []\nfiles: }", 2, "expected YAML"),
        ("- 1", 1, "expected a mapping, found a list"),
        ("debs: []\nfiles: []\nwheels: []", 3, "expected one of the keys debs, files, sources"),
        ("debs: []\nfiles: []\ndebs: []", 3, "debs: expected each key once"),
        (f"files: []\ndebs:\n- {GOOD_DEB}\n- {GOOD_DEB}", 4, r"a of bullseye is pinned twice, f"),
        (f"debs: []\nfiles:\n- {GOOD_FILE}\n- {GOOD_FILE}", 4, "a.whl is pinned twice"),
        ("debs: !!python/object/apply:os.system ['true']\nfiles: []\n", 1, "the tag"),
    ],
)
def test_the_error_for_a_wrong_file_names_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    path = tmp_path / "sources.lock"
    path.write_text(text)
    with pytest.raises(UsageError, match=f"(?s){words}.*./invoke pin") as caught:
        read_pins(path)
    assert str(caught.value).startswith(f"{path}:{line}:")


@pytest.mark.parametrize(
    ("good", "old", "new", "words"),
    [
        (GOOD_DEB, GOOD_DEB, "3", "expected a mapping"),
        (GOOD_DEB, "size: 1, ", "", "expected the key 'size', found none"),
        (GOOD_DEB, "size: 1", "seize: 1", "seize"),
        *((GOOD_DEB, "size: 1", f"size: {x}", "size: expected") for x in ("x", "-1", "[1]")),
        (GOOD_DEB, "'", "", "version: expected"),
        *((GOOD_DEB, "a" * 64, x, "sha256: expected") for x in ("a" * 63, "A" * 64)),
        *((GOOD_DEB, "pool/a", x, "path: expected") for x in ("/etc/a", "pool/../a")),
        (GOOD_DEB, "bullseye", "../x", "suite: expected"),
        *(
            (GOOD_FILE, "a.whl", x, "filename: expected")
            for x in ("b/a.whl", "..", "-a.whl", "~a b")
        ),
        *((GOOD_FILE, "name: a", f"name: {x}", "name: expected") for x in ("-r", "src:a")),
        *((GOOD_FILE, "1.0", x, "version: expected") for x in ("1 --hash=x", "1;x")),
        (GOOD_FILE, "'1.0'", '"1\\n--index-url http://x"', "version: expected a version, found"),
    ],
)
def test_the_error_for_a_wrong_pin_names_its_line(
    tmp_path: Path, good: str, old: str, new: str, words: str
) -> None:
    path, key = tmp_path / "sources.lock", "debs" if good is GOOD_DEB else "files"
    other = "files" if good is GOOD_DEB else "debs"
    path.write_text(f"{other}: []\n{key}:\n- {good.replace(old, new)}\n")
    with pytest.raises(UsageError, match=f"(?s){words}.*./invoke pin") as caught:
        read_pins(path)
    assert str(caught.value).startswith(f"{path}:3:")


FOO = "foo-1.0-py3-none-any.whl"


@pytest.fixture
def index(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    address = site.url.replace("//", f"//me:{SECRET}@")
    settings = PipSettings(index_urls=(f"{address}/simple",))
    monkeypatch.setattr(repin_module, "pip_settings", lambda: settings)
    offer(site, sha256(BODY))
    site.files[f"/simple/foo/{FOO}"] = BODY
    return site


def offer(site: Site, digest: str | None) -> None:
    fragment = f"#sha256={digest}" if digest else ""
    site.files["/simple/foo/"] = f'<a href="{FOO}{fragment}">{FOO}</a>'.encode()


PINNED = index_file(BODY, FOO)


@pytest.mark.parametrize("digest", [sha256(BODY), None])
def test_a_file_is_pinned_by_its_own_bytes(
    workspace: Workspace, index: Site, digest: str | None
) -> None:
    offer(index, digest)
    assert repin(workspace, [], [IndexFile("foo", "1.0", FOO)]) == Pins(files=(PINNED,))
    assert cached_path(workspace.cache, PINNED).read_bytes() == BODY
    assert stat.S_IMODE(cached_path(workspace.cache, PINNED).stat().st_mode) == 0o444
    # One in the cache is not fetched again.
    assert repin(workspace, [], [IndexFile("foo", "1.0", FOO)]) == Pins(files=(PINNED,))
    assert index.paths().count(f"/simple/foo/{FOO}") == (1 if digest else 2)


def test_what_is_not_pinned(workspace: Workspace, index: Site, room: Path) -> None:
    """Other bytes than the index announces, and a file that no index has."""
    offer(index, "0" * 64)
    with pytest.raises(IntegrityError) as caught:
        repin(workspace, [], [IndexFile("foo", "1.0", FOO)])
    message = str(caught.value)
    assert f"expected: sha256 {'0' * 64}" in message
    assert f"found:    sha256 {sha256(BODY)}" in message
    assert SECRET not in message
    assert list((room / "cache").rglob("foo*")) == []
    with pytest.raises(FetchError, match=rf"^foo 2\.0: no index has (.|\n)*{index.url}/") as gone:
        repin(workspace, [], [IndexFile("foo", "2.0", "foo-2.0.tar.gz")])
    assert "foo-2.0.tar.gz" in str(gone.value) and SECRET not in str(gone.value)


def pinned(name: str, version: str, body: bytes = b"a") -> IndexPin:
    return index_file(body, f"{name}-{version}.tar.gz", name, version)


def test_the_difference_is_listed_in_lines() -> None:
    gone = replace(DEB, name="a", version="1")
    old_deb = replace(gone, suite="bookworm")
    same, bar, other = pinned("same", "7"), pinned("bar", "1"), pinned("bar", "1", b"b")
    old = Pins((old_deb, gone), (pinned("foo", "1"), bar, same))
    new = Pins(
        (replace(old_deb, version="2"),), (pinned("foo", "2"), other, same, pinned("n", "1"))
    )
    bytes_ = f"sha256 {bar.sha256} -> {other.sha256}"
    assert difference(old, new) == [
        f"OTHER BYTES under the same version: bar-1.tar.gz 1: {bytes_}",
        "added    n-1.tar.gz 1",
        "changed  bookworm/a 1 -> 2",
        "changed  foo 1 -> 2",
        "removed  bullseye/a 1",
    ]
