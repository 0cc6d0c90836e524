"""The archive's signature, checked by the real gpgv with a key made for this test."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.sources.debian_archive import verified_text

KEYRING = """\
mDMEXgvhABYJKwYBBAHaRw8BAQdA9vrP79qIPvNzNoP5HtOqXh2fltTEBOygXxgnHXAQdWC0DFRlc3QgYXJjaGl2
ZYiQBBMWCAA4FiEEL1q7mPorHtL3ExB8U5RpQ+ku9CsFAl4L4QACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AA
CgkQU5RpQ+ku9Ct07AEA3T6y5JE51IufCZDUJQlIcJAusxs+zR7qPjVB56jWniIBAL/xpuXzhiVtHNnfB0wtUr4s
1XIVEpUYevJraWDqREsG
"""
SIGNED = """\
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

Suite: stable
Codename: bookworm
SHA256:
 abababababababababababababababababababababababababababababababab 1234 main/binary-amd64/Packages.xz
-----BEGIN PGP SIGNATURE-----

iHUEARYKAB0WIQQvWruY+ise0vcTEHxTlGlD6S70KwUCXgvhBgAKCRBTlGlD6S70
KxXCAQDlE17X/n3ynzMFZ2dTo4KjRutVFxtgX62Vz8MD62FK9wD+Ltd5Ob98FDPC
LbBtj6QMgaQqC16ZVdqKwy60tiuXEwc=
=WVmf
-----END PGP SIGNATURE-----
"""


@pytest.fixture(autouse=True)
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys.gpg").write_bytes(base64.b64decode(KEYRING))
    monkeypatch.setenv("DEBIAN_KEYRING", str(tmp_path / "keys.gpg"))


def text_of(signed: str) -> str:
    return verified_text(signed.encode(), "mirror/InRelease")


def test_the_signed_text_is_used() -> None:
    inside = SIGNED.split("\n\n", 1)[1].split("-----BEGIN PGP SIG")[0]
    assert text_of(SIGNED).strip() == inside.strip()


def test_unsigned_text_around_it_is_ignored() -> None:
    assert "evil" not in text_of(f"evil: 1\n\n{SIGNED}\nevil: 2\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [("bookworm", "bullseye"), ("abab", "abac"), ("Suite: stable", "Suite: stable\nSuite: evil")],
)
def test_a_changed_text_is_refused(old: str, new: str) -> None:
    with pytest.raises(IntegrityError, match=r"(?s)no good signature.*BADSIG"):
        text_of(SIGNED.replace(old, new, 1))


def test_an_unsigned_text_is_refused() -> None:
    with pytest.raises(IntegrityError, match="no good signature"):
        text_of("Suite: stable\n")


def test_a_key_that_is_not_in_the_keyring_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "others.gpg").write_bytes(b"")
    monkeypatch.setenv("DEBIAN_KEYRING", str(tmp_path / "others.gpg"))
    with pytest.raises(IntegrityError, match=r"(?s)no good signature.*NO_PUBKEY"):
        text_of(SIGNED)
