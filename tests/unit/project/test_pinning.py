"""What is pinned; and `./invoke configure`: a mirror is tried, saved, shown and removed."""

from __future__ import annotations

import stat

import pytest

from stacks.core.errors import DiskError, FetchError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.project import pinning
from stacks.sources.debian_mirrors import Mirror, Wheel, config_path, configured_mirror
from stacks.sources.pins import read_pins
from unit.helpers.serving import SECRET, Answer, Site, closed_port

pytestmark = pytest.mark.usefixtures("room")


def in_release(suite: str, codename: str) -> bytes:
    head = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
    return f"{head}Origin: Debian\nSuite: {suite}\nCodename: {codename}\n".encode()


@pytest.fixture
def archive(site: Site) -> Site:
    site.files["/debian/dists/bookworm/InRelease"] = in_release("oldstable", "bookworm")
    return site


def test_a_mirror_is_tried_saved_shown_without_its_password_and_removed(
    workspace: Workspace,
    archive: Site,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = (Mirror("http://old.test/debian", "a test"),)
    monkeypatch.setattr(pinning, "ended_mirrors", lambda wheel: ended)
    address = f"{archive.url}/debian"
    secret = address.replace("//", f"//me:{SECRET}@")
    pinning.set_debian_mirror(workspace, f" {secret}/ ")
    assert configured_mirror() == secret
    printed = capsys.readouterr().out
    assert f"{address} has bookworm\n" in printed and "it lacks bullseye" in printed
    assert f"written: {config_path()}" in printed and SECRET not in printed
    assert stat.S_IMODE(config_path().stat().st_mode) == 0o600
    pinning.show_configuration(workspace)
    assert capsys.readouterr().out == (
        f"{config_path()}\n"
        f"  debian_mirror: {address}\n"
        "Debian's archive\n"
        f"  mirror: {address} ({config_path()})\n"
        "  ended releases: http://old.test/debian (a test)\n"
    )
    pinning.remove_debian_mirror()
    assert configured_mirror() is None and not config_path().exists()
    monkeypatch.setenv("DEBIAN_MIRROR", "http://other.test/debian")
    pinning.set_debian_mirror(workspace, address)
    assert "DEBIAN_MIRROR is set and goes before it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("url", "answer", "error", "message"),
    [
        *(
            (url, b"", UsageError, "--debian-mirror is not an address")
            for url in ("", "mirror.test/debian", "ftp://mirror.test/debian", "/srv")
        ),
        ("SITE/none", b"", FetchError, r"(?s)/none is not a mirror.*bookworm.*dists"),
        ("http://127.0.0.1:PORT/debian", b"", FetchError, "cannot be reached"),
        ("SITE/other", Answer(403), FetchError, "answered 403"),
        *(
            ("SITE/other", page, IntegrityError, "is not the signed list of bookworm")
            for page in (b"<html>log in</html>", in_release("stable", "trixie"), b" ")
        ),
    ],
)
def test_what_is_no_mirror_is_refused_and_the_one_before_stays(
    workspace: Workspace,
    archive: Site,
    url: str,
    answer: bytes | Answer,
    error: type[Exception],
    message: str,
) -> None:
    pinning.set_debian_mirror(workspace, f"{archive.url}/debian")
    path = "/other/dists/bookworm/InRelease"
    if isinstance(answer, Answer):
        archive.plans[path] = [answer]
    elif answer:
        archive.files[path] = answer
    given = url.replace("SITE", archive.url).replace("PORT", str(closed_port()))
    with pytest.raises(error, match=message):
        pinning.set_debian_mirror(workspace, given)
    assert configured_mirror() == f"{archive.url}/debian"


def test_what_is_not_known_is_shown_with_the_ways_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_mirrors(wheel: Wheel) -> tuple[Mirror, ...]:
        raise FetchError("no mirror of Debian's archive is known", fix="export DEBIAN_MIRROR=")

    monkeypatch.setattr(pinning, "current_mirrors", no_mirrors)
    monkeypatch.setattr(pinning, "ended_mirrors", lambda wheel: ())
    pinning.show_configuration(workspace)
    printed = capsys.readouterr().out
    assert "(not there: nothing is configured)" in printed
    assert "mirror: not known: no mirror of Debian's archive is known" in printed
    assert "export DEBIAN_MIRROR" in printed and "ended releases: not known\n" in printed


@pytest.mark.parametrize("text", ["other: 1\n", "debian_mirror: 1\n", "[", "debian_mirror:\n"])
def test_an_invalid_configuration_is_an_error_with_its_line(text: str) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text(text)
    with pytest.raises(UsageError, match=r"config\.yaml:\d+:\d+"):
        configured_mirror()


def test_without_a_home_nothing_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert configured_mirror() is None
    with pytest.raises(DiskError, match="XDG_CONFIG_HOME"):
        pinning.remove_debian_mirror()


def test_the_pins_are_exactly_those_of_the_recipes_and_the_base(workspace: Workspace) -> None:
    debs, files = pinning.required_sources(workspace)
    pins = read_pins(workspace.sources_lock)
    packages = {(deb.suite, deb.name) for deb in debs if not deb.is_source}
    assert packages == {(pin.suite, pin.name) for pin in pins.debs}
    assert {file.filename for file in files} == {pin.filename for pin in pins.files}


def test_an_expired_suite_that_no_recipe_takes_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"(?s)--expired: no recipe takes debs of sarge.*bookworm"):
        pinning.pin(workspace, expired={"sarge"})
