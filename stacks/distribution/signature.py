"""The signature of a published channel: one file lists the digests of all, and is signed.

Ed25519 (RFC 8032), keys in PEM: `openssl pkeyutl` verifies it as well.
"""

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors, write_atomically
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import expanded
from stacks.core.workspace import Workspace

NEW_KEY = "make one: ./invoke publish-channel --new-key FILE"


def public_key_path(workspace: Workspace) -> Path:
    """Return the path of the public key in the repository, whether or not it exists."""
    return workspace.recipes / "channel-key.pem"


def make_key(workspace: Workspace, private: Path) -> Path:
    """Write a new private key, and the public one into the repository; return the latter's path.

    Raises UsageError if the private key's file exists, DiskError; then neither is written.
    """
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with explain_disk_errors(private):
        try:
            descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except (FileExistsError, FileNotFoundError) as error:
            raise UsageError(
                f"{private}: {error.strerror}",
                fix="choose a new name in a folder that exists: a key that is in use must not go",
            ) from error
        path = public_key_path(workspace)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
            write_atomically(path, _public_bytes(key.public_key()))
        except BaseException:
            # One without its public key is of no use, and in the way of the next.
            private.unlink(missing_ok=True)
            raise
    return path


def _public_bytes(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def private_key(workspace: Workspace, place: str) -> Ed25519PrivateKey:
    """Return the private key in a file, or in an environment variable, env:NAME, which is removed.

    Raises UsageError if there is none, or if it does not belong to the repository's public key.
    """
    name = display_path(expanded(place))
    try:
        if place.startswith("env:"):
            name = place.removeprefix("env:")
            # No program that is started for a build sees it.
            text = os.environ.pop(name, "").encode()
        else:
            text = expanded(place).read_bytes()
        key = load_pem_private_key(text, None)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}", fix=NEW_KEY) from error
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(
            f"{name} is not a private key that signs channels",
            expected="Ed25519, in PEM, without a password",
            fix=NEW_KEY,
        )
    path = public_key_path(workspace)
    if not path.is_file() or path.read_bytes() != _public_bytes(key.public_key()):
        raise UsageError(
            f"{name} does not belong to the public key {display_path(path)}",
            fix="use the key that belongs to it; or make a new pair (--new-key) and commit "
            "the public key",
        )
    return key


def check_signature(workspace: Workspace, data: bytes, signature: bytes) -> None:
    """Raise IntegrityError unless a signature of the data is by the repository's key."""
    public = public_key_path(workspace)
    try:
        key = load_pem_public_key(public.read_bytes())
    except OSError as error:
        raise UsageError(f"{public}: {error.strerror}", fix=NEW_KEY) from error
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{public} is not a public key that signs channels", fix=NEW_KEY)
    try:
        key.verify(signature, data)
    except InvalidSignature:
        raise IntegrityError(
            "the channel's list of digests has no good signature",
            expected=f"a signature by the key {public}",
            fix="publish it again, or do not use this channel",
        ) from None
