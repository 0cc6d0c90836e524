import hashlib
import lzma
from collections.abc import Set
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from pysequoia import SignatureMode, Tsk, sign

from stacks.core.errors import FetchError, IntegrityError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources import debian_archive, debian_mirrors
from stacks.sources.debian_archive import DebRequest
from stacks.sources.pins import Pins
from stacks.sources.repin import repin
from unit.helpers.serving import Answer, Site, closed_port

PACKAGES = b"""\
Package: libfoo1-dev
Version: 9
Filename: pool/main/f/foo/libfoo1-dev_9_amd64.deb
Size: 9
SHA256: 9999999999999999999999999999999999999999999999999999999999999999

Package: libfoo1
Source: foo (1.1)
Version: 1:1.2-3
Description: foo
 Version: 7
Filename: pool/main/f/foo/libfoo1_1.2-3_amd64.deb
Size: 1234
SHA256: 0123456789012345678901234567890123456789012345678901234567890123
"""
PACKED = lzma.compress(PACKAGES)
IN_RELEASE = "/debian/dists/bookworm/InRelease"
PACKAGES_XZ = "/debian/dists/bookworm/main/binary-amd64/Packages.xz"
REQUEST = [DebRequest("bookworm", "libfoo1")]
KEY = Tsk.generate("Debian")


def release(
    codename: str = "bookworm", packed: bytes = PACKED, suite: str = "oldstable", more: str = ""
) -> bytes:
    """Return an InRelease file, signed with KEY; `more` is at its end."""
    digest = hashlib.sha256(packed).hexdigest()
    text = (
        f"Suite: {suite}\nCodename: {codename}\n"
        f"MD5Sum:\n {'0' * 32} 9 main/binary-amd64/Packages.xz\n"
        f"SHA256:\n {'1' * 64} {len(packed)} main/binary-i386/Packages.xz\n"
        f" {digest} {len(packed)} main/binary-amd64/Packages.xz\n{more}"
    )
    return sign(KEY.signer(), text.encode(), mode=SignatureMode.CLEAR)


def limited(until: str) -> bytes:
    return release(suite=f"oldstable\nValid-Until: {until}")


SATURDAY = "Sat, 10 Jan 2026 08:00:00 UTC"


