"""Debian's signed archive: the version and bytes of a package that a suite has today."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime

from stacks.core.errors import FetchError, IntegrityError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources.debian_mirrors import EndedReleases, current_mirrors
from stacks.sources.debian_release import ANOTHER_MIRROR, Keys, archive_keys, verified_text
from stacks.sources.download import get_document
from stacks.sources.mirrors import public_url
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import DebPin
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import MissingError, StoppedError, Web, environment_web

PACKAGES = "main/binary-amd64/Packages.xz"
SOURCES = "main/source/Sources.xz"
# Bytes; main of Debian 13 has 55 MB of Packages.
LARGEST_INDEX = 1 << 29
# Suites whose packages change every day.
MOVING = ("testing", "unstable", "experimental")

# Returns the time now, with a zone.
Clock = Callable[[], datetime]


@dataclass(frozen=True, order=True)
class DebRequest:
    """A deb to pin in the version that the suite has today, or all files of a source package."""

    suite: str
    name: str
    is_source: bool = False


# The fields of the files of each request in a suite's index.
Tables = dict[DebRequest, list[dict[str, str]]]


@dataclass(frozen=True)
class Archive:
    """The access to Debian's archive: the mirrors' roots, what they dropped, and its keys."""

    web: Web
    roots: tuple[str, ...]
    ended: EndedReleases
    keys: Keys

    def all_roots(self, failures: Sequence[StacksError]) -> Iterator[str]:
        """Give the mirrors; then, if one lacks the suite, the archives of ended releases."""
        yield from self.roots
        if any(isinstance(failure, MissingError) for failure in failures):
            yield from self.ended.roots()


def deb_pins(
    workspace: Workspace,
    requests: Sequence[DebRequest],
    stop: threading.Event,
    expired: Set[str],
    clock: Clock,
) -> dict[DebRequest, tuple[DebPin, ...]]:
    """Return pins for what the mirrors have of each suite today, in the order of the requests.

    expired: suites that are pinned though their Valid-Until is past. Raises IntegrityError for a
    bad signature, an expired suite or bytes that differ from the signed ones, FetchError for what
    is not available, UsageError for what does not exist.
    """
    if not requests:
        return {}
    wheel = address_wheel(workspace)
    roots = tuple(mirror.url for mirror in current_mirrors(wheel))
    archive = Archive(
        replace(environment_web(stop), roots=roots), roots, EndedReleases(wheel), archive_keys()
    )
    by_suite: dict[str, set[DebRequest]] = {}
    for request in requests:
        by_suite.setdefault(request.suite, set()).add(request)

    def one(suite: str) -> Tables:
        now = None if suite in expired else clock()
        return _packages(archive, suite, by_suite[suite], now)

    tables: Tables = {}
    for table in parallel_map(one, list(by_suite), stop):
        tables |= table
    for request in requests:
        if not tables.get(request):
            kind = "source package" if request.is_source else "package"
            raise UsageError(
                f"{request.suite} has no {kind} {request.name} in main for amd64",
                fix="check the spelling of the package and the suite",
            )
    return {
        request: tuple(_pin(request, fields) for fields in tables[request]) for request in requests
    }


def _pin(request: DebRequest, fields: Mapping[str, str]) -> DebPin:
    return DebPin(
        suite=request.suite,
        name=request.name,
        version=fields["Version"],
        path=fields["Filename"],
        size=int(fields["Size"]),
        sha256=fields["SHA256"],
    )


def _packages(
    archive: Archive, suite: str, requests: Set[DebRequest], now: datetime | None
) -> Tables:
    """Return what a suite has for the requests, from the first mirror that has it, signed."""
    failures: list[StacksError] = []
    for root in archive.all_roots(failures):
        try:
            return _packages_at(archive, root, suite, requests, now)
        except StoppedError:
            raise
        except (FetchError, IntegrityError) as error:
            failures.append(error)
    of_mirrors = failures[: len(archive.roots)]
    for failure in of_mirrors:
        if not isinstance(failure, MissingError):
            raise failure
    of_ended = [f for f in failures[len(of_mirrors) :] if not isinstance(f, MissingError)]
    if of_ended and isinstance(of_ended[0], IntegrityError):
        raise of_ended[0]
    raise UsageError(
        f"no mirror has the suite {suite}",
        found=f"the archive of ended releases fails, too: {of_ended[0].what}" if of_ended else None,
        fix="check the spelling of the suite",
    ) from failures[0]


def _packages_at(
    archive: Archive, root: str, suite: str, requests: Set[DebRequest], now: datetime | None
) -> Tables:
    web, folder = archive.web, f"{root}/dists/{suite}"
    signed, _, _ = get_document(web, f"{folder}/InRelease", "*/*")
    release = verified_text(signed, f"{folder}/InRelease", archive.keys)
    if now:
        _check_date(release, now, suite, folder)
    _warn_if_moving(release, suite)
    sources = {request for request in requests if request.is_source}
    tables: Tables = {}
    if debs := requests - sources:
        tables |= _debs(_index(web, folder, PACKAGES, release, suite), debs)
    if sources:
        tables |= _sources(_index(web, folder, SOURCES, release, suite), sources)
    return tables


def _warn_if_moving(release: str, suite: str) -> None:
    kind = re.search(r"^Suite: *(\S+)$", release, re.MULTILINE)
    if kind and kind[1].partition("-")[0] in MOVING:
        known = suite if suite == kind[1] else f"{suite} is {kind[1]}"
        print(
            f"warning: {known}: its packages change every day and mirrors drop the pinned ones; "
            "pin from a released suite",
            file=sys.stderr,
            flush=True,
        )


def _check_date(release: str, now: datetime, suite: str, folder: str) -> None:
    """Raise IntegrityError if a Release file is past its Valid-Until (as apt, deb-release)."""
    line = re.search(r"^Valid-Until: *(.*)$", release, re.MULTILINE)
    if not line:
        return
    try:
        current = now <= parsedate_to_datetime(line[1])
    except (ValueError, TypeError, OverflowError):
        current = False
    if not current:
        raise IntegrityError(
            f"{public_url(folder)}/InRelease: {suite} has expired: the mirror is no longer updated",
            expected=f"{now:%Y-%m-%d %H:%M:%S} UTC or later",
            found=f"Valid-Until: {line[1]}",
            fix=f"{ANOTHER_MIRROR}; if this archive has ended for good: "
            f"./invoke pin --expired {suite}",
        )


def _index(web: Web, folder: str, name: str, release: str, suite: str) -> str:
    """Return the text of an index of a suite, checked against the signed InRelease."""
    expected, size = _index_digest(release, name, suite, folder)
    packed, _, _ = get_document(web, f"{folder}/{name}", "*/*", size)
    digest = hashlib.sha256(packed).hexdigest()
    if digest != expected:
        raise IntegrityError(
            f"{public_url(folder)}/{name} differs from the signed InRelease",
            expected=f"sha256 {expected}",
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


def _sources(text: str, requests: Set[DebRequest]) -> Tables:
    """Return the fields of all files of source packages, like those of a deb."""
    tables: Tables = {}
    for request, paragraph in _paragraphs(text, requests):
        # A suite keeps older sources too, of which some of its debs have taken code.
        if "\nExtra-Source-Only: yes" in paragraph:
            continue
        fields = dict(re.findall(r"^(Version|Directory): (.*)$", paragraph, re.MULTILINE))
        sums = re.match(
            r"(?:\n [0-9a-f]{64} \d+ \S+)+", paragraph.partition("\nChecksums-Sha256:")[2]
        )
        tables[request] = [
            {
                "Version": fields["Version"],
                "Filename": f"{fields['Directory']}/{file}",
                "Size": size,
                "SHA256": digest,
            }
            for digest, size, file in (
                line.split() for line in (sums or [""])[0].splitlines() if line
            )
        ]
    return tables


def _debs(text: str, requests: Set[DebRequest]) -> Tables:
    fields = re.compile(r"^(Version|Filename|Size|SHA256): (.*)$", re.MULTILINE)
    found = _paragraphs(text, requests)
    return {request: [dict(fields.findall(paragraph))] for request, paragraph in found}


def _paragraphs(text: str, requests: Set[DebRequest]) -> Iterator[tuple[DebRequest, str]]:
    """Yield the paragraphs of an index that the requests name."""
    by_name = {request.name: request for request in requests}
    for paragraph in text.split("\n\n"):
        name = paragraph.partition("\n")[0].removeprefix("Package: ")
        if name in by_name:
            yield by_name[name], paragraph


def _index_digest(release: str, name: str, suite: str, folder: str) -> tuple[str, int]:
    """Return the SHA-256 and the size that a Release file has of an index."""
    names = re.findall(r"^(?:Suite|Codename): *(\S+)$", release, re.MULTILINE)
    if suite not in names:
        raise IntegrityError(
            f"{public_url(folder)}/InRelease is signed, but for another suite",
            expected=suite,
            found=", ".join(names),
            fix=ANOTHER_MIRROR,
        )
    sums = release.partition("\nSHA256:")[2]
    line = re.search(rf"^ ([0-9a-f]{{64}}) +(\d{{1,10}}) {re.escape(name)}$", sums, re.MULTILINE)
    if not line:
        raise UsageError(
            f"{public_url(folder)}/InRelease lists no {name}",
            fix="this suite cannot be used: it needs the component main for amd64",
        )
    return line[1], int(line[2])
