"""Debian's signed archive: the version and bytes of a package that a suite has today."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import threading
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from stacks.core.disk import scratch
from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.process import CommandError, call
from stacks.sources.download import get_document
from stacks.sources.mirrors import debian_mirrors, public_url
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import SOURCE_PREFIX, DebPin
from stacks.sources.web import MissingError, Web, environment_web

PACKAGES = "main/binary-amd64/Packages.xz"
SOURCES = "main/source/Sources.xz"
KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)


@dataclass(frozen=True, order=True)
class DebRequest:
    """A deb to pin in the version that the suite has today; "src:" for a source archive."""

    suite: str
    name: str


def deb_pins(requests: Sequence[DebRequest], stop: threading.Event) -> tuple[DebPin, ...]:
    """Return pins for what the mirrors have of each suite today, in the order of the requests.

    Raises IntegrityError for a bad signature or bytes that differ from the signed ones, FetchError
    for what is not available, UsageError for what does not exist.
    """
    web = environment_web(stop)
    names: dict[str, set[str]] = {}
    for deb in requests:
        names.setdefault(deb.suite, set()).add(deb.name)
    packages = parallel_map(lambda suite: _packages(web, suite, names[suite]), list(names), stop)
    tables = dict(zip(names, packages, strict=True))
    pins = []
    for deb in requests:
        fields = tables[deb.suite].get(deb.name)
        if fields is None:
            raise UsageError(
                f"{deb.suite} has no package {deb.name} in main for amd64",
                fix="check the spelling of the package and the suite",
            )
        pins.append(
            DebPin(
                suite=deb.suite,
                name=deb.name,
                version=fields["Version"],
                path=fields["Filename"],
                size=int(fields["Size"]),
                sha256=fields["SHA256"],
            )
        )
    return tuple(pins)


def _packages(web: Web, suite: str, names: Set[str]) -> dict[str, dict[str, str]]:
    """Return the fields of packages of a suite, after a check of the archive's signature."""
    missing: MissingError | None = None
    for root in debian_mirrors():
        folder = f"{root}/dists/{suite}"
        try:
            signed, _, _ = get_document(web, f"{folder}/InRelease", "*/*")
        except MissingError as error:
            missing = error
            continue
        release = verified_text(signed, f"{folder}/InRelease")
        archives = {name for name in names if name.startswith(SOURCE_PREFIX)}
        tables: dict[str, dict[str, str]] = {}
        if names - archives:
            tables |= _paragraphs(_index(web, folder, PACKAGES, release, suite), names)
        if archives:
            tables |= _archives(_index(web, folder, SOURCES, release, suite), archives)
        return tables
    raise UsageError(
        f"no mirror has the suite {suite}", fix="check the spelling of the suite"
    ) from missing


def _index(web: Web, folder: str, name: str, release: str, suite: str) -> str:
    """Return the text of an index of a suite, checked against the signed InRelease."""
    expected = _index_sha256(release, name, suite, folder)
    packed, _, _ = get_document(web, f"{folder}/{name}", "*/*")
    digest = hashlib.sha256(packed).hexdigest()
    if digest != expected:
        raise IntegrityError(
            f"{public_url(folder)}/{name} differs from the signed InRelease",
            expected=f"sha256 {expected}",
            found=f"sha256 {digest}",
            fix="the mirror may be in the middle of an update: try again in an hour, or set "
            "DEBIAN_MIRROR to another",
        )
    return lzma.decompress(packed).decode()


def _archives(text: str, names: Set[str]) -> dict[str, dict[str, str]]:
    """Return the fields of the upstream archives of source packages, like those of a deb."""
    fields_of = {}
    for paragraph in text.split("\n\n"):
        name = SOURCE_PREFIX + paragraph.partition("\n")[0].removeprefix("Package: ")
        if name not in names:
            continue
        sums = paragraph.partition("\nChecksums-Sha256:")[2]
        fields = dict(re.findall(r"^(Version|Directory): (.*)$", paragraph, re.MULTILINE))
        archive = re.search(
            r"^ ([0-9a-f]{64}) (\d+) (\S+\.orig\.tar\.(?:gz|xz|bz2))$", sums, re.MULTILINE
        )
        if archive:
            digest, size, file = archive.groups()
            fields_of[name] = {
                "Version": fields["Version"],
                "Filename": f"{fields['Directory']}/{file}",
                "Size": size,
                "SHA256": digest,
            }
    return fields_of


def _paragraphs(text: str, names: Set[str]) -> dict[str, dict[str, str]]:
    fields = re.compile(r"^(Version|Filename|Size|SHA256): (.*)$", re.MULTILINE)
    fields_of = {}
    for paragraph in text.split("\n\n"):
        name = paragraph.partition("\n")[0].removeprefix("Package: ")
        if name in names:
            fields_of[name] = dict(fields.findall(paragraph))
    return fields_of


def _keyring() -> Path:
    name = os.environ.get("DEBIAN_KEYRING")
    for keyring in [Path(name).absolute()] if name else KEYRINGS:
        if keyring.is_file():
            return keyring
    raise FetchError(
        "the keys of Debian's archive are missing",
        expected=name or " or ".join(str(keyring) for keyring in KEYRINGS),
        found="no such file",
        fix="install the Debian package debian-archive-keyring, or set DEBIAN_KEYRING to its file",
    )


def verified_text(signed: bytes, url: str) -> str:
    """Return the text of a clear-signed file after a check of its signature."""
    keyring = _keyring()
    with scratch() as folder:
        (folder / "InRelease").write_bytes(signed)
        arguments = ["--status-fd", "1", "--keyring", str(keyring), "--output", f"{folder}/text"]
        try:
            # 2 also means that one of several signatures is by a key that is not in the keyring.
            status = call(["gpgv", *arguments, f"{folder}/InRelease"], accepted=(0, 1, 2))
        except CommandError as error:
            raise FetchError(
                "the archive's signature cannot be checked: gpgv is missing",
                fix="install the Debian package gpgv",
            ) from error
        keywords = re.findall(r"^\[GNUPG:\] ([A-Z]+)", status, re.MULTILINE)
        if "GOODSIG" not in keywords or "BADSIG" in keywords:
            raise IntegrityError(
                f"{public_url(url)}: no good signature of Debian's archive",
                expected=f"a good signature by a key in {keyring}",
                found=", ".join(
                    word for word in keywords if word.endswith(("SIG", "PUBKEY", "DATA"))
                )
                or "no signature",
                fix="set DEBIAN_MIRROR to another mirror; with NO_PUBKEY or EXPKEYSIG a newer "
                "debian-archive-keyring is needed",
            )
        return (Path(folder) / "text").read_text(encoding="utf-8")


def _index_sha256(release: str, name: str, suite: str, folder: str) -> str:
    names = re.findall(r"^(?:Suite|Codename): *(\S+)$", release, re.MULTILINE)
    if suite not in names:
        raise IntegrityError(
            f"{public_url(folder)}/InRelease is signed, but for another suite",
            expected=suite,
            found=", ".join(names),
            fix="set DEBIAN_MIRROR to another mirror",
        )
    sums = release.partition("\nSHA256:")[2]
    line = re.search(rf"^ ([0-9a-f]{{64}}) +\d+ {re.escape(name)}$", sums, re.MULTILINE)
    if not line:
        raise UsageError(
            f"{public_url(folder)}/InRelease lists no {name}",
            fix="this suite cannot be used: it needs the component main for amd64",
        )
    return line[1]
