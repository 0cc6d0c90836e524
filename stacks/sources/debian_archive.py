"""Debian's signed archive: the version and bytes of a package that a suite has today.

A suite's Release file is verified by the keys in this repository.
"""

import hashlib
import io
import lzma
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from pysequoia import Cert, verify

from stacks.core.errors import FetchError, IntegrityError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources.debian_mirrors import current_mirrors, ended_releases
from stacks.sources.download import get_document
from stacks.sources.mirrors import public_url
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import DebPin
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import MissingError, Web, environment_web

PACKAGES = "main/binary-amd64/Packages.xz"
SOURCES = "main/source/Sources.xz"
# Bytes; main of Debian 13 has 55 MB of Packages.
LARGEST_INDEX = 1 << 29

# Returns the time now, with a zone.
Clock = Callable[[], datetime]

# /usr/share/keyrings/debian-archive-keyring.gpg of debian-archive-keyring 2023.3+deb12u2,
# unchanged: the keys of Debian 11, 12 and 13. They end between 2029 and 2035.
KEYRING = Path(__file__).with_name("debian-archive-keyring.gpg")
ANOTHER_MIRROR = "choose another mirror: export DEBIAN_MIRROR=<its address>"
BEGIN = b"-----BEGIN PGP SIGNED MESSAGE-----"

# The certificates of those who may sign.
Keys = tuple[Cert, ...]


@dataclass(frozen=True, order=True)
class DebRequest:
    """A deb to pin in the version that the suite has today, or all files of a source package."""

    suite: str
    name: str
    is_source: bool = False


Found = dict[DebRequest, tuple[DebPin, ...]]


def deb_pins(
    workspace: Workspace,
    requests: Sequence[DebRequest],
    stop: threading.Event,
    expired: Set[str],
    clock: Clock,
) -> Found:
    """Return pins for what the mirrors have of each suite today, in the order of the requests.

    A mirror that fails is left for the next one; the archives of ended releases follow if one lacks
    the suite. expired: suites that are pinned though their Valid-Until is past. Raises
    IntegrityError for a bad signature, an expired suite or bytes that differ from the signed ones,
    FetchError for what is not available, UsageError for what does not exist.
    """
    if not requests:
        return {}
    wheel, keys = address_wheel(workspace), archive_keys()
    roots = current_mirrors(wheel)

    def roots_to_ask(failures: Sequence[StacksError]) -> Iterator[str]:
        yield from roots
        if any(isinstance(failure, MissingError) for failure in failures):
            yield from ended_releases(wheel)[0]

    def pins_of(suite: str) -> Found:
        wanted = {request for request in requests if request.suite == suite}
        failures: list[StacksError] = []
        for root in roots_to_ask(failures):
            web, folder = environment_web(stop), f"{root}/dists/{suite}"
            try:
                signed, _, _ = get_document(web, f"{folder}/InRelease", "*/*")
                release = verified_text(signed, f"{folder}/InRelease", keys)
                _check_release(release, None if suite in expired else clock(), suite, folder)
                return _pins(web, folder, release, wanted)
            except (FetchError, IntegrityError) as error:
                failures.append(error)
        serious = [failure for failure in failures if not isinstance(failure, MissingError)]
        first = serious[0] if serious else None
        if first and (first in failures[: len(roots)] or isinstance(first, IntegrityError)):
            raise first
        raise UsageError(
            f"no mirror has the suite {suite}",
            found=f"the archive of ended releases fails, too: {first.what}" if first else None,
            fix="check the spelling of the suite",
        ) from failures[0]

    found: Found = {}
    for pins in parallel_map(pins_of, sorted({request.suite for request in requests}), stop):
        found |= pins
    for request in requests:
        if not found.get(request):
            kind = "source package" if request.is_source else "package"
            raise UsageError(
                f"{request.suite} has no {kind} {request.name} in main for amd64",
                fix="check the spelling of the package and the suite",
            )
    return {request: found[request] for request in requests}


