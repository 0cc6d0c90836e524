"""Where the addresses of Debian's mirrors come from, and in which order."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.user_config import UserConfig, write_config
from stacks.sources import debian_mirrors
from stacks.sources.debian_mirrors import (
    EndedReleases,
    Mirror,
    current_mirrors,
    ended_mirrors,
    wheel_addresses,
)
from unit.helpers.debops import SETTINGS, wheel_with

ORIGIN = "the wheel debops 3.3.2"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the root of a Debian machine that knows no mirror; its /etc/apt is `apt`."""
    for name in ("DEBIAN_MIRROR", "DEBIAN_SNAPSHOT_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(debian_mirrors, "APT", tmp_path / "apt")
    monkeypatch.setattr(debian_mirrors, "DISTRIBUTION", tmp_path / "os-release")
    (tmp_path / "os-release").write_text('NAME="Debian GNU/Linux"\nID=debian\n')
    (tmp_path / "apt/sources.list.d").mkdir(parents=True)
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
    (machine / "apt/sources.list").write_text("deb http://apt.test/debian bookworm main\n")
    assert current_mirrors(no_wheel) == (Mirror("http://apt.test/debian", "apt's sources"),)
    write_config(UserConfig(debian_mirror="https://configured.test/debian"))
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
        ("deb http://a.test/debian bookworm main contrib", True),
        ("deb [arch=amd64 signed-by=/k.gpg] https://a.test/debian/ trixie main # x", True),
        ("deb file:/srv/debian bullseye main", True),
        ("deb http://a.test/debian bookworm-updates main", True),
        ("# deb http://a.test/debian bookworm main", False),
        ("deb-src http://a.test/debian bookworm main", False),
        ("deb mirror+file:/etc/mirrors bookworm main", False),
        ("deb http://a.test/ubuntu noble main", False),
        ("deb http://a.test/ubuntu bookworm main", False),
        ("deb http://a.test/debian-security bookworm-security main", False),
        ("deb http://a.test/debian-ports sid main", False),
        ("deb http://a.test/docker bookworm stable", False),
        ("deb http://a.test/repos/code stable main", False),
        ("deb http://a.test/postgresql bookworm-pgdg main", False),
        ("deb http://a.test/mirror/debian/ stable-backports main", True),
        ("deb http://a.test/node nodistro main", False),
        ("deb http://a.test/debian", False),
        ("nonsense", False),
    ],
)
def test_one_line_sources_of_apt(machine: Path, line: str, found: bool) -> None:
    # The same mirror twice is asked once.
    first = "deb http://z.test/debian stable main\ndeb http://z.test/debian/ bookworm main\n"
    (machine / "apt/sources.list").write_text(first)
    (machine / "apt/sources.list.d/more.list").write_text(f"{line}\n")
    assert urls()[0] == "http://z.test/debian"
    assert (len(urls()) == 2) == found


def test_another_vendors_folder_debian_is_no_mirror_on_another_distribution(machine: Path) -> None:
    (machine / "os-release").write_text("ID=ubuntu\nID_LIKE=debian\n")
    (machine / "apt/sources.list").write_text(
        "deb http://vpn.test/deb/debian stable main\n"
        "deb http://a.test/debian bookworm main\n"
        "deb file:/srv/debian stable main\n"
    )
    assert urls() == ["http://a.test/debian", "file:/srv/debian"]


def test_deb822_sources_of_apt(machine: Path) -> None:
    (machine / "apt/sources.list.d/debian.sources").write_text(
        "Types: deb deb-src\n"
        "# Uris: http://comment.test/debian\n"
        "URIs: http://a.test/debian\n"
        " http://b.test/debian/\n"
        "Suites: trixie trixie-updates\n"
        "Components: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n"
        "\n"
        "Enabled: no\nTypes: deb\nURIs: http://off.test/debian\nSuites: trixie\nComponents: main\n"
        "\n \n"
        "Types: deb-src\nURIs: http://src.test/debian\nSuites: trixie\nComponents: main\n"
        "\n"
        "Types: deb\nURIs: http://s.test/debian-security\nSuites: trixie-security\nComponents: main"
    )
    assert urls() == ["http://a.test/debian", "http://b.test/debian"]


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


def test_a_password_is_not_shown() -> None:
    mirror = Mirror("https://me:hunter2@a.test/debian", "DEBIAN_MIRROR")
    assert mirror.label == "https://a.test/debian (DEBIAN_MIRROR)"


def test_an_invalid_configuration_is_an_error(machine: Path) -> None:
    file = machine / "config" / "theano-stacks" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("debian_miror: http://a.test/debian\n")
    with pytest.raises(UsageError, match=r"config\.yaml:1:1.*debian_mirror"):
        current_mirrors(no_wheel)


def test_ended_releases_are_looked_up_once(wheel: Callable[[], Path]) -> None:
    calls: list[int] = []

    def counted() -> Path:
        calls.append(1)
        return wheel()

    assert ended_mirrors(wheel) == (Mirror("http://old.test/debian", ORIGIN),)
    ended = EndedReleases(counted)
    assert not calls
    threads = [threading.Thread(target=ended.roots) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended.roots() == ended.origins() == ("http://old.test/debian",)
    assert len(calls) == 1


def test_ended_releases_that_are_not_known_are_named() -> None:
    ended = EndedReleases(no_wheel)
    assert ended.roots() == ()
    [origin] = ended.origins()
    assert origin.startswith("the archive of ended releases (")
    assert "the index has no wheel" in origin


@pytest.mark.parametrize(
    "bad",
    [
        "file:///etc/debian",
        "ftp://a.test/debian",
        "http://[half/debian",
        "http://a.test/{{ x }}/debian",
        "http://a.test/ubuntu",
        "http://a.test/debian?x",
    ],
)
def test_what_is_no_root_of_the_archive_is_left_out(tmp_path: Path, bad: str) -> None:
    wheel = wheel_with(tmp_path, SETTINGS.replace("http://a.test/debian", bad))
    assert wheel_addresses(wheel)[0] == []
    with pytest.raises(FetchError, match="no mirror of Debian's archive is known"):
        current_mirrors(lambda: wheel)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a list",
        "a: [",
        "apt__distribution_repository_map: text",
        SETTINGS.replace("'http://a.test/debian'", "7"),
        SETTINGS + "a: !!python/object/apply:os.system [false]",
        SETTINGS + "#" * debian_mirrors.LARGEST_SETTINGS,
    ],
)
def test_settings_of_another_form_are_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(IntegrityError, match=r"(?s)debops.*cannot be read.*configure --debian-"):
        wheel_addresses(wheel_with(tmp_path, text))


def test_a_wheel_without_the_settings_is_an_error(tmp_path: Path) -> None:
    other = wheel_with(tmp_path, SETTINGS)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("other.yml", SETTINGS)
    with pytest.raises(IntegrityError, match="cannot be read"):
        wheel_addresses(other)
    other.write_bytes(b"no zip")
    with pytest.raises(IntegrityError, match=r"debops.*\.whl.*cannot be read"):
        wheel_addresses(other)
