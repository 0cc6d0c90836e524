"""Debian's mirrors, where their addresses come from and in which order; Debian's signatures.

GnuPG signed with keys made for these tests."""

import base64
import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from pysequoia import Cert

from stacks.core.errors import FetchError, IntegrityError
from stacks.sources import debian_mirrors
from stacks.sources.debian_archive import KEYRING, Keys, archive_keys, verified_text
from stacks.sources.debian_mirrors import (
    current_mirrors,
    ended_mirrors,
    ended_releases,
    wheel_addresses,
)
from unit.helpers.environments import add
from unit.helpers.serving import SETTINGS, wheel_with


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of a Debian machine that knows no mirror; its apt prints the file `targets`."""
    for name in ("DEBIAN_MIRROR", "DEBIAN_SNAPSHOT_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    apt = add(tmp_path, "bin/apt-get", f"#!/bin/sh\ncat {tmp_path}/targets\n", 0o755)
    monkeypatch.setenv("PATH", str(apt.parent), prepend=":")
    return tmp_path


def no_wheel() -> Path:
    raise FetchError("the index has no wheel")


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[], Path]:
    path = wheel_with(tmp_path, SETTINGS)
    return lambda: path


def urls() -> list[str]:
    return [*current_mirrors(no_wheel)]


def test_each_source_of_addresses_goes_before_the_next(
    machine: Path, wheel: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert current_mirrors(wheel) == ("http://a.test/debian",)
    (machine / "targets").write_text("http://apt.test/debian bookworm main\n")
    assert urls() == ["http://apt.test/debian"]
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.test/debian/")
    assert urls() == ["http://mirror.test/debian"]
    # The snapshot mirror comes last, and is enough.
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", "http://old.test/debian/20250101/")
    assert urls() == ["http://mirror.test/debian", "http://old.test/debian/20250101"]
    monkeypatch.delenv("DEBIAN_MIRROR")
    (machine / "targets").unlink()
    assert urls() == ["http://old.test/debian/20250101"]


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


def test_apt_counts_on_debian_alone_and_without_any_mirror_the_error_has_the_ways(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "targets").write_text("http://vpn.test/debian stable main\n")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "ubuntu"})
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
        "let pip reach a package index that has debops 3.3.2",
    ):
        assert way in message


def test_ended_releases_or_why_they_are_not_known(wheel: Callable[[], Path]) -> None:
    assert ended_mirrors(wheel) == ("http://old.test/debian",)
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
    with pytest.raises(IntegrityError, match=r"(?s)debops.*cannot be read.*export DEBIAN_MIRROR="):
        wheel_addresses(wheel)


# Made on 2020-01-01; the first ends a year later, the second never, the third on 2021-01-01.
FIRST, SECOND, THIRD = (
    tuple(Cert.split_bytes(base64.b64decode(text)))
    for text in (
        "mDMEXgvhABYJKwYBBAHaRw8BAQdAsp3pUC+DUHY0jVKh8g3v0BvqwNGreA4UMVjVVwmL6yi0BUVuZGVkiJYEExYI"
        "AD4WIQQr2PIMOZyGvB4rqyiRp2iqIU87agUCXgvhAAIbAwUJAeEzgAULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAK"
        "CRCRp2iqIU87agywAP9fCp22NIr3/eIQOcC9Q2o4yFf10jcAKWk8vBX7FlUgLAEA/LnH+gFw/AkXqC/OqRp+Ajjt"
        "hYREDU42wI2kSvBQgQc=",
        "mDMEXgvhABYJKwYBBAHaRw8BAQdAEc8R0Q3dtFKvM0rQPglbeJvQd19jWv5IFNV+vm//7fG0BlNlY29uZIiQBBMW"
        "CAA4FiEEIYNcUxD6v70aUBxcxNuq6fHnuOQFAl4L4QACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQxNuq"
        "6fHnuOS/VAEA3jyRXdOQYOlZxkD22LZAy3AzAyGzWNHvINSlchpyA0cBAKFyoUlP5wypvrHvTFn0m3DH3Nvnkg0X"
        "rT0jncAY01IP",
        "mDMEXgvhABYJKwYBBAHaRw8BAQdA9CAveoSCcyD6rpzypI+oNSvKY6i0xFB/NhNxl0Plc1S0BExhdGWIlgQTFggA"
        "PgIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgBYhBMgvM8KicvcUuuPj3f4EDMqGFpBYBQJeDTKABQkB4oUAAAoJ"
        "EP4EDMqGFpBYZzEA/RwW0UiPFjDLhESgOc1F/GWJg2qWpAlG3gi2c7lna8kgAPkB3t2qQWk+N99mt8XpZzrEsBwg"
        "mYkDwgqDCJz694NOCw==",
    )
)
TEXT = "Suite: stable\nCodename: bookworm\n"


def signed(signature: str, text: str = TEXT) -> str:
    return (
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{text}"
        f"-----BEGIN PGP SIGNATURE-----\n\n{signature}-----END PGP SIGNATURE-----\n"
    )


# By the first key and the second, in June 2020.
BOTH = signed("""\
iHUEARYIAB0WIQQr2PIMOZyGvB4rqyiRp2iqIU87agUCXtRFAAAKCRCRp2iqIU87
anWkAP4u8PamgW4aZslpYnkFPaWDWqb/aktx4JJRfgqaX+u0TAEAp+cgc8BiT85O
PgXxdvLv4X4AU+kW72KwUtRDeUMLqAKIdQQBFggAHRYhBCGDXFMQ+r+9GlAcXMTb
qunx57jkBQJe1EUAAAoJEMTbqunx57jkc9cBAK+wcCjE4e5hfNyqGHPlEyGRpG/9
+SvttsV2ziMG0JxNAQD5ZIORHWu8Lz88LZWmSgCear6xWMCl7y6vEH3sT63lBg==
=gNug
""")
# The same, but the first key signed another text.
ONE_BAD = signed("""\
iHUEARYIAB0WIQQr2PIMOZyGvB4rqyiRp2iqIU87agUCXtRFAAAKCRCRp2iqIU87
ajTYAP9XlXfS/U59+kLSGqAjJFhWMOuXgo8lJCctn+bI4nRgrwD/Q3ljx8VnE06l
Xgz/AtRhOoD1NuzkflV/62eAQ/6rxAWIdQQBFggAHRYhBCGDXFMQ+r+9GlAcXMTb
qunx57jkBQJe1EUAAAoJEMTbqunx57jkc9cBAK+wcCjE4e5hfNyqGHPlEyGRpG/9
+SvttsV2ziMG0JxNAQD5ZIORHWu8Lz88LZWmSgCear6xWMCl7y6vEH3sT63lBg==
=02V1
""")
# By the third key, two years after it ended.
LATE = signed("""\
iHUEARYIAB0WIQTILzPConL3FLrj493+BAzKhhaQWAUCZHffgAAKCRD+BAzKhhaQ
WG2rAQC+dMHUIeOYhiR7akSfu6ZCoDevogkre85eRnq8BDMS4gD9GMnIXYuuS7FY
gqN6ym9C9LppuB7xGmqYTvfRPRUCMg8=
=IC8x
""")


def text_of(text: str, keys: Keys) -> str:
    return verified_text(text.encode(), "http://mirror.test/InRelease", keys)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        *((BOTH, keys) for keys in (FIRST, SECOND, FIRST + SECOND, THIRD + SECOND)),
        (ONE_BAD, FIRST + SECOND),
        # Unsigned text around it is left out.
        (f"evil: 1\n\n{BOTH}\nevil: 2\n", SECOND),
    ],
)
def test_one_good_signature_by_a_known_key_is_enough(text: str, keys: Keys) -> None:
    assert text_of(text, keys).strip() == TEXT.strip()


@pytest.mark.parametrize(
    ("text", "keys", "end"),
    [(ONE_BAD, FIRST, "2020-12-31"), (LATE, THIRD, "2021-01-01"), (BOTH, THIRD, "2021-01-01")],
    ids=["of another text", "after its key ended", "by a key that is not known"],
)
def test_a_bad_signature_is_refused(text: str, keys: Keys, end: str) -> None:
    with pytest.raises(IntegrityError, match=f"(?s)no good signature.*which end {end}"):
        text_of(text, keys)


@pytest.mark.parametrize(
    "text",
    [
        BOTH.replace("bookworm", "bullseye"),
        BOTH.replace("Suite: stable", "Suite: stable\nSuite: evil"),
        TEXT,
        "",
        "<html>log in first</html>",
        BOTH[:-200],
        BOTH[:100],
        signed("", TEXT),
    ],
)
def test_what_is_not_signed_is_refused(text: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        text_of(text, FIRST + SECOND)
    message = str(caught.value)
    assert message.startswith("http://mirror.test/InRelease: no good signature")
    assert "export DEBIAN_MIRROR" in message
    assert "DEBIAN_KEYRING" in message
    # No stack of the library's calls.
    assert len(message.splitlines()) == 4


def test_the_repository_has_the_keys_of_debians_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBIAN_KEYRING", raising=False)
    names = [str(user) for key in archive_keys() for user in key.user_ids]
    for kind in ("Archive Automatic Signing", "Stable Release"):
        for release in ("11/bullseye", "12/bookworm", "13/trixie"):
            assert any(f"Debian {kind} Key ({release})" in name for name in names)


@pytest.mark.parametrize("content", [None, b"", b"no keys", KEYRING.read_bytes()[:100]])
def test_a_keyring_without_keys_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "keys").write_bytes(content)
    monkeypatch.setenv("DEBIAN_KEYRING", str(tmp_path / "keys"))
    with pytest.raises(FetchError, match=r"(?s)keys.*fix:.*debian-archive-keyring"):
        archive_keys()
