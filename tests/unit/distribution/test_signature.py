"""The keys and the signature of a published channel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution.channel import publish_channel
from stacks.distribution.signature import check_signature, make_key, private_key, public_key_path

DATA = b"a list of digests\n"
PEM, FORM = Encoding.PEM, PrivateFormat.PKCS8


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    (tmp_path / "checkout/recipes").mkdir(parents=True)
    return Workspace(tmp_path / "checkout", tmp_path / "cache")


@pytest.fixture
def key(own: Workspace, tmp_path: Path) -> Path:
    make_key(own, tmp_path / "private.pem")
    return tmp_path / "private.pem"


def test_a_signature_is_good_for_its_data_alone_and_openssl_verifies_it(
    own: Workspace, key: Path, tmp_path: Path
) -> None:
    signature = private_key(own, str(key)).sign(DATA)
    check_signature(own, DATA, signature)
    other = bytes([signature[0] ^ 1]) + signature[1:]
    for data, wrong in ((DATA + b"x", signature), (DATA, other), (DATA, b"")):
        with pytest.raises(IntegrityError, match="no good signature"):
            check_signature(own, data, wrong)
    (tmp_path / "data").write_bytes(DATA)
    (tmp_path / "data.sig").write_bytes(signature)
    public = str(public_key_path(own))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin"]
    words += ["-in", "data", "-sigfile", "data.sig"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"Signature Verified Successfully\n")


def test_a_key_in_a_variable(own: Workspace, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNING_KEY", key.read_text())
    expected = private_key(own, str(key)).sign(DATA)
    assert private_key(own, "env:SIGNING_KEY").sign(DATA) == expected
    assert "SIGNING_KEY" not in os.environ, "programs that build packages do not see it"
    with pytest.raises(UsageError, match="SIGNING_KEY is not a private key"):
        private_key(own, "env:SIGNING_KEY")


def test_only_its_owner_can_read_a_new_key_and_it_replaces_none(
    own: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key.pem"
    publish_channel(own, "", new_key=key)
    output = capsys.readouterr().out
    assert "key.pem: keep it secret; " in output and "channel-key.pem: commit it" in output
    assert key.stat().st_mode & 0o777 == 0o600
    before, public = key.read_bytes(), public_key_path(own).read_bytes()
    assert b"PRIVATE" not in public
    with pytest.raises(UsageError, match=r"key\.pem exists"):
        make_key(own, key)
    with pytest.raises(UsageError, match="its folder is missing"):
        make_key(own, tmp_path / "none/private.pem")
    assert (key.read_bytes(), public_key_path(own).read_bytes()) == (before, public)


def test_a_key_that_is_not_the_repositorys_is_refused(
    own: Workspace, key: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.pem"
    key.rename(old)
    make_key(own, key)
    with pytest.raises(UsageError, match=r"old\.pem does not belong to the public key"):
        private_key(own, str(old))
    public_key_path(own).write_text("text")
    with pytest.raises(UsageError, match="is not a public key"):
        check_signature(own, DATA, b"")
    public_key_path(own).unlink()
    with pytest.raises(UsageError, match="does not belong"):
        private_key(own, str(key))
    with pytest.raises(UsageError, match="No such file"):
        check_signature(own, DATA, b"")


def test_a_file_that_is_no_such_key_is_refused(own: Workspace, key: Path, tmp_path: Path) -> None:
    loaded = load_pem_private_key(key.read_bytes(), None)
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, FORM, NoEncryption())
    texts = {
        "no-pem": b"text",
        "empty": b"",
        "public": public_key_path(own).read_bytes(),
        "locked": loaded.private_bytes(PEM, FORM, BestAvailableEncryption(b"password")),
        "other-kind": other,
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        with pytest.raises(UsageError, match=f"{name} is not a private key") as caught:
            private_key(own, str(tmp_path / name))
        assert caught.value.fix and "--new-key" in caught.value.fix
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match=r"No such file|Is a directory"):
            private_key(own, str(path))
