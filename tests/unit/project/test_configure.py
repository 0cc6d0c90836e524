from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.user_config import config_path, read_config
from stacks.core.workspace import Workspace
from stacks.project import configure
from stacks.sources import debian_mirrors
from stacks.sources.debian_mirrors import Mirror
from unit.helpers.serving import SECRET, Answer, Site, closed_port

pytestmark = pytest.mark.usefixtures("room")


def in_release(suite: str, codename: str) -> bytes:
    return (
        b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
        + f"Origin: Debian\nSuite: {suite}\nCodename: {codename}\n".encode()
    )


@pytest.fixture
def archive(site: Site) -> Site:
    site.files["/debian/dists/bookworm/InRelease"] = in_release("oldstable", "bookworm")
    return site


def test_a_mirror_is_tried_and_saved(
    workspace: Workspace, archive: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    configure.set_debian_mirror(workspace, f" {archive.url}/debian/ ")
    assert read_config().debian_mirror == f"{archive.url}/debian"
    printed = capsys.readouterr().out
    assert f"{archive.url}/debian has bookworm\n" in printed
    assert "it lacks bullseye" in printed
    assert f"written: {config_path()}" in printed
    configure.remove_debian_mirror()
    assert read_config().debian_mirror is None
    assert not config_path().exists()


def test_a_variable_that_goes_before_it_is_named(
    workspace: Workspace,
    archive: Site,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", "http://other.test/debian")
    configure.set_debian_mirror(workspace, f"{archive.url}/debian")
    assert "DEBIAN_MIRROR is set and goes before it" in capsys.readouterr().out


def test_a_mirror_can_be_a_folder(workspace: Workspace, room: Path) -> None:
    file = room / "a folder" / "dists" / "bookworm" / "InRelease"
    file.parent.mkdir(parents=True)
    file.write_bytes(in_release("oldstable", "bookworm"))
    configure.set_debian_mirror(workspace, (room / "a folder").as_uri())
    assert read_config().debian_mirror == (room / "a folder").as_uri()


@pytest.mark.parametrize("url", ["", "mirror.test/debian", "ftp://mirror.test/debian", "/srv"])
def test_what_is_no_address_is_refused(workspace: Workspace, url: str) -> None:
    with pytest.raises(UsageError, match="--debian-mirror is not an address"):
        configure.set_debian_mirror(workspace, url)
    assert not config_path().exists()


def test_a_server_without_an_archive_is_refused(workspace: Workspace, archive: Site) -> None:
    with pytest.raises(FetchError, match=r"(?s)/nothing is not a mirror.*bookworm.*dists"):
        configure.set_debian_mirror(workspace, f"{archive.url}/nothing")
    assert not config_path().exists()


@pytest.mark.parametrize("body", [b"<html>log in</html>", in_release("stable", "trixie"), b""])
def test_a_page_that_is_no_archive_is_refused(
    workspace: Workspace, archive: Site, body: bytes
) -> None:
    archive.files["/debian/dists/bookworm/InRelease"] = body
    with pytest.raises(IntegrityError, match="is not the signed list of bookworm"):
        configure.set_debian_mirror(workspace, f"{archive.url}/debian")
    assert not config_path().exists()


def test_a_mirror_that_fails_is_refused(workspace: Workspace, archive: Site) -> None:
    configure.set_debian_mirror(workspace, f"{archive.url}/debian")
    with pytest.raises(FetchError, match="cannot be reached"):
        configure.set_debian_mirror(workspace, f"http://127.0.0.1:{closed_port()}/debian")
    archive.plans["/other/dists/bookworm/InRelease"] = [Answer(403)]
    with pytest.raises(FetchError, match="answered 403"):
        configure.set_debian_mirror(workspace, f"{archive.url}/other")
    # What was saved before stays.
    assert read_config().debian_mirror == f"{archive.url}/debian"


def test_the_configuration_is_shown_without_passwords(
    workspace: Workspace,
    archive: Site,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = (Mirror("http://old.test/debian", "a test"),)
    monkeypatch.setattr(configure, "ended_mirrors", lambda wheel: ended)
    address = f"{archive.url}/debian"
    configure.set_debian_mirror(workspace, address.replace("//", f"//me:{SECRET}@"))
    capsys.readouterr()
    configure.show(workspace)
    assert capsys.readouterr().out == (
        f"{config_path()}\n"
        f"  debian_mirror: {address}\n"
        "Debian's archive\n"
        f"  mirror: {address} ({config_path()})\n"
        "  ended releases: http://old.test/debian (a test)\n"
    )


def test_what_is_not_known_is_shown_with_the_ways_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(configure, "current_mirrors", no_mirrors)
    monkeypatch.setattr(configure, "ended_mirrors", lambda wheel: ())
    configure.show(workspace)
    printed = capsys.readouterr().out
    assert "(not there: nothing is configured)" in printed
    assert "mirror: not known: no mirror of Debian's archive is known" in printed
    assert "export DEBIAN_MIRROR" in printed
    assert "ended releases: not known\n" in printed


def no_mirrors(wheel: debian_mirrors.Wheel) -> tuple[Mirror, ...]:
    raise FetchError("no mirror of Debian's archive is known", fix="export DEBIAN_MIRROR=")