@pytest.fixture
def archive(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Give a mirror with one suite, and a keyring with the key that signs it."""
    monkeypatch.setenv("DEBIAN_MIRROR", f"{site.url}/debian")
    site.files[IN_RELEASE] = release()
    site.files[PACKAGES_XZ] = PACKED
    (room / "keys.gpg").write_bytes(bytes(KEY.extract_certificate()))
    monkeypatch.setenv("DEBIAN_KEYRING", str(room / "keys.gpg"))
    return site


@pytest.fixture
def other(archive: Site, second: Site) -> Site:
    """Give a second mirror with the same suite."""
    second.files |= archive.files
    return second


def test_a_deb_is_pinned_as_the_signed_archive_has_it(workspace: Workspace, archive: Site) -> None:
    found = {"path": "pool/main/f/foo/libfoo1_1.2-3_amd64.deb", "size": 1234}
    found |= {"suite": "bookworm", "name": "libfoo1", "version": "1:1.2-3"}
    [pin] = repin(workspace, REQUEST, []).debs
    assert vars(pin) == {**found, "sha256": "0123456789" * 6 + "0123"}


SOURCES = b"""\
Package: foo
Binary: libfoo1
Version: 1.2-3
Checksums-Sha256:
 1111111111111111111111111111111111111111111111111111111111111111 20 foo_1.2-3.dsc
 2222222222222222222222222222222222222222222222222222222222222222 30 foo_1.2.orig.tar.gz
 3333333333333333333333333333333333333333333333333333333333333333 40 foo_1.2-3.debian.tar.xz
Directory: pool/main/f/foo

Package: foo
Version: 1.1-1
Checksums-Sha256:
 4444444444444444444444444444444444444444444444444444444444444444 20 foo_1.1-1.dsc
Extra-Source-Only: yes
Directory: pool/main/f/foo
"""
FOO = DebRequest("bookworm", "foo", is_source=True)


def test_all_files_of_a_source_package_are_pinned(workspace: Workspace, archive: Site) -> None:
    packed = lzma.compress(SOURCES)
    digest = hashlib.sha256(packed).hexdigest()
    listed = f" {digest} {len(packed)} main/source/Sources.xz\n"
    archive.files[IN_RELEASE] = release(more=listed)
    archive.files["/debian/dists/bookworm/main/source/Sources.xz"] = packed
    sources = repin(workspace, [DebRequest("bookworm", "libfoo1"), FOO], [])
    assert [pin.name for pin in sources.debs] == ["libfoo1"]
    assert [(pin.name, pin.version, pin.path, pin.size) for pin in sources.sources] == [
        ("foo", "1.2-3", "pool/main/f/foo/foo_1.2-3.dsc", 20),
        ("foo", "1.2-3", "pool/main/f/foo/foo_1.2.orig.tar.gz", 30),
        ("foo", "1.2-3", "pool/main/f/foo/foo_1.2-3.debian.tar.xz", 40),
    ]
    with pytest.raises(UsageError, match="no source package bar in main"):
        repin(workspace, [replace(FOO, name="bar")], [])


def test_what_no_mirror_has_is_asked_of_the_archive_of_ended_releases(
    workspace: Workspace, archive: Site, other: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEBIAN_SNAPSHOT_MIRROR")
    roots = {"ended": f"{other.url}/debian"}
    ended = lambda _: (roots["ended"],)  # noqa: E731
    monkeypatch.setattr(debian_mirrors, "ended_mirrors", ended)
    with pytest.raises(UsageError, match="no package libfoo2"):
        repin(workspace, [DebRequest("bookworm", "libfoo2")], [])
    assert not other.asked
    del archive.files[IN_RELEASE]
    assert len(repin(workspace, REQUEST, []).debs) == 1
    assert other.paths() == [IN_RELEASE, PACKAGES_XZ]
    unknown = [DebRequest("bokworm", "libfoo1")]
    with pytest.raises(UsageError, match=r"^no mirror has the suite bokworm\n.*fix.*spelling"):
        repin(workspace, unknown, [])
    other.files["/debian/dists/bokworm/InRelease"] = b"no signature"
    with pytest.raises(IntegrityError, match="bokworm/InRelease: no good signature"):
        repin(workspace, unknown, [])
    roots["ended"] = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(UsageError, match=r"(?s)bokworm.*ended releases fails, too: http://127"):
        repin(workspace, unknown, [])


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (IN_RELEASE, Answer(500)),
        (IN_RELEASE, Answer(302, headers={"Location": "http://[half/"})),
        (IN_RELEASE, Answer(200, limited(SATURDAY))),
        (PACKAGES_XZ, Answer(403)),
        (PACKAGES_XZ, Answer(200, b"other bytes")),
    ],
)
def test_after_a_bad_mirror_the_next_one_is_asked(
    workspace: Workspace, archive: Site, other: Site, path: str, answer: Answer
) -> None:
    archive.plans[path] = [answer] * 9
    assert len(pins_at(workspace, 31).debs) == 1


def test_without_a_good_mirror_the_error_is_that_of_the_first(
    workspace: Workspace, archive: Site, other: Site
) -> None:
    archive.plans[PACKAGES_XZ] = [Answer(403)]
    del other.files[IN_RELEASE]
    with pytest.raises(FetchError, match=f"^{archive.url}.*Packages.xz: the server answered 403"):
        repin(workspace, REQUEST, [])


def pins_at(workspace: Workspace, day: int, expired: Set[str] = frozenset()) -> Pins:
    clock = datetime(2026, 1, day, 8, 0, 1, tzinfo=timezone.utc)
    return repin(workspace, REQUEST, [], expired=expired, clock=lambda: clock)


def test_a_release_past_its_valid_until_is_refused_unless_the_suite_is_named(
    workspace: Workspace, archive: Site
) -> None:
    archive.files[IN_RELEASE] = limited(SATURDAY)
    assert len(pins_at(workspace, 9).debs) == 1
    with pytest.raises(IntegrityError) as caught:
        pins_at(workspace, 10, {"bullseye"})
    message = str(caught.value)
    assert message.startswith(f"{archive.url}{IN_RELEASE}: bookworm has expired")
    assert f"Valid-Until: {SATURDAY}" in message
    assert "2026-01-10 08:00:01" in message
    assert "--expired bookworm" in message
    assert len(pins_at(workspace, 31, {"bookworm"}).debs) == 1


EVIL, BOMB = lzma.compress(b"evil"), lzma.compress(bytes(3_000_000))
UNREADABLE = r"(?s)Packages\.xz.*found.*fix"


@pytest.mark.parametrize(
    ("signed", "packed", "error", "match"),
    [
        (release().replace(b"oldstable", b"unstable"), PACKED, IntegrityError, "no good signature"),
        (release("bullseye"), PACKED, IntegrityError, r"(?s)another suite.*bookworm.*bullseye"),
        (release(), EVIL, IntegrityError, r"(?s)Packages\.xz.*expected.*found.*fix"),
        (release(), PACKED + b"more", FetchError, f"(?s)too much.*at most {len(PACKED)} bytes"),
        *(
            (release(packed=packed), packed, IntegrityError, UNREADABLE)
            for packed in (BOMB, b"no xz", PACKED[:-9])
        ),
        *(
            (limited(until), PACKED, IntegrityError, f"Valid-Until: {until}")
            for until in ("soon", "Sat, 99 Jan 2026", "Sat, 10 Jan 99999999 08:00:00 UTC")
        ),
    ],
)
def test_an_archive_that_is_refused(
    workspace: Workspace,
    archive: Site,
    monkeypatch: pytest.MonkeyPatch,
    signed: bytes,
    packed: bytes,
    error: type[StacksError],
    match: str,
) -> None:
    monkeypatch.setattr(debian_archive, "LARGEST_INDEX", 2_000_000)
    archive.files |= {IN_RELEASE: signed, PACKAGES_XZ: packed}
    with pytest.raises(error, match=match):
        repin(workspace, REQUEST, [])