def _check_release(release: str, now: datetime | None, suite: str, folder: str) -> None:
    """Raise IntegrityError if a Release file is another suite's, or past its Valid-Until.

    It is as with apt and deb-release. now: None if the date does not matter.
    """
    names = re.findall(r"^(?:Suite|Codename): *(\S+)$", release, re.MULTILINE)
    if suite not in names:
        raise IntegrityError(
            f"{public_url(folder)}/InRelease is signed, but for another suite",
            expected=suite,
            found=", ".join(names),
            fix=ANOTHER_MIRROR,
        )
    line = re.search(r"^Valid-Until: *(.*)$", release, re.MULTILINE)
    if not line or not now:
        return
    try:
        is_current = now <= parsedate_to_datetime(line[1])
    except (ValueError, TypeError, OverflowError):
        is_current = False
    if not is_current:
        raise IntegrityError(
            f"{public_url(folder)}/InRelease: {suite} has expired: the mirror is no longer updated",
            expected=f"{now:%Y-%m-%d %H:%M:%S} UTC or later",
            found=f"Valid-Until: {line[1]}",
            fix=f"{ANOTHER_MIRROR}; if this archive has ended for good: "
            f"./invoke pin --expired {suite}",
        )


def _pins(web: Web, folder: str, release: str, requests: Set[DebRequest]) -> Found:
    """Return the pins of what a mirror's folder of a suite has, by its signed Release file."""
    found: Found = {}
    for name, is_source in ((PACKAGES, False), (SOURCES, True)):
        by_name = {each.name: each for each in requests if each.is_source == is_source}
        for paragraph in _index(web, folder, name, release).split("\n\n") if by_name else ():
            request = by_name.get(paragraph.partition("\n")[0].removeprefix("Package: "))
            # A suite keeps older sources too, of which some of its debs have taken code.
            if request and "\nExtra-Source-Only: yes" not in paragraph:
                found[request] = tuple(_pins_of(request, paragraph))
    return found


def _index(web: Web, folder: str, name: str, release: str) -> str:
    """Return the text of an index of a suite, checked against the signed Release file."""
    sums = release.partition("\nSHA256:")[2]
    line = re.search(rf"^ ([0-9a-f]{{64}}) +(\d{{1,10}}) {re.escape(name)}$", sums, re.MULTILINE)
    if not line:
        raise UsageError(
            f"{public_url(folder)}/InRelease lists no {name}",
            fix="this suite cannot be used: it needs the component main for amd64",
        )
    packed, _, _ = get_document(web, f"{folder}/{name}", "*/*", int(line[2]))
    digest = hashlib.sha256(packed).hexdigest()
    if digest != line[1]:
        raise IntegrityError(
            f"{public_url(folder)}/{name} differs from the signed InRelease",
            expected=f"sha256 {line[1]}",
            found=f"sha256 {digest}",
            fix="the mirror may be in the middle of an update: try again in an hour; or "
            + ANOTHER_MIRROR,
        )
    try:
        with lzma.open(io.BytesIO(packed)) as file:
            text = file.read(LARGEST_INDEX + 1)
        if len(text) > LARGEST_INDEX:
            raise ValueError("more text")
        return text.decode()
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise IntegrityError(
            f"{public_url(folder)}/{name} cannot be read",
            expected=f"at most {LARGEST_INDEX} bytes of text, compressed by xz",
            found=str(error),
            fix=ANOTHER_MIRROR,
        ) from error


def _pins_of(request: DebRequest, paragraph: str) -> Iterator[DebPin]:
    """Yield the pin of a deb, or of each file of a source package, from its paragraph."""
    fields = dict(re.findall(r"^([A-Z][A-Za-z0-9-]*): (.*)$", paragraph, re.MULTILINE))
    if request.is_source:
        sums = paragraph.partition("\nChecksums-Sha256:")[2]
        listed = re.match(r"(?:\n [0-9a-f]{64} \d+ \S+)*", sums)
        lines = [line.split() for line in listed[0].splitlines() if line] if listed else []
        files = [(f"{fields['Directory']}/{name}", size, sha256) for sha256, size, name in lines]
    else:
        files = [(fields["Filename"], fields["Size"], fields["SHA256"])]
    for path, size, sha256 in files:
        yield DebPin(
            suite=request.suite,
            name=request.name,
            version=fields["Version"],
            path=path,
            size=int(size),
            sha256=sha256,
        )


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
        ends = [f"{key.expiration:%Y-%m-%d}" for key in keys if key.expiration]
        raise IntegrityError(
            f"{public_url(url)}: no good signature of Debian's archive",
            expected=f"a good signature by one of {len(keys)} keys, which end "
            f"{max(ends, default='never')} at the latest",
            found=reason(error),
            fix=f"{ANOTHER_MIRROR}; if Debian has new keys, set DEBIAN_KEYRING to the keyring of "
            "its package debian-archive-keyring",
        ) from error


def reason(error: Exception) -> str:
    """Return the first line of pysequoia's message, which a stack of calls may follow."""
    return "".join(filter(str.isprintable, str(error).partition("\n")[0]))
