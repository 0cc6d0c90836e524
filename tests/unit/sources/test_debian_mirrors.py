from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.core.user_config import UserConfig, write_config
from stacks.sources import debian_mirrors, known_addresses
from stacks.sources.debian_mirrors import EndedReleases, Mirror, current_mirrors, ended_mirrors
from unit.sources.test_known_addresses import SETTINGS, wheel_with


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the root of a machine that knows no mirror."""
    for name in ("DEBIAN_MIRROR", "DEBIAN_SNAPSHOT_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("APT", "TEMPLATE", "DEBOOTSTRAP", "DEBOOTSTRAP_SCRIPTS"):
        monkeypatch.setattr(known_addresses, name, tmp_path / name)
    return tmp_path


def no_wheel() -> Path:
    raise FetchError("the index has no wheel")


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[], Path]:
    path = wheel_with(tmp_path, SETTINGS)
    return lambda: path


def urls(wheel: Callable[[], Path] = no_wheel) -> list[str]:
    return [mirror.url for mirror in current_mirrors(wheel)]


def test_each_source_of_addresses_goes_before_the_next(
    machine: Path, wheel: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert current_mirrors(wheel) == (Mirror("http://a.test/debian", "the wheel debops 3.3.2"),)
    (machine / "DEBOOTSTRAP").write_text('DEF_MIRROR="http://debootstrap.test/debian"\n')
    assert current_mirrors(no_wheel) == (Mirror("http://debootstrap.test/debian", "debootstrap"),)
    (machine / "TEMPLATE").write_text("BaseURI: https://template.test/debian/\n")
    assert urls() == ["https://template.test/debian"]
    (machine / "APT").mkdir()
    (machine / "APT" / "sources.list").write_text("deb http://apt.test/debian bookworm main\n")
    assert current_mirrors(no_wheel) == (Mirror("http://apt.test/debian", "apt's sources"),)
    write_config(UserConfig(debian_mirror="https://configured.test/debian"))
    [mirror] = current_mirrors(no_wheel)
    assert mirror.label == f"https://configured.test/debian ({machine}/config/theano-stacks/" + (
        "config.yaml)"
    )
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.test/debian/")
    assert current_mirrors(no_wheel) == (Mirror("http://mirror.test/debian", "DEBIAN_MIRROR"),)


def test_the_snapshot_mirror_comes_last(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "http://old.test/debian/20250101/")
    assert urls() == ["http://old.test/debian/20250101"]
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.test/debian")
    assert urls() == ["http://mirror.test/debian", "http://old.test/debian/20250101"]


def test_a_mirror_is_asked_once(machine: Path) -> None:
    (machine / "APT").mkdir()
    (machine / "APT" / "sources.list").write_text(
        "deb http://a.test/debian bookworm main\ndeb http://a.test/debian/ bookworm-updates main\n"
    )
    assert urls() == ["http://a.test/debian"]


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
        "install debootstrap",
        "let pip reach a package index that has debops 3.3.2",
    ):
        assert way in message


def test_a_wheel_without_addresses_is_no_mirror(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path, SETTINGS.replace("//a.test", "//"))
    with pytest.raises(FetchError, match="no mirror of Debian's archive is known"):
        current_mirrors(lambda: wheel)


def test_a_password_is_not_shown() -> None:
    mirror = Mirror("https://me:hunter2@a.test/debian", "DEBIAN_MIRROR")
    assert mirror.label == "https://a.test/debian (DEBIAN_MIRROR)"


def test_an_invalid_configuration_is_an_error(machine: Path) -> None:
    file = machine / "config" / "theano-stacks" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("debian_miror: http://a.test/debian\n")
    with pytest.raises(UsageError, match=r"config\.yaml:1:1.*debian_mirror"):
        current_mirrors(no_wheel)


def test_ended_releases_are_debootstraps_or_the_wheels(
    machine: Path, wheel: Callable[[], Path]
) -> None:
    assert ended_mirrors(wheel) == (Mirror("http://old.test/debian", "the wheel debops 3.3.2"),)
    (machine / "DEBOOTSTRAP_SCRIPTS").mkdir()
    (machine / "DEBOOTSTRAP_SCRIPTS" / "lenny").write_text("default_mirror http://b.test/debian\n")
    assert ended_mirrors(no_wheel) == (Mirror("http://b.test/debian", "debootstrap"),)


def test_ended_releases_are_looked_up_once(
    wheel: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counted() -> Path:
        calls.append(1)
        return wheel()

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
    assert debian_mirrors.WHEEL_FILE.startswith("debops-3.3.2-")
