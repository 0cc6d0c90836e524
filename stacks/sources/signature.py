"""Signatures of Debian's archive, verified with the keys in this repository."""

from __future__ import annotations

import os
from pathlib import Path

from pysequoia import Cert, verify

from stacks.core.disk import explain_disk_errors
from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.mirrors import public_url

# /usr/share/keyrings/debian-archive-keyring.gpg of debian-archive-keyring 2023.3+deb12u2,
# unchanged: the keys of Debian 11, 12 and 13. They end between 2029 and 2035.
KEYRING = Path(__file__).with_name("debian-archive-keyring.gpg")
ANOTHER_MIRROR = (
    "choose another mirror: export DEBIAN_MIRROR, or ./invoke configure --debian-mirror"
)
BEGIN = b"-----BEGIN PGP SIGNED MESSAGE-----"

# The certificates of those who may sign.
Keys = tuple[Cert, ...]


def archive_keys() -> Keys:
    """Return the keys that sign Debian's archive: DEBIAN_KEYRING's, else the repository's.

    Raises FetchError if the file is missing or has no keys.
    """
    path = Path(os.environ.get("DEBIAN_KEYRING") or KEYRING).absolute()
    fix = (
        "set DEBIAN_KEYRING to the keyring of Debian's package debian-archive-keyring, or unset it"
    )
    with explain_disk_errors(path):
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise FetchError(
                "the keys of Debian's archive are missing",
                expected=path,
                found="no such file",
                fix=fix,
            ) from error
    try:
        keys = tuple(Cert.split_bytes(content))
    # What pysequoia raises for bytes that are no keys.
    except (RuntimeError, ValueError) as error:
        raise FetchError(
            f"{path} is not an OpenPGP keyring", found=reason(error), fix=fix
        ) from error
    if not keys:
        raise FetchError(f"{path} has no keys", fix=fix)
    return keys


def verified_text(signed: bytes, url: str, keys: Keys) -> str:
    """Return the text of a clear-signed file; one good signature by one of the keys is enough.

    A signature counts if its key was valid when it was made: the archives of ended releases are
    signed by keys that have ended since. Unsigned text around the signed one is left out. Raises
    IntegrityError without a good signature.
    """
    try:
        if BEGIN not in signed:
            raise ValueError("no signature")
        text = verify(signed, store=lambda _: list(keys)).bytes
        return (text or b"").decode()
    except (RuntimeError, ValueError) as error:
        raise IntegrityError(
            f"{public_url(url)}: no good signature of Debian's archive",
            expected=f"a good signature by one of {len(keys)} keys, which end "
            f"{_last_end(keys)} at the latest",
            found=reason(error),
            fix=f"{ANOTHER_MIRROR}; if Debian has new keys, set DEBIAN_KEYRING to the keyring of "
            "its package debian-archive-keyring",
        ) from error


def reason(error: Exception) -> str:
    """Return the first line of pysequoia's message, which a stack of calls may follow."""
    return "".join(filter(str.isprintable, str(error).partition("\n")[0]))


def _last_end(keys: Keys) -> str:
    ends = [key.expiration for key in keys]
    return max((f"{end:%Y-%m-%d}" for end in ends if end), default="never")
