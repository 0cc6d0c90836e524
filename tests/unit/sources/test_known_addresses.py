from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.sources import known_addresses
from stacks.sources.known_addresses import (
    Addresses,
    apt_sources,
    apt_template,
    debootstrap,
    wheel_addresses,
)


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty /etc/apt of Debian."""
    monkeypatch.setattr(known_addresses, "APT", tmp_path)
    monkeypatch.setattr(known_addresses, "DISTRIBUTION", tmp_path / "os-release")
    (tmp_path / "os-release").write_text('NAME="Debian GNU/Linux"\nID=debian\n')
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


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
def test_one_line_sources(apt: Path, line: str, found: bool) -> None:
    (apt / "sources.list").write_text("deb http://z.test/debian stable main\n")
    (apt / "sources.list.d" / "more.list").write_text(f"{line}\n")
    assert (len(apt_sources().current) == 2) == found


def test_another_vendors_folder_debian_is_no_mirror_on_another_distribution(apt: Path) -> None:
    (apt / "os-release").write_text("ID=ubuntu\nID_LIKE=debian\n")
    (apt / "sources.list").write_text(
        "deb http://vpn.test/deb/debian stable main\n"
        "deb http://a.test/debian bookworm main\n"
        "deb file:/srv/debian stable main\n"
    )
    assert apt_sources().current == ("http://a.test/debian", "file:/srv/debian")


def test_deb822_sources(apt: Path) -> None:
    (apt / "sources.list.d" / "debian.sources").write_text(
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
    assert apt_sources().current == ("http://a.test/debian", "http://b.test/debian/")


def test_python_apts_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "Debian.info"
    monkeypatch.setattr(known_addresses, "TEMPLATE", template)
    assert apt_template() == Addresses()
    template.write_text(
        "ChangelogURI: https://changes.test/%s\n\n"
        "Suite: {series}\nRepositoryType: deb\nBaseURI: https://a.test/debian/\n"
        "MatchURI: .*a\\.test\nComponent: main\n\n"
        "Suite: {series}\nBaseURI: https://a.test/debian/\nX-Version: le 11\n\n"
        "Suite: {series}-security\nBaseURI: https://security.test/\n\n"
        "Suite: {series}/updates\nBaseURI: https://security.test/debian-security/\n"
    )
    assert apt_template() == Addresses(current=("https://a.test/debian",))


def test_debootstrap_and_its_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, scripts = tmp_path / "debootstrap", tmp_path / "scripts"
    monkeypatch.setattr(known_addresses, "DEBOOTSTRAP", program)
    monkeypatch.setattr(known_addresses, "DEBOOTSTRAP_SCRIPTS", scripts)
    assert debootstrap() == Addresses()
    scripts.mkdir()
    program.write_text(
        'VERSION=1\nDEF_MIRROR="http://a.test/debian"\nDEF_HTTPS_MIRROR="https://a.test/debian"\n'
    )
    (scripts / "sid").write_text("mirror_style release\n")
    (scripts / "lenny").write_text("default_mirror http://old.test/debian\n")
    (scripts / "noble").write_text("default_mirror http://other.test/ubuntu\n")
    assert debootstrap() == Addresses(("http://a.test/debian",), ("http://old.test/debian",))


def test_another_distributions_debootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, scripts = tmp_path / "debootstrap", tmp_path / "scripts"
    monkeypatch.setattr(known_addresses, "DEBOOTSTRAP", program)
    monkeypatch.setattr(known_addresses, "DEBOOTSTRAP_SCRIPTS", scripts)
    scripts.mkdir()
    program.write_text('DEF_MIRROR="http://other.test/ubuntu"\n')
    (scripts / "sid").write_text("default_mirror http://a.test/debian\n")
    assert debootstrap() == Addresses(("http://a.test/debian",))


SETTINGS = """\
apt__distribution_repository_map:
  Debian: 'http://a.test/debian'
  Ubuntu: '{{ "http://other.test/ubuntu" if x else "http://ports.test/ubuntu-ports" }}'
apt__debian_archived_releases: [buster]
apt__debian_sources:
  - name: debian-release
    uri: '{{ apt__distribution_repository_map.Debian | d() }}'
  - name: debian-release
    uri: 'http://old.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
  - name: debian-release
    state: '{{ "present" if (release not in apt__debian_archived_releases) else "ignore" }}'
    suites: [x]
  - name: debian-release-security
    uri: 'http://security.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
"""


def wheel_with(folder: Path, text: str, name: str = "a/roles/apt/defaults/main.yml") -> Path:
    wheel = folder / "debops-3.3.2-py2.py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return wheel


def test_the_settings_in_the_wheel(tmp_path: Path) -> None:
    addresses = wheel_addresses(wheel_with(tmp_path, SETTINGS))
    assert addresses == Addresses(("http://a.test/debian",), ("http://old.test/debian",))


@pytest.mark.parametrize(
    "text",
    [
        SETTINGS.replace("http://a.test/debian", bad)
        for bad in (
            "file:///etc/debian",
            "ftp://a.test/debian",
            "http://[half/debian",
            "http://a.test/{{ x }}/debian",
            "http://a.test/ubuntu",
            "http://a.test/debian?x",
        )
    ],
)
def test_what_is_no_root_of_the_archive_is_left_out(tmp_path: Path, text: str) -> None:
    assert wheel_addresses(wheel_with(tmp_path, text)).current == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a list",
        "a: [",
        "apt__distribution_repository_map: text",
        SETTINGS.replace("'http://a.test/debian'", "7"),
        SETTINGS + "a: !!python/object/apply:os.system [false]",
        SETTINGS + "#" * known_addresses.LARGEST_SETTINGS,
    ],
)
def test_settings_of_another_form_are_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(IntegrityError, match=r"(?s)debops.*cannot be read.*configure --debian-"):
        wheel_addresses(wheel_with(tmp_path, text))


def test_a_wheel_without_the_settings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="cannot be read"):
        wheel_addresses(wheel_with(tmp_path, SETTINGS, "other.yml"))
    (tmp_path / "broken.whl").write_bytes(b"no zip")
    with pytest.raises(IntegrityError, match=r"broken\.whl.*cannot be read"):
        wheel_addresses(tmp_path / "broken.whl")
