"""Vendored folders and their archives; signatures of a channel."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import zstandard
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from stacks.core import records
from stacks.core.errors import DiskError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.distribution.signature import check_signature, make_key, private_key, public_key_path
from stacks.sources.mirrors import DIGESTS


def write_list(folder: Path) -> None:
    (folder / DIGESTS).unlink(missing_ok=True)
    (folder / DIGESTS).write_text(records.list_folder(folder))


def make(tmp_path: Path) -> Path:
    """Return a vendored folder with two small files."""
    folder = tmp_path / "carried"
    (folder / "tools").mkdir(parents=True)
    for name in ("one.whl", "two.whl"):
        (folder / "tools" / name).write_text(name)
    write_list(folder)
    return folder


def test_where_no_folder_can_be_vendored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = tmp_path / "letter", tmp_path / "carried"
    path.write_text("dear")
    monkeypatch.chdir(tmp_path)
    for target, archive, message in (
        (path, None, "letter is there and is no vendored folder"),
        (tmp_path, None, "is the folder that you stand in"),
        (folder, folder / "all.tar.zst", "inside the folder that it is made of"),
    ):
        with pytest.raises(UsageError, match=message):
            vendor.vendor(Workspace(tmp_path, tmp_path), [], target, archive=archive)
    assert path.read_text() == "dear" and not folder.exists()


def test_a_damaged_list_of_digests_shows_no_traceback(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / DIGESTS).write_bytes(b"\xff\x00 no list\n")
    with pytest.raises(IntegrityError, match=r"tools/one\.whl: not part of it"):
        vendor.check(folder)


def test_a_program_stays_one_in_the_archive_and_a_check_names_one_that_does_not(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path)
    program = folder / "channel/image/busybox"
    program.parent.mkdir(parents=True)
    program.touch()
    program.chmod(0o750)
    write_list(folder)
    vendor.check(folder)
    vendor.write_archive(folder, tmp_path / "all.tar.zst")
    with (
        zstandard.open(tmp_path / "all.tar.zst") as data,
        tarfile.open(fileobj=data, mode="r|") as archive,
    ):
        modes = {member.name: member.mode for member in archive if member.isfile()}
    assert modes.pop("carried/channel/image/busybox") == 0o755
    assert set(modes.values()) == {0o644}
    program.chmod(0o644)
    with pytest.raises(IntegrityError) as caught:
        vendor.check(folder)
    assert caught.value.what.splitlines()[1:] == [
        "  - channel/image/busybox: not executable (chmod 755)"
    ]


def test_the_archive_depends_on_names_and_bytes_alone(tmp_path: Path) -> None:
    folder, archives = make(tmp_path), []
    for run, (mode, time) in enumerate([(0o644, 1), (0o600, 2_000_000_000)]):
        for path in (folder / "tools").iterdir():
            path.chmod(mode)
            os.utime(path, (time, time))
        vendor.write_archive(folder, tmp_path / f"{run}.tar.zst")
        archives.append((tmp_path / f"{run}.tar.zst").read_bytes())
    assert archives[0] == archives[1]


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
    own: Workspace, tmp_path: Path
) -> None:
    key = tmp_path / "key.pem"
    public_key_path(own).mkdir()
    with pytest.raises(DiskError):
        make_key(own, key)
    assert not key.exists(), "one without its public key would only be in the way"
    public_key_path(own).rmdir()
    assert make_key(own, key) == public_key_path(own)
    assert key.stat().st_mode & 0o777 == 0o600
    before, public = key.read_bytes(), public_key_path(own).read_bytes()
    assert b"PRIVATE" not in public
    with pytest.raises(UsageError, match=r"key\.pem: File exists"):
        make_key(own, key)
    with pytest.raises(UsageError, match="No such file"):
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
