"""What Debian says of its suites: signed by the keys in this repository, and how long each lasts.

The dates are those of Debian's own table (package distro-info-data).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pysequoia import Cert, verify

from stacks.core.disk import scratch
from stacks.core.errors import FetchError, IntegrityError
from stacks.sources.mirrors import public_url
from stacks.sources.unpack import unpack_deb

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
    try:
        keys = tuple(Cert.split_bytes(path.read_bytes()))
        if not keys:
            raise ValueError("it has no keys")
    # pysequoia raises a RuntimeError or a ValueError for bytes that are no keys.
    except (OSError, RuntimeError, ValueError) as error:
        raise FetchError(
            "the keys of Debian's archive cannot be read",
            expected=f"an OpenPGP keyring: {path}",
            found=reason(error),
            fix="set DEBIAN_KEYRING to the keyring of Debian's package debian-archive-keyring, or "
            "unset it",
        ) from error
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


# The package, and the path of the table in it.
PACKAGE, TABLE = "distro-info-data", "usr/share/distro-info/debian.csv"


@dataclass(frozen=True)
class Support:
    """The dates of a suite: its release and the end of its long-term support; None if not set."""

    released: date | None
    ends: date | None


def support_dates(deb: Path) -> Mapping[str, Support]:
    """Return the dates of each suite by its codename, from the package distro-info-data.

    Mirrors keep a suite until its long-term support (eol-lts) has ended; Debian's archive of ended
    releases takes it then. Raises IntegrityError if the package has no such table.
    """
    with scratch() as folder:
        unpack_deb(deb, folder)
        try:
            text = (folder / TABLE).read_text(encoding="utf-8")
            return {row["series"]: _support(row) for row in csv.DictReader(io.StringIO(text))}
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise IntegrityError(
                f"{deb.name}: the table of suites cannot be read",
                expected=f"{TABLE} with the columns series, release, eol, eol-lts",
                found=repr(error),
                fix="run `./invoke pin` for another version of it",
            ) from error


def _support(row: Mapping[str, str | None]) -> Support:
    def day(column: str) -> date | None:
        text = row.get(column)
        return date.fromisoformat(text) if text else None

    return Support(day("release"), max(filter(None, (day("eol"), day("eol-lts"))), default=None))
