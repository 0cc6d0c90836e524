"""Where the addresses of Debian's mirrors come from, and in which order."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources import debian_mirrors
from stacks.sources.debian_mirrors import (
    Mirror,
    configure_mirror,
    current_mirrors,
    ended_mirrors,
    ended_releases,
    wheel_addresses,
)
from unit.helpers.debops import SETTINGS, wheel_with

ORIGIN = "the wheel debops 3.3.2"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of a Debian machine that knows no mirror; its apt prints the file `targets`."""
    for name in ("DEBIAN_MIRROR", "DEBIAN_SNAPSHOT_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    apt = tmp_path / "bin/apt-get"
    apt.parent.mkdir()
    apt.write_text(f"#!/bin/sh\ncat {tmp_path}/targets\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(apt.parent), prepend=":")
    return tmp_path


def no_wheel() -> Path:
    raise FetchError("the index has no wheel")


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[], Path]:
    path = wheel_with(tmp_path, SETTINGS)
    return lambda: path


def urls() -> list[str]:
    return [mirror.url for mirror in current_mirrors(no_wheel)]


def test_each_source_of_addresses_goes_before_the_next(
    machine: Path, wheel: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert current_mirrors(wheel) == (Mirror("http://a.test/debian", ORIGIN),)
    (machine / "targets").write_text("http://apt.test/debian bookworm main\n")
    assert current_mirrors(no_wheel) == (Mirror("http://apt.test/debian", "apt's sources"),)
    configure_mirror("https://configured.test/debian")
    [mirror] = current_mirrors(no_wheel)
    assert mirror.label == f"https://configured.test/debian ({machine}/config/theano-stacks/" + (
        "config.yaml)"
    )
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.test/debian/")
    assert current_mirrors(no_wheel) == (Mirror("http://mirror.test/debian", "DEBIAN_MIRROR"),)


def test_the_snapshot_mirror_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "http://old.test/debian/20250101/")
    assert urls() == ["http://old.test/debian/20250101"]
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.test/debian")
    assert urls() == ["http://mirror.test/debian", "http://old.test/debian/20250101"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("http://a.test/debian/ bookworm main", True),
        ("file:/srv/debian bullseye main", True),
        ("http://a.test/remote bookworm-updates main", True),
        ("http://a.test/mirror/debian/ stable-backports main", True),
        ("http://a.test/debian bookworm contrib", False),
        ("mirror+file:/etc/mirrors bookworm main", False),
        ("http://a.test/ubuntu bookworm main", False),
        ("http://a.test/debian-security bookworm-security main", False),
        ("http://a.test/debian-ports sid main", False),
        ("http://a.test/repos/code stable main", False),
        ("http://a.test/postgresql bookworm-pgdg main", False),
        ("http://a.test/flat ./ ", False),
    ],
)
def test_sources_of_apt(machine: Path, line: str, found: bool) -> None:
    # The same mirror twice is asked once.
    first = "http://z.test/debian/ stable main\nhttp://z.test/debian bookworm main\n"
    (machine / "targets").write_text(f"{first}{line}\n")
    assert urls()[0] == "http://z.test/debian"
    assert (len(urls()) == 2) == found


def test_apt_counts_on_debian_alone(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "targets").write_text("http://vpn.test/debian stable main\n")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "ubuntu"})
    with pytest.raises(FetchError, match="no mirror of Debian's archive is known"):
        urls()


def test_without_any_the_error_has_the_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANO_STACKS_VENDOR", "/carried")
    with pytest.raises(FetchError) as caught:
        current_mirrors(no_wheel)
    message = str(caught.value)
    assert message.startswith("no mirror of Debian's archive is known\n")
    assert "the index has no wheel" in message
    for way in (
        "check the network, https_proxy and http_proxy",
        "write /carried again, with this variant: ./invoke vendor",
        "export DEBIAN_MIRROR=",
        "./invoke configure --debian-mirror <",
        "let pip reach a package index that has debops 3.3.2",
    ):
        assert way in message


def test_ended_releases_or_why_they_are_not_known(wheel: Callable[[], Path]) -> None:
    assert ended_mirrors(wheel) == (Mirror("http://old.test/debian", ORIGIN),)
    assert ended_releases(wheel) == (("http://old.test/debian",), "http://old.test/debian")
    roots, why = ended_releases(no_wheel)
    assert roots == () and why == (
        "the archive of ended releases (its address is not known: the index has no wheel)"
    )


@pytest.mark.parametrize(
    "bad", ["file:///etc/debian", "http://[half/debian", "http://a.test/{{ x }}/debian"]
)
def test_what_is_no_root_of_the_archive_is_left_out(tmp_path: Path, bad: str) -> None:
    wheel = wheel_with(tmp_path, SETTINGS.replace("http://a.test/debian", bad))
    assert wheel_addresses(wheel)[0] == []
    with pytest.raises(FetchError, match="no mirror of Debian's archive is known"):
        current_mirrors(lambda: wheel)


@pytest.mark.parametrize(
    "text",
    [
        "- a list",
        "a: [",
        SETTINGS.replace("'http://a.test/debian'", "7"),
        SETTINGS + "a: !!python/object/apply:os.system [false]",
        SETTINGS + "#" * debian_mirrors.LARGEST_SETTINGS,
        None,
    ],
)
def test_settings_of_another_form_are_an_error(tmp_path: Path, text: str | None) -> None:
    wheel = wheel_with(tmp_path, text or "")
    if text is None:
        wheel.write_bytes(b"no zip")
    with pytest.raises(IntegrityError, match=r"(?s)debops.*cannot be read.*configure --debian-"):
        wheel_addresses(wheel)
